"""test_compare.py: compare-backends, compare-platforms, summarize and sampling-robustness from outside.

SPDX-License-Identifier: Apache-2.0
"""

import csv
import io
import os
import stat
import subprocess

import suite
import made_scan as made
import svmx_scan as scan

READERS = ("compare-backends", "compare-platforms", "summarize", "sampling-robustness", "report-html")


class AllOfThem(suite.Suite):
    def test_help(self):
        for name in READERS + ("run-batch-compositions", "bench-document"):
            with self.subTest(name):
                out, _ = self.run_script(name, "--help")
                self.assertIn(f"usage: {name}", out)
                self.assertNotIn("SPDX", out)

    def test_bad_csv_is_named(self):
        nan = self.put("nan.csv", made.text([made.row(1, 2, 1, cpu_p90_us="nan")]))
        for name in READERS:
            with self.subTest(name):
                self.refuses(name, self.put("empty.csv", ""), said=[f"{name}: ", "empty.csv: empty"])
                self.refuses(name, self.put("x.csv", "a,b\n1,2\n"), said=["x.csv", "columns", "missing: host"])
                self.refuses(name, nan, said=["nan.csv:2", "cpu_p90_us is 'nan'"])
                self.refuses(name, self.path("none.csv"), said=["none.csv: No such file"])

    def test_mixed_hosts_are_refused(self):
        mixed = made.curve(made.SIZES) + made.curve(made.SIZES, host="beta")
        path = self.put("mixed.csv", made.text(mixed))
        for name in ("compare-backends", "summarize", "report-html"):
            with self.subTest(name):
                self.refuses(name, path, said=["2 machines", "alpha", "beta", "compare-platforms"])
        one = self.put("one.csv", made.text([made.row(1, 2, 1, samples=1, host="beta")], short=True))
        self.refuses("sampling-robustness", path, one, said=["2 machines"])

    def test_standard_input(self):
        out, _ = self.run_script("summarize", "-", stdin=made.text(made.curve(made.SIZES)))
        self.assertIn("| vec_add_f32 | from 16,384 |", out)

    def test_output_that_cannot_be_written(self):
        self.refuses(
            "summarize",
            "-",
            "--output",
            self.path("no/such/folder"),
            stdin=made.text([made.row(1, 2, 1)]),
            said=["no/such/folder: No such file"],
        )


class CompareBackends(suite.Suite):
    def scans(self):
        """cpu = 2 + 0.01 n; opencl = 50 + 0.002 n; levelzero = 20 + 0.004 n: opencl is ahead for large n."""
        return (
            self.put("cl.csv", made.text(made.curve(made.SIZES))),
            self.put("ze.csv", made.text(made.curve(made.SIZES, 20, 0.004, backend="levelzero", device="Arc"))),
        )

    def test_winners_and_pairs(self):
        out, _ = self.run_script("compare-backends", *self.scans())
        self.assertIn("| 1,024 | 12.2 µs | 52.0 µs | 24.1 µs | cpu |", out)
        self.assertIn("| 4,096 | 43.0 µs | 58.2 µs | 36.4 µs ~ | levelzero ~ |", out)  # 36.4 < 0.9 * 43.0 = 38.7
        self.assertIn("| 65,536 | 657 µs | 181 µs | 282 µs | opencl |", out)
        self.assertIn("| vec_add_f32 | cpu, opencl | opencl from 16,384 |", out)  # 82.8 < 149
        self.assertIn("| vec_add_f32 | cpu, levelzero | levelzero from 4,096 |", out)
        self.assertIn(
            "| vec_add_f32 | opencl, levelzero | opencl from 65,536 |", out
        )  # 16,384: 82.8 and 85.5, too close

    def test_the_other_ways_a_pair_may_end(self):
        slow = self.put("slow.csv", made.text(made.curve(made.SIZES, 50, 0.02)))
        self.assertIn(
            "| cpu, opencl | cpu at every size, up to 4,194,304 |", self.run_script("compare-backends", slow)[0]
        )
        close = self.put("close.csv", made.text([made.row(1, 100, 98), made.row(2, 100, 101)]))
        self.assertIn("| cpu, opencl | neither is ahead up to 2 |", self.run_script("compare-backends", close)[0])

    def test_as_csv(self):
        out, _ = self.run_script("compare-backends", *self.scans(), "--csv", "-")
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual(len(rows), 3 * len(made.SIZES))
        self.assertEqual(
            [row["backend"] for row in rows if row["winner"] == "yes"], ["cpu", "levelzero"] + 5 * ["opencl"]
        )
        first = next(row for row in rows if row["backend"] == "levelzero" and row["size"] == "4096")
        self.assertAlmostEqual(float(first["speedup"]), 42.96 / 36.384, places=3)

    def pairs(self, *scans):
        out, _ = self.run_script("compare-backends", *scans, "--pairs-csv", "-")
        return [
            tuple(row[name] for name in ("op", "one", "other", "ahead", "crossover", "largest"))
            for row in csv.DictReader(io.StringIO(out))
        ]

    def test_pairs_as_csv(self):
        largest = str(made.SIZES[-1])
        self.assertEqual(
            self.pairs(*self.scans()),
            [
                ("vec_add_f32", "cpu", "opencl", "opencl", "16384", largest),
                ("vec_add_f32", "cpu", "levelzero", "levelzero", "4096", largest),
                ("vec_add_f32", "opencl", "levelzero", "opencl", "65536", largest),
            ],
        )
        slow = self.put("slow.csv", made.text(made.curve(made.SIZES, 50, 0.02)))
        self.assertEqual(self.pairs(slow), [("vec_add_f32", "cpu", "opencl", "cpu", str(made.SIZES[0]), largest)])
        close = self.put("close.csv", made.text([made.row(1, 100, 98), made.row(2, 100, 101)]))
        self.assertEqual(self.pairs(close), [("vec_add_f32", "cpu", "opencl", "", "", "2")])
        apart = self.put("apart.csv", made.text([made.row(3, 100, 10, backend="levelzero", device="Arc")]))
        self.assertIn(("vec_add_f32", "opencl", "levelzero", "", "", ""), self.pairs(close, apart))

    def test_pairs_in_a_file_of_their_own(self):
        out, _ = self.run_script("compare-backends", *self.scans(), "--pairs-csv", self.path("p.csv"))
        self.assertTrue(self.get("p.csv").startswith("host,cpu,op,one,other,ahead,crossover,largest\n"))
        self.assertTrue(out.startswith("# Backends on alpha"))
        self.refuses("compare-backends", *self.scans(), "--csv", "-", "--pairs-csv", "-", said=["would mix"])

    def test_both_files(self):
        self.run_script("compare-backends", *self.scans(), "--csv", self.path("a.csv"), "--markdown", self.path("a.md"))
        self.assertTrue(self.get("a.csv").startswith("host,cpu,op,size,backend,"))
        self.assertTrue(self.get("a.md").startswith("# Backends on alpha"))

    def test_what_the_scan_could_not_decide_is_marked(self):
        sizes = ((1, "yes", "no"), (2, "no", "yes"), (4, "yes", "yes"))  # size, opencl decided, levelzero decided
        cl = [made.row(size, 100, 50, decided=one) for size, one, _ in sizes]
        ze = [made.row(size, 100, 95, backend="levelzero", device="Arc", decided=two) for size, _, two in sizes]
        paths = (self.put("cl.csv", made.text(cl)), self.put("ze.csv", made.text(ze)))
        out, _ = self.run_script("compare-backends", *paths)
        self.assertIn("| 1 | 100 µs | 50.0 µs | 95.0 µs ~ | opencl |", out)  # whoever is second is not the winner
        self.assertIn("| 2 | 100 µs | 50.0 µs ~ | 95.0 µs | opencl ~ |", out)
        self.assertIn("| 4 | 100 µs | 50.0 µs | 95.0 µs | opencl |", out)
        self.assertIn("2 of 6 rows (~) may have been decided by noise: scan with more --max-samples.", out)
        self.assertIn("| 1 | 100 µs | 95.0 µs ~ | cpu ~ |", self.run_script("compare-backends", paths[1])[0])
        rows = csv.DictReader(io.StringIO(self.run_script("compare-backends", *paths, "--csv", "-")[0]))
        self.assertEqual([row["decided"] for row in rows], ["", "yes", "no", "", "no", "yes", "", "yes", "yes"])

    def test_without_doubts_there_is_no_mark(self):
        out, _ = self.run_script("compare-backends", self.put("s.csv", made.text([made.row(1, 100, 50)])))
        self.assertNotIn("~", out)
        one = self.put("one.csv", made.text([made.row(1, 100, 95, samples=1)], short=True))  # which does not say
        rows = csv.DictReader(io.StringIO(self.run_script("compare-backends", one, "--csv", "-")[0]))
        self.assertEqual([row["decided"] for row in rows], ["", ""])

    def test_wrong_results_do_not_compete(self):
        path = self.put("w.csv", made.text([made.row(1, 10, 1), made.row(2, 10, 1, verified="no")]))
        out, _ = self.run_script("compare-backends", path)
        self.assertIn("| 2 | 10.0 µs | - | cpu |", out)
        self.assertIn("| cpu, opencl | cpu from 2 |", out)

    def test_no_device(self):
        self.refuses(
            "compare-backends", self.put("s.csv", made.text([made.row(1, 10, None)])), said=["no row has a device"]
        )


class ComparePlatforms(suite.Suite):
    def scans(self):
        return (
            self.put("a.csv", made.text(made.curve(made.SIZES))),
            self.put("b.csv", made.text(made.curve(made.SIZES, 5, 0.001, host="beta", cpu="Other"))),
        )

    def test_side_by_side(self):
        out, _ = self.run_script("compare-platforms", *self.scans())
        self.assertIn("| operation | alpha: opencl | beta: opencl |", out)
        self.assertIn("| vec_add_f32 | from 16,384 | from 1,024, the smallest tested |", out)
        self.assertIn("| 1,024 | 12.2 µs | 52.0 µs | 12.2 µs | 6.02 µs |", out)

    def test_merged_is_a_scan_again(self):
        short = self.put("c.csv", made.text(made.curve(made.SIZES, host="gamma", samples=1), short=True))
        self.run_script("compare-platforms", *self.scans(), short, "--csv", self.path("all.csv"))
        rows = scan.read([self.path("all.csv")])
        self.assertEqual(len(rows), 3 * len(made.SIZES))
        self.assertEqual([machine.host for machine in scan.machines(rows)], ["alpha", "beta", "gamma"])
        self.assertEqual(rows[-1].gpu.p90, rows[-1].gpu.median)

    def test_a_page(self):
        if not os.path.exists(suite.CHART_JS):
            self.skipTest("libjs-chart.js is not installed")
        out, _ = self.run_script("compare-platforms", *self.scans(), "--html", self.path("p.html"))
        self.assertEqual(out, "")
        self.assertIn("by machine</title>", self.get("p.html"))

    def test_one_machine_is_too_few(self):
        self.refuses("compare-platforms", self.scans()[0], said=["one machine, alpha", "compare-backends"])


class Summarize(suite.Suite):
    def test_thresholds_rows_and_doubts(self):
        rows = [
            made.row(1024, 10, 20),
            made.row(2048, 20, 19),
            made.row(4096, 40, 20),
            made.row(8192, 80, 20, verified="no"),
        ]
        out, _ = self.run_script("summarize", self.put("s.csv", made.text(rows)))
        self.assertIn("| vec_add_f32 | never up to 8,192 |", out)
        self.assertIn("| 1,024 | 5 | 10.0 µs | 11.0 µs | 20.0 µs | 22.0 µs | 0.50x | 800 µs | 40.0x | cpu |", out)
        self.assertIn("| 1.05x | 760 µs | 40.0x | cpu ~ |", out)
        self.assertIn("| opencl |\n", out)
        self.assertIn("| cpu WRONG |", out)
        self.assertIn("1 of 4 rows (~) may have been decided by noise: scan with more --max-samples.", out)
        self.assertIn("**1 of 4 rows have wrong results", out)

    def test_a_kind_is_named(self):
        out, _ = self.run_script(
            "summarize", self.put("s.csv", made.text([made.row(1, 2, 1, device="pthread [CPU DEVICE]")]))
        )
        self.assertIn("| opencl | pthread | Model 1.0 | CPU device |", out)

    def test_one_sample_is_said_to_be_one(self):
        out, _ = self.run_script("summarize", self.put("s.csv", made.text([made.row(1, 2, 1, samples=1)], short=True)))
        self.assertIn("One sample a row: no spread is known", out)

    def test_no_device(self):
        out, _ = self.run_script("summarize", self.put("s.csv", made.text([made.row(1024, 10, None)])))
        self.assertIn("there are no thresholds", out)
        self.assertIn("## vec_add_f32, simd", out)

    def test_measured_again(self):
        out, err = self.run_script("summarize", self.put("s.csv", made.text([made.row(1, 2, 1), made.row(1, 4, 1)])))
        self.assertIn("1 row measured again later", err)
        self.assertIn("| 4.00x |", out)


class SamplingRobustness(suite.Suite):
    MANY = [made.row(1024, 10, 20, samples=25), made.row(4096, 40, 20, samples=25)]

    def test_trials_beside_many(self):
        # many: 10, 20 and 40, 20. Trials: as they are; the CPU of 4096 off by 2 (a win lost, outside of 38..56).
        trials = [
            made.row(1024, 10, 20, samples=1),
            made.row(4096, 40, 20, samples=1),
            made.row(1024, 10, 22, samples=1),
            made.row(4096, 20, 20, samples=1),
        ]
        one, many = self.put("one.csv", made.text(trials, short=True)), self.put("many.csv", made.text(self.MANY))
        out, _ = self.run_script("sampling-robustness", one, many)
        self.assertIn("2 trials", out)
        self.assertIn(
            "| vec_add_f32 | opencl | 25 | 3 of 4 | 1.00x | 2.00x | 1 of 8 | 4,096 | 4,096 (1 of 2), never (1 of 2) |",
            out,
        )

    def test_both_kinds_are_needed(self):
        many = self.put("many.csv", made.text(self.MANY))
        self.refuses("sampling-robustness", many, said=["both kinds", "0 rows of a single sample and 2 of several"])

    def test_nothing_in_common(self):
        many = self.put("many.csv", made.text(self.MANY))
        other = self.put("one.csv", made.text([made.row(8, 1, 1, samples=1)], short=True))
        self.refuses("sampling-robustness", many, other, said=["no size is in both"])
        other = self.put("one.csv", made.text([made.row(1024, 1, 1, samples=1, op="exp_f32")], short=True))
        self.refuses("sampling-robustness", many, other, said=["no operation on the same device"])

    def command(self, status):
        """A stand-in for svmx: appends a made scan of as many samples as asked for, and notes how it was called."""
        self.put("1.csv", made.text([{**row, "samples": 1} for row in self.MANY], short=True))
        self.put("25.csv", made.text(self.MANY))
        path = self.put(
            "svmx",
            f"""#!/bin/sh
echo "$*" >>"{self.folder}/calls"
while [ "$1" != --output ]; do shift; done
output=$2 samples=$4
if [ -s "$output" ]; then tail -n +2 "{self.folder}/$samples.csv"; else cat "{self.folder}/$samples.csv"; fi >>"$output"
exit {status}
""",
        )
        os.chmod(path, stat.S_IRWXU)
        return path

    def test_scanning_by_itself(self):
        out, _ = self.run_script(
            "sampling-robustness", "--run", "3", "--svmx", self.command(0), "--", "--op", "vec_add_f32"
        )
        self.assertIn("3 trials", out)
        self.assertIn("| 6 of 6 |", out)
        calls = self.get("calls").splitlines()
        self.assertEqual(["--samples 25" in call for call in calls], [False, True, False, False])
        self.assertTrue(all(call.endswith("--op vec_add_f32") for call in calls))

    def test_a_scan_that_fails(self):
        self.refuses("sampling-robustness", "--run", "1", "--samples", "1", said=["at least 2 are many"])
        self.refuses("sampling-robustness", "--run", "1", "--svmx", self.command(3), said=["ended with status 3"])
        self.refuses("sampling-robustness", "--run", "1", "--svmx", self.path("none"), said=["say with --svmx"])


class RealScan(suite.Suite):
    """What svmx threshold-scan writes today is what the scripts read."""

    def scan(self, *arguments):
        command = os.environ.get("SVMX_TEST_COMMAND")
        if not command or os.environ.get("SVMX_TEST_RUNNER"):
            self.skipTest("no svmx command of this machine was named")
        done = subprocess.run(
            [
                command,
                "threshold-scan",
                "--quiet",
                "--op",
                "vec_add_f32",
                "--sizes",
                "1K,2K",
                "--output",
                self.path("s.csv"),
                *arguments,
            ],
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("s.csv"), encoding="utf-8") as file:
            return file.readline().strip().split(","), scan.read([self.path("s.csv")])

    def test_columns(self):
        columns, rows = self.scan("--samples", "3", "--max-samples", "3")
        self.assertEqual(columns, list(scan.FULL))
        self.assertEqual(
            [(row.size, row.samples, row.wrong) for row in rows if row.backend == rows[0].backend],
            [(1024, 3, False), (2048, 3, False)],
        )
        columns, rows = self.scan("--samples", "1")
        self.assertEqual(columns, list(scan.SHORT))
        self.assertEqual(rows[0].samples, 1)

    def test_a_modelled_device_is_called_one(self):
        if not os.path.exists(os.path.join(os.environ.get("SUPERVM_BACKEND_PATH", ""), "sim.so")):
            self.skipTest("no sim plugin was built")
        self.scan("--samples", "2", "--max-samples", "2", "--backend", "+sim:integrated")
        out, _ = self.run_script("summarize", self.path("s.csv"))
        self.assertRegex(out, r"\| sim \| integrated.* \| modelled device \|")
        self.assertRegex(out, r"\| vec_add_f32 \| (from|never)")


suite.main()
