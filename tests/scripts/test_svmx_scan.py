"""test_svmx_scan.py: scripts/svmx_scan.py: what it reads, what it refuses, and figures beside those computed by hand.

SPDX-License-Identifier: Apache-2.0
"""

import os
import subprocess
import sys
import unittest

import suite
import made_scan as made
import svmx_scan as scan


class Reading(suite.Suite):
    def read(self, text):
        return scan.read([self.put("scan.csv", text)])

    def refused(self, text, *said):
        with self.assertRaises(scan.ScanError) as caught:
            self.read(text)
        for words in said:
            self.assertIn(words, str(caught.exception))

    def test_a_full_row(self):
        row = self.read(made.text([made.row(1024, 100, 50)]))[0]
        self.assertEqual(
            (row.host, row.backend, row.op, row.size, row.samples), ("alpha", "opencl", "vec_add_f32", 1024, 5)
        )
        self.assertEqual(
            (row.cpu.mean, row.cpu.median, row.cpu.p90, row.cpu.low, row.cpu.high), (102, 100, 110, 95, 140)
        )
        self.assertEqual((row.gpu.median, row.first_us, row.speedup), (50, 2000, 2))

    def test_a_short_row_has_one_figure_a_side(self):
        row = self.read(made.text([made.row(1024, 100, 50, samples=1)], short=True))[0]
        self.assertEqual((row.cpu.median, row.cpu.low, row.cpu.p90, row.gpu.median), (100, 100, 100, 50))

    def test_a_row_without_a_device(self):
        row = self.read(made.text([made.row(1024, 100, None)]))[0]
        self.assertIsNone(row.gpu)
        self.assertIsNone(row.speedup)
        self.assertFalse(row.device_wins or row.unclear)

    def test_quoted_fields_lines_of_windows_and_a_byte_order_mark(self):
        text = made.text([made.row(1024, 100, 50, device='A "big" GPU, 8 GiB')])
        row = self.read("\ufeff" + text.replace("\n", "\r\n"))[0]
        self.assertEqual(row.device, 'A "big" GPU, 8 GiB')

    def test_two_files(self):
        paths = [
            self.put("1.csv", made.text([made.row(1, 1, 1)])),
            self.put("2.csv", made.text([made.row(2, 1, 1, 1)], short=True)),
        ]
        self.assertEqual([row.size for row in scan.read(paths)], [1, 2])

    def test_nothing_at_all(self):
        self.refused("", "scan.csv: empty", "svmx threshold-scan --output")

    def test_a_header_alone(self):
        self.refused(made.text([]), "no rows", "scan again")

    def test_missing_and_unknown_columns_are_named(self):
        text = made.text([made.row(1024, 100, 50)])
        self.refused(text.replace("gpu_p90_us", "gpu_p95_us", 1), "missing: gpu_p90_us", "unknown: gpu_p95_us")
        self.refused("a,b\n1,2\n", "missing: host", "unknown: a, b")

    def test_columns_in_another_order(self):
        self.refused(made.text([made.row(1024, 100, 50)]).replace("host,cpu,", "cpu,host,", 1), "order")

    def test_the_format_of_the_prototype(self):
        self.refused("size,device,duration_ms,first,backend_mask_hint\n1,x,1,1,1\n", "--format prototype")

    def test_what_is_no_figure(self):
        for figure in ("nan", "NaN", "inf", "-inf", "-1", "fast", "1,5", " "):
            with self.subTest(figure):
                self.refused(
                    made.text([made.row(1, 2, 1), made.row(2, 2, 1, gpu_p90_us=figure)]),
                    "scan.csv:3",
                    "gpu_p90_us",
                    figure,
                )

    def test_a_row_of_nobody(self):
        self.refused(made.text([made.row(1, 2, 1, backend="")]), "scan.csv:2", "backend is empty")
        self.refused(made.text([made.row(1, 2, 1, op="")]), "scan.csv:2", "op is empty")

    def test_sizes_and_counts_are_whole(self):
        for column in ("size", "bucket", "samples", "dispatches"):
            for figure in ("1.5", "1e3", "1_000", "99999999999999999999", "1" * 400):
                with self.subTest((column, figure)):
                    text = made.text([{**made.row(1, 2, 1), column: figure}])
                    self.refused(text, "scan.csv:2", f"{column} is")
        self.refused(made.text([made.row(0, 2, 1)]), "size is '0'")

    def test_a_device_whose_clock_says_nothing(self):
        self.refused(made.text([made.row(1, 2, 1, device_ns="0")]), "device_ns is '0'")
        self.refused(made.text([made.row(1, 2, 1, device_ns="")]), "device_ns is ''")

    def test_a_result_is_right_or_wrong(self):
        for word in ("maybe", "", "YES", "1"):
            self.refused(made.text([made.row(1, 2, 1, verified=word)]), f"verified is '{word}'", "neither yes nor no")

    def test_a_time_of_zero_or_none(self):
        self.refused(made.text([made.row(1, 2, 1, cpu_us="0")]), "scan.csv:2", "cpu_us is '0'")
        self.refused(made.text([made.row(1, 2, 1, cpu_us="")]), "cpu_us is ''")
        self.refused(made.text([made.row(1, 2, 1, gpu_us="0.000")]), "gpu_us is '0.000'")

    def test_quantiles_that_do_not_rise(self):
        self.refused(made.text([made.row(1, 2, 1, gpu_p90_us="0.5")]), "gpu_min, _median, _p90 and _max do not rise")

    def test_a_line_cut_short(self):
        self.refused(made.text([made.row(1024, 100, 50)])[:-30], "scan.csv:2", "fields under 32 columns")

    def test_an_open_quote(self):
        self.refused(made.text([made.row(1, 2, 1)]).replace("alpha", '"alpha'), "not CSV")

    def test_no_text_and_no_file(self):
        with open(self.path("scan.csv"), "wb") as file:
            file.write(b"\xff\xfe\x00\x01")
        with self.assertRaisesRegex(scan.ScanError, "UTF-8"):
            scan.read([self.path("scan.csv")])
        with self.assertRaisesRegex(scan.ScanError, "none.csv: No such file"):
            scan.read([self.path("none.csv")])

    def test_standard_input(self):
        text = made.text([made.row(1024, 100, 50, device="Gerät")])
        wanted = self.run_script("summarize", self.put("scan.csv", text))[0]
        self.assertEqual(self.run_script("summarize", "-", stdin="\ufeff" + text, env={"LC_ALL": "C"})[0], wanted)
        with open(self.path("bytes"), "wb") as file:
            file.write(b"\xff\xfe")
        with open(self.path("bytes"), "rb") as file:
            done = subprocess.run(
                [sys.executable, os.path.join(suite.SCRIPTS, "summarize"), "-"],
                stdin=file,
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn("standard input: not a text in UTF-8", done.stderr)

    def test_rows_measured_again(self):
        rows = self.read(made.text([made.row(1, 2, 1), made.row(2, 2, 1), made.row(1, 4, 1)]))
        self.assertEqual([(row.size, row.cpu.median) for row in scan.latest(rows)], [(1, 4), (2, 2)])


class Figures(suite.Suite):
    def rows(self, *figures, **others):
        return scan.read([self.put("scan.csv", made.text([made.row(*one, **others) for one in figures]))])

    def test_crossover(self):
        for figures, wanted in (
            (((1, 10, 20), (2, 20, 20), (4, 40, 20), (8, 80, 20)), 4),  # from the middle on
            (((1, 10, 8), (2, 20, 9)), 1),  # everywhere
            (((1, 10, 20), (2, 20, 30)), None),  # nowhere
            (((1, 10, 5), (2, 20, 30), (4, 40, 20)), 4),  # a win before a loss is none
            (((1, 10, 5), (2, 20, 30)), None),  # a win that does not last
            (((1, 100, 90), (2, 100, 89.9)), 2),  # 0.9 itself is not below 0.9
        ):
            with self.subTest(figures):
                self.assertEqual(scan.crossover(self.rows(*figures)), wanted)

    def test_sizes_may_come_in_any_order(self):
        self.assertEqual(scan.crossover(self.rows((8, 80, 20), (1, 10, 20), (4, 40, 20))), 4)

    def test_a_wrong_result_wins_nothing(self):
        rows = self.rows((1, 10, 1), (2, 10, 1)) + self.rows((4, 10, 1), verified="no")
        self.assertIsNone(scan.crossover(rows))
        self.assertEqual(scan.crossover(rows + self.rows((8, 10, 1))), 8)

    def test_in_words(self):
        self.assertEqual(scan.crossover_text(self.rows((1024, 10, 20), (4096, 40, 20))), "from 4,096")
        self.assertEqual(scan.crossover_text(self.rows((1024, 40, 20))), "from 1,024, the smallest tested")
        self.assertEqual(scan.crossover_text(self.rows((1 << 22, 10, 20))), "never up to 4,194,304")
        self.assertEqual(scan.crossover_text(self.rows((1, 10, None))), "not measured")

    def test_unclear(self):
        """By what the scan says of a row, and by nothing else."""
        rows = self.rows((1, 100, 50), (2, 100, 95), (4, 100, 200))
        self.assertEqual([row.unclear for row in rows], [False, True, False])
        self.assertFalse(self.rows((1, 100, 95), decided="yes")[0].unclear)
        self.assertFalse(self.rows((1, 100, 95), samples=1)[0].unclear)

    def test_a_file_from_before_the_scan_said_what_is_decided(self):
        text = "".join(f"{line.rsplit(',', 1)[0]}\n" for line in made.text([made.row(1, 100, 95)]).splitlines())
        rows = scan.read([self.put("old.csv", text)])
        self.assertFalse(rows[0].unclear)
        self.assertEqual(scan.columns_of(rows), scan.FULL[:-1])
        self.refuses("summarize", self.put("new.csv", made.text([made.row(1, 100, 95, decided="?")])), said=["decided is '?'"])
        self.assertIn("not in the file", self.run_script("summarize", self.path("old.csv"))[0])

    def test_kinds(self):
        self.assertEqual(scan.unmarked("pthread [CPU DEVICE]"), ("pthread", "CPU device"))
        self.assertEqual(scan.unmarked("x [CPU DEVICE] [TEST DEVICE]"), ("x", "test device"))
        self.assertEqual(scan.unmarked("rtx4090-wgpu [MODELLED] [TEST DEVICE]"), ("rtx4090-wgpu", "modelled device"))
        self.assertEqual(scan.unmarked("GeForce"), ("GeForce", "GPU"))

    def test_the_cpu_is_the_middle_of_its_measurements(self):
        rows = (
            self.rows((1, 10, 20)) + self.rows((1, 14, 20), backend="levelzero") + self.rows((1, 90, 20), backend="sim")
        )
        self.assertEqual(scan.one_machine(rows).cpu_times("vec_add_f32")[1].median, 14)

    def test_machines(self):
        rows = self.rows((1, 10, 20)) + self.rows((1, 10, 20), cpu="Other")
        with self.assertRaisesRegex(scan.ScanError, "2 machines: alpha .*Other.*compare-platforms"):
            scan.one_machine(rows)
        self.assertEqual(
            scan.machine_names(scan.machines(rows)), ["alpha (Model CPU, 2 threads (avx2))", "alpha (Other)"]
        )
        self.assertEqual(scan.machine_names(scan.machines(rows[:1])), ["alpha"])

    def test_two_devices_of_a_backend_are_told_apart(self):
        rows = self.rows((1, 10, 20), device="A") + self.rows((1, 10, 20), device="B")
        self.assertEqual([series.label for series in scan.one_machine(rows).series], ["opencl (A)", "opencl (B)"])

    def test_what_sizes_count(self):
        for op, wanted in (
            ("vec_add_f32", "elements"),
            ("matmul_f32", "rows and columns"),
            ("matmul_batch_f32", "elements"),
            ("keccak256", "bytes, 32 a message"),
            ("merkle_root_sha256", "leaf nodes"),
            ("ed25519_verify", "signatures"),
        ):
            self.assertEqual(scan.unit_of(op), wanted)
        self.assertEqual((scan.counted(1, "row"), scan.counted(0, "row")), ("1 row", "0 rows"))

    def test_times_for_people(self):
        for us, wanted in (
            (0.87, "870 ns"),
            (0.9996, "1.00 µs"),
            (12.34, "12.3 µs"),
            (999.4, "999 µs"),
            (999.6, "1.00 ms"),
            (4560, "4.56 ms"),
            (2e6, "2.00 s"),
            (None, "-"),
        ):
            self.assertEqual(scan.time_text(us), wanted)


class Writing(suite.Suite):
    def test_what_is_no_file_is_written_into(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        scan.write(pipe, "text")
        self.assertEqual(os.read(reader, 10), b"text")
        self.assertEqual(os.listdir(self.folder), ["pipe"])

    def test_a_link_stays_one_and_a_file_keeps_its_mode(self):
        os.chmod(self.put("file", "old"), 0o640)
        os.symlink("file", self.path("link"))
        scan.write(self.path("link"), "new")
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertEqual((self.get("file"), os.stat(self.path("file")).st_mode & 0o777), ("new", 0o640))

    def test_an_error_leaves_nothing(self):
        with self.assertRaisesRegex(scan.ScanError, "Is a directory"):
            scan.write(self.folder, "text")
        with self.assertRaises(UnicodeEncodeError):
            scan.write(self.path("file"), "\ud800")
        self.assertEqual(os.listdir(self.folder), [])

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_a_full_disk(self):
        with self.assertRaisesRegex(scan.ScanError, "/dev/full: No space left"):
            scan.write("/dev/full", "text")
        path = self.put("scan.csv", made.text([made.row(1024, 100, 50)]))
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(
                [sys.executable, os.path.join(suite.SCRIPTS, "summarize"), path],
                stdout=full,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                check=False,
            )
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "summarize: standard output: No space left on device\n")


suite.main()
