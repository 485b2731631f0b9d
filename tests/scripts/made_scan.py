"""made_scan.py: scans that were never measured, for the suites of this folder: every figure follows from a formula.

SPDX-License-Identifier: Apache-2.0
"""

import csv
import io

HEAD = "host cpu backend device driver op size bucket samples cpu_us gpu_us".split()
SPREAD = [f"{side}_{what}_us" for side in ("cpu", "gpu") for what in ("median", "p90", "min", "max")]
TAIL = (
    "first_us setup_us upload_us compute_us readback_us device_ns speedup throughput dispatches readbacks "
    "verified winner"
).split()
CPU = "Model CPU, 2 threads (avx2) [CPU DEVICE]"


def row(size, cpu, gpu, /, samples=5, **others):
    """Medians in µs; gpu None = no device. The mean is 1.02 of the median, p90 1.1, least 0.95, most 1.4."""
    spread = {}
    for side, median in (("cpu", cpu), ("gpu", gpu)):
        for what, factor in (("median", 1), ("p90", 1.1), ("min", 0.95), ("max", 1.4)):
            spread[f"{side}_{what}_us"] = "" if median is None else f"{median * factor:.3f}"
    mean = 1.02 if samples > 1 else 1
    known = gpu is not None
    return {
        "host": "alpha",
        "cpu": CPU,
        "backend": "opencl" if known else "simd",
        "device": "Model GPU, 1 GiB",
        "driver": "Model 1.0",
        "op": "vec_add_f32",
        "size": size,
        "bucket": size,
        "samples": samples,
        "cpu_us": f"{cpu * mean:.3f}",
        "gpu_us": f"{gpu * mean:.3f}" if known else "",
        **spread,
        "first_us": f"{40 * gpu:.3f}" if known else "",
        "setup_us": "1.000" if known else "",
        "upload_us": "2.000" if known else "",
        "compute_us": f"{gpu / 2:.3f}" if known else "",
        "readback_us": "3.000" if known else "",
        "device_ns": f"{500 * gpu:.0f}" if known else "",
        "speedup": f"{cpu / gpu:.4f}" if known else "",
        "throughput": f"{size / gpu * 1e6:.0f}" if known else "",
        "dispatches": 1 if known else "",
        "readbacks": 1 if known else "",
        "verified": "yes",
        "winner": "gpu" if known and gpu < 0.9 * cpu else "cpu",
        "decided": "no" if known and samples > 1 and 0.78 < gpu / cpu < 1.04 else "yes",
        **others,
    }


def curve(sizes, start=50.0, rate=0.002, cpu_rate=0.01, **others):
    """A device that takes `start` µs and `rate` for each unit, beside a CPU that takes 2 and `cpu_rate`."""
    return [row(size, 2 + cpu_rate * size, start + rate * size, **others) for size in sizes]


def text(rows, short=False):
    out = io.StringIO()
    columns = HEAD + TAIL if short else HEAD + SPREAD + TAIL + ["decided"]
    writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


SIZES = [1 << exponent for exponent in range(10, 23, 2)]  # 1 K to 4 M, times 4
