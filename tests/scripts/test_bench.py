"""test_bench.py: what surrounds the benchmarks: tests/bench/run.sh, bench-document, run-batch-compositions. With
programs that measure nothing and say what they are told to.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import stat
import subprocess

import suite

ROW = {
    "suite": "ops",
    "case": "c",
    "ours": 3.0,
    "peer": 2.0,
    "peer_name": "p",
    "unit": "M/s",
    "ratio": 1.5,
    "ask": "ratio >= 1.2",
    "ok": True,
}


class Front(suite.Suite):
    def program(self, name, *rows, code="", status=0):
        lines = "\n".join(json.dumps({**ROW, **row}, separators=(",", ":")) for row in rows)
        path = self.put(
            name,
            f"#!/bin/sh\necho \"{name} $SVMX_BENCH_ROUNDS\" >>'{self.folder}/calls'\n{code}\n"
            f"[ -z '{lines}' ] || printf '%s\\n' '{lines}' >>\"$SVMX_BENCH_ROWS\"\nexit {status}\n",
        )
        os.chmod(path, stat.S_IRWXU)
        return path

    def bench(self, *programs, status=0, **env):
        """Runs them as make bench does: what was said, the rows, the programs that ran."""
        settings = {
            **os.environ,
            "SVMX_BENCH_LIST": " ".join(programs),
            "SVMX_BENCH_RESULTS": self.path("bench-results.json"),
            **env,
        }
        settings.pop("SVMX_BENCH_ROUNDS", None)
        self.put("calls", "")
        done = subprocess.run(
            ["sh", os.path.join(suite.SRC, "tests/bench/run.sh")],
            capture_output=True,
            encoding="utf-8",
            env=settings,
            check=False,
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return (
            done.stdout + done.stderr,
            json.loads(self.get("bench-results.json")) if status < 2 else None,
            self.get("calls").split("\n")[:-1],
        )

    def test_rows_of_all_programs_and_the_machine(self):
        said, rows, calls = self.bench(
            self.program("a", {"suite": "a"}), self.program("b_x", {"suite": "b", "ok": False}, {"ok": None})
        )
        self.assertEqual([row["suite"] for row in rows], ["run", "a", "b", "ops"])
        self.assertIn(" CPUs; ", rows[0]["note"])
        self.assertEqual(calls, ["a ", "b_x "])
        self.assertIn("1 met, 1 missed, 1 skipped or without an ask", said)

    def test_one_suite(self):
        _, _, calls = self.bench(self.program("a"), self.program("b"), self.program("b_x"), SUITE="b")
        self.assertEqual(calls, ["b ", "b_x "])
        said, _, _ = self.bench(self.program("a"), SUITE="z", status=2)
        self.assertIn("no suite 'z'; there are: a", said)

    def test_quick(self):
        _, rows, calls = self.bench(self.program("a", {}), QUICK="1")
        self.assertEqual(calls, ["a 7"])
        self.assertIn("quick", rows[0]["note"])

    def test_a_program_that_fails_is_a_row(self):
        said, rows, calls = self.bench(self.program("a", status=3), self.program("b", {}), status=1)
        self.assertEqual((rows[1]["ok"], rows[1]["note"]), (False, "a ended with status 3"))
        self.assertEqual(len(calls), 2)
        self.assertIn("1 met, 1 missed", said)

    def test_the_page_beside_it(self):
        said, _, _ = self.bench(self.program("a", {}))
        if os.path.exists(suite.CHART_JS):
            self.assertIn(f"page: {self.path('bench-results.html')}", said)
            self.assertIn("<title>svmx benchmarks</title>", self.get("bench-results.html"))
        else:
            self.assertIn("no page: report-html: ", said)

    def test_no_rows_at_all(self):
        _, rows, _ = self.bench(self.program("a"))
        self.assertEqual(len(rows), 1)


class Document(suite.Suite):
    def test_every_ask_and_what_became_of_it(self):
        rows = [
            {**ROW, "suite": "run", "case": "machine", "ask": None, "ok": None, "note": "Model CPU"},
            {**ROW, "case": "good"},
            {**ROW, "case": "bad", "ratio": 0.6, "ok": False, "note": "a|b"},
            {**ROW, "case": "worse", "ours": 10000.4, "ask": "ours <= 1000", "ok": False},
            {**ROW, "case": "skipped", "ours": None, "ratio": None, "ok": None},
            {**ROW, "suite": "other", "case": "plain", "ask": None, "ok": None},
        ]
        out, _ = self.run_script("bench-document", self.put("b.json", json.dumps(rows)))
        self.assertIn("## Run on Model CPU", out)
        self.assertIn("| ops | 1 | 2 | 1 | 0 |", out)
        self.assertIn("| all | 1 | 2 | 1 | 1 |", out)
        self.assertIn("| good | 3 | 2 | p | M/s | 1.5 | ratio >= 1.2 | 1.25x | met |  |", out)
        self.assertIn("| bad | 3 | 2 | p | M/s | 0.6 | ratio >= 1.2 | 0.50x | **missed** | a\\|b |", out)
        self.assertIn("| plain | 3 | 2 | p | M/s | 1.5 | - | - | - |  |", out)
        missed = out.split("### What is missed")[1].split("###")[0]
        self.assertLess(missed.index("worse"), missed.index("bad"))
        self.assertNotIn("good", missed)

    def test_nothing_missed(self):
        out, _ = self.run_script("bench-document", self.put("b.json", json.dumps([ROW])))
        self.assertIn("### What is missed\n\nNothing.", out)
        self.assertIn("a machine that the file does not name", out)

    def test_bad_files(self):
        self.refuses("bench-document", self.put("b.json", "{"), said=["b.json: not JSON", "make bench"])
        self.refuses("bench-document", self.path("none.json"), said=["none.json: No such file"])


class Compositions(suite.Suite):
    """A build folder whose make does nothing, and whose program has its answers ready."""

    def folder_with(self, *devices, status=0, make="true", **fields):
        os.makedirs(self.path("tests/bench"), exist_ok=True)
        self.put(
            "Makefile",
            f"all tests/bench/opencl_compositions:\n\t@{make}\n.PHONY: all tests/bench/opencl_compositions\n",
        )
        code = "#!/bin/sh\n"
        for name, factor in devices:
            code += f"echo 'opencl     on {name}'\n"
            for composition in ("Uniform-32k x4", "Uniform-64k x4", "Small-1k x64"):
                for way, ours, peer, peer_name in (
                    ("in place", 10, 20, "enqueued"),
                    ("in place", 10, 50, "naive"),
                    ("caller's memory", 15, 30, "enqueued"),
                ):
                    row = {
                        **ROW,
                        "suite": "opencl",
                        "case": f"{composition}, {way}",
                        "ours": ours * factor,
                        "peer": peer * factor,
                        "peer_name": peer_name,
                        **fields,
                    }
                    code += f"cat >>\"$SVMX_BENCH_ROWS\" <<'EOF'\n{json.dumps(row)}\nEOF\n"
        if not devices:
            row = {**ROW, "case": "compositions", "ours": None, "peer": None}
            code += f"echo '{json.dumps(row)}' >>\"$SVMX_BENCH_ROWS\"\n"
        os.chmod(self.put("tests/bench/opencl_compositions", code + f"exit {status}\n"), stat.S_IRWXU)
        return self.folder

    def test_table_and_chart(self):
        out, _ = self.run_script("run-batch-compositions", "--build", self.folder_with(("One", 1)))
        self.assertIn("Device: One\n", out)
        self.assertIn("| Uniform-32k x4 | 50.0 µs | 30.0 µs | 15.0 µs | 20.0 µs | 10.0 µs | 5.00x |", out)
        self.assertIn(f"  naive                  {'#' * 40} 50.0 µs", out)
        self.assertIn(f"  svmx, in place         {'#' * 8}{' ' * 32} 10.0 µs", out)
        self.assertNotIn("Small-1k", out)

    def test_two_devices_and_all_compositions(self):
        folder = self.folder_with(("One", 1), ("Two", 10))
        out, _ = self.run_script("run-batch-compositions", "--build", folder, "--all", "--csv", self.path("c.csv"))
        self.assertIn("Device: Two\n", out)
        self.assertIn("Small-1k x64", out)
        lines = self.get("c.csv").splitlines()
        self.assertEqual(len(lines), 1 + 2 * 3 * 5)
        self.assertIn('Two,Uniform-64k x4,"svmx, in place",100', lines)

    def test_the_page_has_the_ways_of_the_table(self):
        self.put("chart.js", "")
        page = ("--html", self.path("c.html"), "--chart-js", self.path("chart.js"))
        self.run_script("run-batch-compositions", "--build", self.folder_with(("One", 1)), *page)
        self.assertIn('"devices":{"One":{"Uniform-32k x4":{"svmx, in place":10,"enqueued, in place":20,"naive":50', self.get("c.html"))

    def test_what_may_be_missing(self):
        command = "run-batch-compositions"
        self.refuses(command, "--build", self.path("none"), said=["none: nothing was configured there", "quickstart"])
        self.refuses(
            command,
            "--build",
            self.folder_with(make="echo no CL/cl.h >\\&2; false".replace("\\", "")),
            said=["cannot be built", "setup.sh bench"],
        )
        self.refuses(command, "--build", self.folder_with(), said=["no OpenCL device", "pocl-opencl-icd"])
        self.refuses(command, "--build", self.folder_with(("One", 1), status=3), said=["ended with status 3"])
        self.refuses(
            command,
            "--build",
            self.folder_with(("One", 1), ok=False, note="wrong results"),
            said=["Uniform-32k x4, in place: wrong results"],
        )


suite.main()
