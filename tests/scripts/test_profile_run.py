"""test_profile_run.py: profile-run on a made-up /sys and nvidia-smi, whose figures are known, and on svmx itself.

SPDX-License-Identifier: Apache-2.0
"""

import csv
import os
import subprocess
import sys
import time

import suite

COMMAND = os.environ.get("SVMX_TEST_COMMAND", "svmx")
STATS = """import json, os, sys
device = dict(id="gpu:0", name="A device", tasks=0, bytes_in=0, bytes_out=0, setup_ns=0, transfer_ns=0, busy_ns=0,
              compute_ns=0)
device.update(eval(sys.argv[2]))
path = os.path.join(os.environ["SUPERVM_STATS_DIR"], sys.argv[1])
json.dump({"open_ns": 1000, "devices": [device]}, open(path, "w"))
"""


class ProfileRun(suite.Suite):
    def setUp(self):
        super().setUp()
        self.csv, self.sys = self.path("profile.csv"), self.path("sys")
        os.makedirs(self.path("bin"))
        self.env = {"PATH": f"{self.path('bin')}:/usr/bin:/bin"}

    def run_it(self, *command, status=0, env=None):
        """What it says, and rows as {(of, what): [values]}."""
        out, err = self.run_script(
            "profile-run",
            *("--output", self.csv, "--sysfs", self.sys, "--interval", "0.05", "--", *command),
            status=status,
            env={**self.env, **(env or {})},
        )
        with open(self.csv, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        found = {}
        for row in rows:
            self.assertGreaterEqual(float(row["time_s"]), 0)
            found.setdefault((row["of"], row["what"]), []).append(float(row["value"]))
        return out, err, found

    def sensor(self, path, text):
        path = os.path.join(self.sys, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{text}\n")
        return path

    def package(self, number, name, microjoules, limit=262143328850):
        folder = f"class/powercap/intel-rapl:{number}"
        self.sensor(f"{folder}/name", name)
        self.sensor(f"{folder}/max_energy_range_uj", limit)
        return self.sensor(f"{folder}/energy_uj", microjoules)

    def stats(self, **counters):
        """A command that leaves counters as an executor does."""
        return [sys.executable, self.put("stats.py", STATS), "stats-1-1.json", repr(counters)]

    def nvidia_smi(self, script):
        os.chmod(self.put("bin/nvidia-smi", f"#!/bin/sh\n{script}\n"), 0o755)

    # ---- what is not there ----

    def test_what_a_machine_lacks_is_said_and_has_no_rows(self):
        out, err, rows = self.run_it("sh", "-c", "echo of the command; sleep 0.3")
        self.assertEqual(out, "of the command\n")
        for words in ("devices (no executor", "watts of processors (no RAPL", "temperatures of sensors", "no nvidia-smi"):
            self.assertIn(f"not offered here: {words}" if "no nvidia" not in words else words, err)
        self.assertEqual(set(rows), {("host", "cpu_share")})
        self.assertTrue(all(0 <= share <= 1 for share in rows["host", "cpu_share"]))
        self.assertNotIn("joule", err)
        self.assertNotIn(" 0 J", err)

    def test_energy_that_only_root_may_read_is_said(self):
        self.package(0, "package-0", "?")  # no number, as for somebody who may not read it
        _, err, rows = self.run_it("true")
        self.assertIn("energy_uj cannot be read", err)
        self.assertNotIn(("package-0", "watts"), rows)

    def test_an_nvidia_smi_that_fails_is_said(self):
        self.nvidia_smi("echo no driver; exit 9")
        _, err, rows = self.run_it("true")
        self.assertIn("(nvidia-smi: no driver)", err)
        self.assertNotIn(("nvidia:0", "watts"), rows)

    # ---- energy ----

    def test_rapl_counts_packages_over_the_end_of_the_counter(self):
        one = self.package(0, "package-0", 9_000_000, limit=10_000_000)
        self.package("0:0", "core", 1)
        self.package(1, "psys", 5)
        script = f"echo 3000000 > {one}"
        _, err, rows = self.run_it("sh", "-c", script)
        self.assertIn("package-0: 4 J", err)
        self.assertEqual({of for of, what in rows if what == "watts"}, {"package-0"})
        self.assertIn("work per joule: not known", err)

    def test_work_per_joule(self):
        one = self.package(0, "package-0", 1_000_000)
        stats = self.stats(tasks=30, bytes_in=4_000_000, bytes_out=2_000_000, busy_ns=500, transfer_ns=250, compute_ns=250)
        self.put("both.sh", f'echo 3000000 > {one}; exec "$@"')
        _, err, rows = self.run_it("sh", self.path("both.sh"), *stats)
        self.assertIn("work per joule: 15 tasks, 3 MB; 2 J in all", err)
        self.assertIn("gpu:0 (A device): busy 50 %, useful 50 %, 30 tasks", err)
        self.assertEqual(rows["gpu:0", "busy_share"], [0.5])
        self.assertEqual(rows["gpu:0", "useful_share"], [0.5])

    def test_cards_of_hwmon(self):
        for file, text in (("name", "amdgpu"), ("power1_average", 50_000_000), ("temp1_input", 61_000)):
            self.sensor(f"class/hwmon/hwmon3/{file}", text)
        self.sensor("class/hwmon/hwmon3/temp1_label", "edge")
        for file, text in (("name", "xe"), ("energy1_input", 7), ("energy2_input", 9)):
            self.sensor(f"class/hwmon/hwmon4/{file}", text)
        for file, text in (("name", "BAT0"), ("power1_input", 9_000_000)):
            self.sensor(f"class/hwmon/hwmon5/{file}", text)
        _, err, rows = self.run_it("sleep", "0.2")
        self.assertEqual(set(rows["amdgpu/hwmon3", "watts"]), {50.0})
        self.assertEqual(set(rows["amdgpu/hwmon3 edge", "celsius"]), {61.0})
        self.assertEqual(set(rows["xe/hwmon4", "watts"]), {0.0})  # it told, and the counter stood still
        self.assertNotIn(("BAT0/hwmon5", "watts"), rows)
        self.assertIn("amdgpu/hwmon3 edge: up to 61 °C", err)
        self.assertIn("50 W on average", err)

    def test_nvidia_smi(self):
        self.nvidia_smi("echo '0, 25.50, 48'; echo '1, [N/A], 50'")
        _, err, rows = self.run_it("sleep", "0.2")
        self.assertEqual(set(rows["nvidia:0", "watts"]), {25.5})
        self.assertEqual(set(rows["nvidia:1", "celsius"]), {50.0})
        self.assertNotIn(("nvidia:1", "watts"), rows)
        self.assertIn("nvidia:0: up to 48 °C", err)

    # ---- the command ----

    def test_an_idle_device_is_not_useless(self):
        _, err, rows = self.run_it(*self.stats())
        self.assertEqual(rows["gpu:0", "busy_share"], [0.0])
        self.assertNotIn(("gpu:0", "useful_share"), rows)
        self.assertIn("gpu:0 (A device): busy 0 %, 0 tasks", err)

    def test_svmx_itself(self):
        _, err, rows = self.run_it(
            COMMAND, "run", "vec_add_f32", "--repeat", "20", "--json", env={"SUPERVM_BACKENDS": "none"}
        )
        self.assertIn("reference:0", err)
        self.assertIn("21 tasks", err)  # it repeats what it has checked once
        self.assertTrue(rows["reference:0", "busy_share"])
        self.assertNotIn("devices (no executor", err)

    def test_the_status_is_that_of_the_command(self):
        self.run_it("sh", "-c", "exit 7", status=7)
        self.run_it("sh", "-c", "kill -TERM $$", status=143)
        _, err = self.run_script("profile-run", "--output", self.csv, "/no/such/command", status=127)
        self.assertIn("/no/such/command: No such file", err)

    def test_a_signal_goes_to_the_command_and_the_rows_stay(self):
        process = subprocess.Popen(
            [sys.executable, os.path.join(suite.SCRIPTS, "profile-run"), "--output", self.csv, "--interval", "0.05"]
            + ["sh", "-c", f"echo here > {self.path('here')}; exec sleep 1000"],
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        while not os.path.exists(self.path("here")):
            time.sleep(0.02)
        time.sleep(0.3)
        process.terminate()
        _, err = process.communicate()
        self.assertEqual(process.returncode, 143)
        self.assertIn("status 143", err)
        self.assertIn("host,cpu_share,", self.get("profile.csv"))

    def test_bad_arguments(self):
        for arguments, words in (
            ((), "no command"),
            (("--interval", "0", "true"), "give seconds from 0.05 to 3600"),
            (("--interval", "nan", "true"), "give seconds"),
        ):
            _, err = self.run_script("profile-run", *arguments, status=2)
            self.assertIn(words, err)
        self.refuses("profile-run", "--output", self.path("no/such/folder"), "true", said=["No such file"])
        out, _ = self.run_script("profile-run", "--help")
        self.assertIn("work per joule", out)


suite.main()
