"""test_trace_browser.py: what `svmx trace` writes, as a page of trace-html in a real browser: is there a lane for each device
and stage, are its launches drawn where they were, and does the page do what it offers?

Skipped where the browser is missing, but for what needs none. Screenshots stay in tests/run/screenshots.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import subprocess
import unittest

import browsing
import suite

COMMAND = os.environ.get("SVMX_TEST_COMMAND", "svmx")
WHY_NOT = browsing.why_not()

# Where a lane has colour in the row of pixels through its middle, as parts of its width: [[from, to], ...].
RUNS = """
const canvas = document.getElementById(`lane-${arguments[0]}`), ctx = canvas.getContext("2d");
const row = ctx.getImageData(0, Math.round(canvas.height * 0.2), canvas.width, 1).data, runs = [];
for (let x = 0; x < canvas.width; x++) {
  if (row[4 * x + 3] < 128) continue;
  const run = runs[runs.length - 1];
  if (run && run[1] === x) run[1] = x + 1; else runs.push([x, x + 1]);
}
return runs.map((run) => run.map((x) => x / canvas.width));
"""


def receipt(number, end_ns, device, *stages, operation="sha256", **more):
    """A line with what a trace needs."""
    names = ("wait_ns", "stage_ns", "run_ns", "collect_ns")
    line = {"number": number, "time_ns": end_ns, "operation": operation, "device": device, "backend": "sim"}
    return json.dumps({**line, "name": "a </script> device", "tasks": 24, **dict(zip(names, stages)), **more})


# Device 0: placing 0-10 µs, device 10-50, results 50-60; and again from 40 on with 10 µs of waiting. Device 1: 20-100.
LOG = "\n".join(
    (
        receipt(0, 160_000, 0, 0, 10_000, 40_000, 10_000),
        receipt(1, 200_000, 0, 10_000, 10_000, 30_000, 10_000),
        receipt(2, 200_000, 1, 0, 0, 80_000, 0, operation="keccak256"),
    )
)


class Traces(suite.Suite):
    def trace(self, log):
        """A file as svmx trace makes it."""
        path = self.path("trace.json")
        subprocess.run([COMMAND, "trace", self.put("log", log), "--output", path], check=True, capture_output=True)
        return path


class Files(Traces):
    def test_what_is_no_trace_is_refused(self):
        for name, text in (
            ("log", receipt(0, 9, 0, 0, 0, 9, 0)),
            ("text", "hello"),
            ("list", "[1, 2]"),
            ("short", '{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0}]}'),
            ("wrong", '{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":-1}]}'),
        ):
            self.refuses("trace-html", self.put(name, text), said=["not a trace", "svmx trace LOG --output"])
        self.refuses("trace-html", self.put("empty", '{"traceEvents":[]}'), said=["a trace without events"])
        self.refuses("trace-html", self.path("none"), said=["No such file"])

    def test_standard_input_and_output(self):
        page = self.trace(LOG)
        out, _ = self.run_script("trace-html", "-", stdin=self.get("trace.json"))
        self.run_script("trace-html", page, "--output", self.path("page.html"))
        self.assertEqual(out, self.get("page.html"))
        self.assertNotIn("a </script> device", out)


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Browser(Traces, browsing.Pages):
    def open(self, log):
        self.run_script("trace-html", self.trace(log), "--output", self.path("page.html"))
        self.browser.get("about:blank")
        self.browser.get_log("browser")
        self.browser.get(f"file://{self.path('page.html')}")
        self.addCleanup(lambda: self.assertEqual(self.complaints(), []))

    def table(self):
        return self.js(
            "return [...document.querySelectorAll('#table tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"
        )

    def assert_runs(self, lane, *wanted):
        """Launches of a lane, as parts of the time that is shown; a hundredth is a few pixels."""
        runs = self.js(RUNS, lane)
        self.assertEqual(len(runs), len(wanted), runs)
        for (left, right), (start, end) in zip(runs, wanted):
            self.assertAlmostEqual(left, start, delta=0.01)
            self.assertAlmostEqual(right, end, delta=0.01)

    def test_a_lane_for_each_device_and_stage(self):
        self.open(LOG)
        names = [row[:3] for row in self.table()]
        one, other = "0 sim: a </script> device", "1 sim: a </script> device"
        self.assertEqual(
            names,
            [
                [one, "waiting", "1"],
                [one, "placing inputs", "2"],
                [one, "device", "2"],
                [one, "taking results", "2"],
                [other, "device", "1"],
            ],
        )
        self.assertEqual(self.js("return document.querySelectorAll('#lanes canvas').length"), len(names) + 1)
        heads = self.js("return [...document.querySelectorAll('#lanes h3')].map((head) => head.textContent)")
        self.assertEqual(heads, [one, other])
        self.shot("trace")

    def test_launches_are_drawn_when_they_were(self):
        self.open(LOG)
        self.assert_runs(0, (0.4, 0.5))
        self.assert_runs(1, (0, 0.1), (0.5, 0.6))
        self.assert_runs(2, (0.1, 0.5), (0.6, 0.9))
        self.assert_runs(3, (0.5, 0.6), (0.9, 1))
        self.assert_runs(4, (0.2, 1))
        self.assertEqual([row[4] for row in self.table()], ["10.0 %", "20.0 %", "70.0 %", "20.0 %", "80.0 %"])

    def test_a_lane_for_each_engine(self):
        """Two launches under way at once: 30 µs copied in, 30 computed, 30 copied out, the second 30 µs behind the first."""
        engines = {"upload_ns": 30_000, "device_ns": 90_000, "compute_ns": 30_000}
        self.open(
            receipt(0, 190_000, 0, 0, 0, 90_000, 0, **engines) + "\n" + receipt(1, 220_000, 0, 0, 0, 90_000, 0, **engines)
        )
        self.assertEqual(
            [row[1:3] for row in self.table()],
            [["device", "1"], ["device 2", "1"], ["copying in", "2"], ["computing", "2"], ["copying out", "2"]],
        )
        self.assert_runs(2, (0, 0.25), (0.25, 0.5))
        self.assert_runs(3, (0.25, 0.5), (0.5, 0.75))
        self.assert_runs(4, (0.5, 0.75), (0.75, 1))
        self.shot("trace-engines")

    def test_zoom(self):
        self.open(LOG)
        self.js("show(first + 50, first + 100)")
        self.assert_runs(2, (0.2, 0.8))
        self.browser.find_element(browsing.By.ID, "left").click()
        self.assert_runs(2, (0, 0.3), (0.5, 1))
        for button in ("in", "out", "right", "all"):
            self.browser.find_element(browsing.By.ID, button).click()
        self.assert_runs(4, (0.2, 1))
        self.js("zoom(1e9, 50)")
        self.assert_runs(4, (0.2, 1))

    def test_a_launch_that_is_pointed_at_tells_of_itself(self):
        self.open(LOG)
        canvas = self.browser.find_element(browsing.By.ID, "lane-4")
        browsing.webdriver.ActionChains(self.browser).move_to_element(canvas).perform()
        said = self.browser.find_element(browsing.By.ID, "event").text.replace("\u00a0", " ")
        self.assertIn("keccak256: device on 1 sim: a </script> device, from 20.0 µs for 80.0 µs", said)
        self.assertIn("tasks 24", said)

    def test_dark(self):
        self.open(LOG)
        light = self.js("return getComputedStyle(document.body).backgroundColor")
        for _ in range(2):
            self.browser.find_element(browsing.By.ID, "theme").click()
        self.assertNotEqual(self.js("return getComputedStyle(document.body).backgroundColor"), light)
        self.assert_runs(4, (0.2, 1))
        self.shot("trace-dark")

    def test_a_run_of_svmx(self):
        subprocess.run(
            [COMMAND, "run", "sum_f32", "--repeat", "200", "--device", "none", "--receipt", self.path("run.log")],
            check=True,
            capture_output=True,
        )
        self.open(self.get("run.log"))
        rows = {row[1]: int(row[2]) for row in self.table()}
        self.assertEqual(rows["device"], 201)
        self.assertTrue(self.js(RUNS, len(rows) - 1))
        self.shot("trace-run")

    def test_ten_thousand_launches(self):
        self.open("\n".join(receipt(i, 1000 * (i + 1), i % 4, 0, 0, 900, 0) for i in range(10_000)))
        self.assertEqual([row[2] for row in self.table()], ["2,500"] * 4)


suite.main()
