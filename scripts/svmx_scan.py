"""svmx_scan.py: what the scripts that read scans share: the CSV of `svmx threshold-scan`, its figures, the 90 % rule.

Imported by compare-backends, compare-platforms, summarize, sampling-robustness and svmx_report.py; never run. Python's
standard library only. It knows nothing of where figures are shown.

    rows = scan.read(["opencl.csv", "levelzero.csv"])      every row checked; ScanError says what is wrong and where
    machine = scan.one_machine(scan.latest(rows))
    for series in machine.series:                          a backend on a device
        for op, rows in series.ops.items():                by size
            scan.crossover(rows)

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import contextlib
import csv
import io
import math
import os
import re
import stat
import sys

RULE = 0.9  # a side wins where its median is below this part of the other's
TEXTS = ("host", "cpu", "backend", "device", "driver", "op")
SPREAD = tuple(f"{side}_{what}_us" for side in ("cpu", "gpu") for what in ("median", "p90", "min", "max"))
_HEAD = TEXTS + ("size", "bucket", "samples", "cpu_us", "gpu_us")
_TAIL = tuple(
    "first_us setup_us upload_us compute_us readback_us device_ns speedup throughput dispatches readbacks verified "
    "winner".split()
)
FULL = _HEAD + SPREAD + _TAIL + ("decided",)  # of a scan with more than one sample
_OLD = FULL[:-1]  # of one before the scan wrote whether it could decide
SHORT = _HEAD + _TAIL  # of a scan with --samples 1
_WORDS = TEXTS + ("verified", "winner", "decided")
_NEEDED = ("size", "samples", "cpu_us")
_COUNTS = ("size", "bucket", "samples", "dispatches", "readbacks")
_MOST = 1 << 53  # above that a page cannot tell numbers apart
_FIGURE = re.compile(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
_MARKS = {"[MODELLED]": "modelled device", "[TEST DEVICE]": "test device", "[CPU DEVICE]": "CPU device"}  # of the scan
_PROTOTYPE = ["size", "device", "duration_ms", "first", "backend_mask_hint"]


class ScanError(Exception):
    """Input that cannot be used. Its text says where, what, and what to do."""


# ---- rows ------------------------------------------------------------------------------------------------------------


class Times:
    """What one side of a row took, in µs. Of a single sample all four are the same."""

    def __init__(self, mean, median, p90, low, high):
        self.mean, self.median, self.p90, self.low, self.high = mean, median, p90, low, high


class Row:
    """A line of a scan: a backend on a device, an operation, a size.

    texts   by column: what stands in the file
    values  by column: text, a number, or None for what is empty
    cpu     Times of the CPU side
    gpu     Times of the device, or None in a scan without one
    """

    def __init__(self, texts, values):
        self.texts, self.values = texts, values
        self.host, self.machine_cpu, self.backend, self.device, self.driver, self.op = (values[name] for name in TEXTS)
        self.size, self.samples = int(values["size"]), int(values["samples"])
        self.first_us = values["first_us"]
        self.cpu, self.gpu = _times(values, "cpu"), _times(values, "gpu")

    @property
    def speedup(self):
        """How many times faster than the CPU side the device is, by medians; None without a device."""
        return self.cpu.median / self.gpu.median if self.gpu else None

    @property
    def device_wins(self):
        """By the 90 % rule; a wrong result wins nothing."""
        return bool(self.gpu) and not self.wrong and self.gpu.median < RULE * self.cpu.median

    @property
    def unclear(self):
        """May noise have decided? The scan says so, which saw all samples; a file that does not say is not doubted."""
        return self.values.get("decided") == "no"

    @property
    def wrong(self):
        return self.values["verified"] == "no"

    def key(self):
        return (self.host, self.machine_cpu, self.backend, self.device, self.op, self.size)


def _times(values, side):
    mean = values[f"{side}_us"]
    if mean is None:
        return None
    spread = [values.get(f"{side}_{what}_us") for what in ("median", "p90", "min", "max")]
    return Times(mean, *(mean if figure is None else figure for figure in spread))


# ---- reading ---------------------------------------------------------------------------------------------------------


def read(paths):
    """All rows of all files, in their order; "-" is standard input. Raises ScanError."""
    return [row for path in paths for row in _read_file(path)]


def _read_file(path):
    name = "standard input" if path == "-" else path
    try:
        if path == "-":
            return _read_rows(name, io.StringIO(sys.stdin.buffer.read().decode("utf-8-sig"), newline=""))
        with open(path, newline="", encoding="utf-8-sig") as file:
            return _read_rows(name, file)
    except OSError as error:
        raise ScanError(f"{name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ScanError(f"{name}: not a text in UTF-8; is it a CSV of svmx threshold-scan?") from None


def _read_rows(name, file):
    reader = csv.reader(file, strict=True)
    try:
        columns = next(reader, None)
        if columns is None:
            raise ScanError(f"{name}: empty; write a scan with: svmx threshold-scan --output {name}")
        _check_columns(name, columns)
        rows = [_read_row(f"{name}:{reader.line_num}", columns, fields) for fields in reader if fields]
    except csv.Error as error:
        raise ScanError(f"{name}:{reader.line_num}: not CSV: {error}") from None
    if not rows:
        raise ScanError(f"{name}: a header and no rows: the scan ended before it had measured anything; scan again")
    return rows


def _check_columns(name, columns):
    if columns in (list(FULL), list(_OLD), list(SHORT)):
        return
    if columns == _PROTOTYPE:
        raise ScanError(f"{name}: this is --format prototype, which lacks most figures; scan without --format")
    wanted = FULL if set(columns) & set(SPREAD) else SHORT
    missing = [column for column in wanted if column not in columns]
    unknown = [column for column in columns if column not in FULL]
    what = "; ".join(
        [f"missing: {', '.join(missing)}"] * bool(missing)
        + [f"unknown: {', '.join(unknown)}"] * bool(unknown)
        + ["not in the order of a scan"] * (not missing and not unknown)
    )
    raise ScanError(f"{name}: not the columns of svmx threshold-scan ({what}); is it another file, or another version?")


def _read_row(where, columns, fields):
    if len(fields) != len(columns):
        raise ScanError(f"{where}: {len(fields)} fields under {len(columns)} columns; a line cut short? remove it")
    texts = dict(zip(columns, fields))
    values = {
        column: text if column in _WORDS else _number(where, column, text) for column, text in texts.items()
    }
    for column in TEXTS[2:3] + TEXTS[5:]:
        if not values[column]:
            raise ScanError(f"{where}: {column} is empty")
    for column in _NEEDED + (("gpu_us", "device_ns") if values["gpu_us"] is not None else ()):
        if not values[column]:
            raise ScanError(f"{where}: {column} is '{texts[column]}'; a figure above 0 is needed")
    for column in ("verified", "decided"):
        if values.get(column, "") not in ("yes", "no") + ("",) * (column == "decided"):  # of merged files not all say
            raise ScanError(f"{where}: {column} is '{values[column]}', neither yes nor no; was the file edited?")
    row = Row(texts, values)
    for side, times in (("cpu", row.cpu), ("gpu", row.gpu)):
        if times and not 0 < times.low <= times.median <= times.p90 <= times.high:
            raise ScanError(f"{where}: {side}_min, _median, _p90 and _max do not rise; was the file edited?")
    return row


def _number(where, column, text):
    if text == "":
        return None
    value = float(text) if _FIGURE.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise ScanError(f"{where}: {column} is '{text}', which is no figure; remove the line or scan again")
    if column not in _COUNTS:
        return value
    if not text.isdecimal() or value > _MOST:
        raise ScanError(f"{where}: {column} is '{text}'; a whole number up to 2^53 is needed")
    return int(text)


def columns_of(rows):
    """The columns that have all that is known of these rows."""
    if all("decided" not in row.texts for row in rows):
        return _OLD if any(row.samples > 1 for row in rows) else SHORT
    return FULL


def latest(rows):
    """Of rows that were measured more than once (--append) the last; the order stays."""
    last = {row.key(): row for row in rows}
    if len(last) < len(rows):
        again = counted(len(rows) - len(last), "row")
        print(f"{program()}: {again} measured again later; what is later counts", file=sys.stderr)
    return list(last.values())


# ---- machines --------------------------------------------------------------------------------------------------------


def unmarked(device):
    """A device as the scan names it: (its name, what it is). Nobody is to take a CPU or a model for a GPU."""
    kind = next((kind for mark, kind in _MARKS.items() if mark in device), "GPU")
    for mark in _MARKS:
        device = device.replace(f" {mark}", "")
    return device, kind


class Series:
    """A backend on a device of a machine. ops: operation -> rows by size."""

    def __init__(self, rows):
        self.backend, self.driver = rows[0].backend, rows[0].driver
        self.device, self.kind = unmarked(rows[0].device)
        self.ops = {}
        for row in sorted(rows, key=lambda row: row.size):
            self.ops.setdefault(row.op, []).append(row)
        self.label = self.backend  # Machine adds the device where a backend has several

    @property
    def has_device(self):
        return any(row.gpu for rows in self.ops.values() for row in rows)


class Machine:
    """The rows of one host. series: those with a device first, in the order of the files."""

    def __init__(self, rows):
        self.host, self.cpu, self.rows = rows[0].host, unmarked(rows[0].machine_cpu)[0], rows
        groups = {}
        for row in rows:
            groups.setdefault((row.backend, row.device), []).append(row)
        self.series = sorted((Series(group) for group in groups.values()), key=lambda series: not series.has_device)
        names = [series.backend for series in self.series]
        for series in self.series:
            if names.count(series.backend) > 1:
                series.label = f"{series.backend} ({series.device})"

    @property
    def ops(self):
        return list(dict.fromkeys(row.op for row in self.rows))

    def cpu_times(self, op):
        """size -> Times of the CPU side. It was measured beside each device: of several the one in the middle."""
        sides = {}
        for row in self.rows:
            if row.op == op:
                sides.setdefault(row.size, []).append(row.cpu)
        return {
            size: sorted(times, key=lambda one: one.median)[(len(times) - 1) // 2]
            for size, times in sorted(sides.items())
        }


def machines(rows):
    groups = {}
    for row in rows:
        groups.setdefault((row.host, row.machine_cpu), []).append(row)
    return [Machine(group) for group in groups.values()]


def one_machine(rows):
    found = machines(rows)
    if len(found) > 1:
        names = ", ".join(f"{machine.host} ({machine.cpu})" for machine in found)
        raise ScanError(
            f"rows of {len(found)} machines: {names}; times of different machines are not compared here: "
            "give the files of one, or use scripts/compare-platforms"
        )
    return found[0]


def machine_names(found):
    """A name for each machine: its host, and its processor where hosts have the same name."""
    hosts = [machine.host for machine in found]
    return [machine.host if hosts.count(machine.host) == 1 else f"{machine.host} ({machine.cpu})" for machine in found]


# ---- the 90 % rule ---------------------------------------------------------------------------------------------------


def overtakes(points):
    """points: (size, one, other). The smallest size from which `other` is below RULE of `one` at all sizes; or None."""
    found = None
    for size, one, other in sorted(points, reverse=True):
        if not other < RULE * one:
            break
        found = size
    return found


def crossover(rows):
    """The smallest size from which the device wins at all sizes that were tested, or None. A wrong result is no win."""
    return overtakes([(row.size, row.cpu.median, math.inf if row.wrong else row.gpu.median) for row in rows if row.gpu])


def crossover_text(rows):
    """ "from 65,536", "from 1,024 on, the smallest tested", "never up to 4,194,304", "not measured"."""
    sizes = [row.size for row in rows if row.gpu]
    if not sizes:
        return "not measured"
    size = crossover(rows)
    if size is None:
        return f"never up to {max(sizes):,}"
    return f"from {size:,}" + (", the smallest tested" if size == min(sizes) else "")


_UNITS = {  # by how names begin, where sizes do not count elements; see svmx ops
    "matmul_f32": "rows and columns",
    "sha256": "bytes, 32 a message",
    "keccak256": "bytes, 32 a message",
    "merkle_": "leaf nodes",
    "ecrecover": "signatures",
    "ecdsa_": "signatures",
    "ed25519_": "signatures",
    "grid_": "grids",
    "eigh_": "problems",
}


def unit_of(op):
    """What sizes of an operation count in a scan."""
    return next((unit for name, unit in _UNITS.items() if op.startswith(name)), "elements")


def counted(number, what):
    """ "1 row", "1,024 rows"."""
    return f"{number:,} {what}" + "s" * (number != 1)


# ---- for people ------------------------------------------------------------------------------------------------------


def time_text(us):
    """ "870 ns", "12.3 µs", "4.56 ms", "1.23 s": three digits."""
    if us is None:
        return "-"
    for unit, scale in (("ns", 1e-3), ("µs", 1), ("ms", 1e3)):
        if us < 999.5 * scale:
            return f"{_digits(us / scale)} {unit}"
    return f"{_digits(us / 1e6)} s"


def times_text(factor):
    return "-" if factor is None else f"{_digits(factor)}x"


def _digits(value):
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def markdown_table(head, rows, right=()):
    """A table of Markdown; columns whose numbers are in `right` are flush right."""
    lines = [head, ["---:" if i in right else "---" for i in range(len(head))]] + rows
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def write(path, text):
    """Writes a file, or standard output for "-". A file appears whole or not at all, and keeps its mode and the links
    to it; what is there and no file, such as a device or a pipe, is written into."""
    if path == "-":
        sys.stdout.write(text)
        return
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            _put(path, text)
        else:
            _replace(os.path.realpath(path), text)
    except OSError as error:
        raise ScanError(f"{path}: {error.strerror}") from None


def _put(path, text):
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def _replace(path, text):
    new = f"{path}.new"
    try:
        _put(new, text)
        if os.path.exists(path):
            os.chmod(new, stat.S_IMODE(os.stat(path).st_mode))
        os.replace(new, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(new)
        raise


def parser(doc):
    """Arguments of a script: what is said at its head is its --help."""
    summary, _, rest = doc.partition("\n\n")
    return argparse.ArgumentParser(
        description=summary, epilog=rest.rsplit("SPDX", 1)[0], formatter_class=argparse.RawDescriptionHelpFormatter
    )


def program():
    return os.path.basename(sys.argv[0])


def _drop_output():
    """What is still to be written to standard output goes nowhere: Python would try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run(main):
    """The end of every script: main() with errors as one line and status 1 (2: bad arguments, by argparse)."""
    sys.stdout.reconfigure(encoding="utf-8")
    try:
        main()
        sys.stdout.flush()
    except ScanError as error:
        sys.exit(f"{program()}: {error}")
    except BrokenPipeError:  # the reader has seen enough
        _drop_output()
    except OSError as error:
        _drop_output()
        sys.exit(f"{program()}: {error.filename or 'standard output'}: {error.strerror}")
    except KeyboardInterrupt:
        sys.exit(130)
