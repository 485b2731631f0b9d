"""test_dashboard.py: the page of libsvmx-metrics in a real browser: are its numbers those of /stats.json, do the charts move,
does it live on when the server stops and comes back?

Chromium without a window, driven by Selenium (Debian: chromium, chromium-driver, python3-selenium); skipped where one of them
is missing. Screenshots stay in tests/run/screenshots of the build folder, to be looked at.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import time
import unittest

import browsing
import serving
import suite

WHY_NOT = browsing.why_not() or serving.missing()

# How many pixels of a chart have a colour, of the part that axes enclose.
PIXELS = """
const [name, of] = arguments, chart = drawn[name], area = chart.chartArea, ratio = chart.currentDevicePixelRatio;
const image = chart.ctx.getImageData(area.left * ratio, area.top * ratio, area.width * ratio, area.height * ratio).data;
const want = [1, 3, 5].map((at) => parseInt(colour(of).slice(at, at + 2), 16));
let count = 0;
for (let at = 0; at < image.length; at += 4)
  if (image[at + 3] > 200 && want.every((value, i) => Math.abs(image[at + i] - value) < 12)) count++;
return count;
"""


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Dashboard(browsing.Pages):
    LOGS = ("browser", "performance")

    def serve(self, *arguments, **named):
        server = serving.Server(*arguments, **named)
        self.addCleanup(lambda: server.process.returncode is None and server.stop())
        return server

    def open(self, server, answers=2):
        self.browser.get("about:blank")
        self.browser.get_log("browser")
        self.browser.get_log("performance")
        self.browser.get(f"http://{server.address}/?every=0.2")
        self.wait_until(f"return view.answers >= {answers}")

    def wait_until(self, code):
        for _ in range(1200):
            if self.js(code):
                return
            time.sleep(0.05)
        self.fail(f"never true: {code}")

    # ---- tests ----

    def test_numbers_equal_stats_json(self):
        server = self.serve("--load", "100", "--batches", "80")
        server.wait_for_batches(80)
        self.open(server)
        stats = server.stats()
        shown = self.js("return [...document.querySelectorAll('[data-path]')].map((e) => [e.dataset.path, e.textContent])")
        self.assertGreater(len(shown), 30)
        for path, text in shown:
            value = stats
            for key in path.split("."):
                value = value[int(key)] if isinstance(value, list) else value[key]
            self.assertEqual(text, f"{value:,}", path)
        self.assertIn(("work.batches", "80"), [tuple(pair) for pair in shown])
        for i, op in enumerate(stats["operations"]):
            self.assertIn([f"operations.{i}.devices.0.parts", f"{op['devices'][0]['parts']:,}"], shown)
        for op in stats["operations"]:
            browsing.Select(self.browser.find_element(browsing.By.ID, "op")).select_by_value(op["name"])
            self.assertEqual(self.js("return drawn.size.data.datasets[0].data"), [count for _, count in op["sizes"]])
            parts = self.js("return drawn.latency.data.datasets.map((set) => set.data.reduce((a, b) => a + b))")
            self.assertEqual(parts, [pair["parts"] for pair in op["devices"]])
        self.assertEqual(self.complaints(), [])

    def test_curves_are_those_of_the_router(self):
        try:
            server = self.serve("--load", "100", "--batches", "150", "--policy", "auto", "--backend", "simd,sim:integrated")
        except RuntimeError as reason:
            self.skipTest(str(reason))
        stats = server.wait_for_batches(150)
        time.sleep(1)  # curves are kept longer than other texts
        points = json.loads(server.text("/curves.json"))["points"]
        self.open(server)
        op = next(op for op in stats["operations"] if op["op"] == points[0][0])
        browsing.Select(self.browser.find_element(browsing.By.ID, "op")).select_by_value(op["name"])
        drawn = self.js("return drawn.curve.data.datasets.flatMap((set) => set.data.map((p) => [p.x, p.y]))")
        mine = [[units, ns] for number, _, units, _, ns, _, _ in points if number == op["op"]]
        self.assertTrue(drawn)
        for point in drawn:
            self.assertIn(point, mine)

    def test_charts_move(self):
        server = self.serve("--load", "30")
        self.open(server, answers=4)
        first = self.js("return [drawn.work.data.datasets[0].data.length, view.stats.work.batches]")
        self.wait_until(f"return view.stats.work.batches > {first[1]} && drawn.work.data.datasets[0].data.length > {first[0]}")
        self.assertGreater(self.js(PIXELS, "work", "lane-0"), 50)
        self.assertGreater(self.js(PIXELS, "latency", "lane-0"), 300)
        self.assertGreater(self.js(PIXELS, "size", "lane-0"), 300)
        self.assertEqual(self.js("return find('state').textContent"), "live")
        self.assertNotEqual(self.js("return find('rate-batches').textContent"), "–")
        self.assertEqual(self.complaints(), [])
        self.shot("dashboard-light")

    def test_a_device_that_gives_wrong_bytes(self):
        """The check plugin turns a bit in one of its launches, all of which are compared: the device is not trusted with that
        operation any more, and what it failed is on the page with its reason, as in /stats.json and /fallbacks."""
        wrong = {"SUPERVM_BACKEND_PATH": os.environ.get("SVMX_TEST_DRIVER_PATH", ""), "SUPERVM_VERIFY": "full"}
        arguments = ("--load", "100", "--batches", "60", "--policy", "order", "--backend", "check:dispatch@40=bitflip,stop")
        try:
            server = self.serve(*arguments, env=wrong)
        except RuntimeError as reason:
            self.skipTest(str(reason))
        stats = server.wait_for_batches(60)
        device = stats["devices"][0]
        self.assertEqual(device["health"], "quarantined")
        self.assertGreater(stats["work"]["fallback_reasons"]["wrong"], 0)
        self.open(server, answers=3)
        badges = self.js("return [...document.querySelectorAll('#devices .health')].map((e) => [e.textContent, e.className])")
        self.assertEqual(badges[0], ["quarantined", "health bad"])
        self.assertEqual(badges[1:], [[one["health"], "health"] for one in stats["devices"][1:]])
        words = self.js("return document.querySelector('#devices .name').textContent")
        self.assertTrue(device["health_reason"])
        self.assertIn(device["health_reason"], words)
        failed = [json.loads(line) for line in server.text("/fallbacks").splitlines()]
        self.assertEqual(len(failed), stats["work"]["fallbacks"])
        rows = self.js("return [...document.querySelectorAll('#fallbacks tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))")
        self.assertEqual(
            [[row[1], row[2], row[5]] for row in rows],
            [[one["operation"], f"{one['units']:,}", one["reason"]] for one in reversed(failed)],
        )
        self.assertEqual(self.js("return find('no-fallbacks').hidden"), True)
        shown = self.js("return document.querySelector('[data-path=\"work.fallbacks\"]').textContent")
        self.assertEqual(shown, f"{stats['work']['fallbacks']:,}")
        self.assertEqual(self.complaints(), [])
        self.shot("dashboard-fallbacks")

    def test_hold(self):
        server = self.serve("--load", "30")
        self.open(server)
        self.browser.find_element(browsing.By.ID, "hold").click()
        time.sleep(0.5)  # a question that was under way
        held = self.js("return [view.answers, document.querySelector('[data-path=\"work.batches\"]').textContent]")
        time.sleep(1)  # five answers' time
        self.assertEqual(
            self.js("return [view.answers, document.querySelector('[data-path=\"work.batches\"]').textContent]"), held
        )
        self.assertEqual(self.js("return find('state').textContent"), "held")
        self.browser.find_element(browsing.By.ID, "hold").click()
        self.wait_until(f"return view.answers > {held[0]}")

    def test_a_server_that_stops_and_comes_back(self):
        server = self.serve("--load", "30")
        self.open(server)
        batches = self.js("return document.querySelector('[data-path=\"work.batches\"]').textContent")
        self.assertEqual(self.complaints(), [])
        server.stop()
        self.wait_until("return view.lost > 1")
        self.assertIn("does not answer", self.js("return find('state').textContent"))
        self.assertNotEqual(self.js("return document.querySelector('[data-path=\"work.batches\"]').textContent"), "–")
        self.assertTrue(batches)
        again = self.serve("--load", "100", "--batches", "5", address=server.address)
        again.wait_for_batches(5)
        self.wait_until("return view.lost === 0 && view.stats.work.batches === 5")
        self.assertEqual(self.js("return find('state').textContent"), "live")
        self.assertEqual(self.js("return view.history.every((one) => one.start_ns === view.stats.start_ns)"), True)
        for line in self.complaints():
            self.assertIn("Failed to load resource", line, "the browser says that nobody answered, and nothing else")

    def test_light_and_dark(self):
        server = self.serve("--load", "30")
        self.open(server, answers=3)
        ground = "return getComputedStyle(document.body).backgroundColor"
        light = self.js(ground)
        for _ in range(2):
            self.browser.find_element(browsing.By.ID, "theme").click()
        self.assertNotEqual(self.js(ground), light)
        self.assertGreater(self.js(PIXELS, "size", "lane-0"), 300)  # drawn again in the colours of the dark
        self.shot("dashboard-dark")
        self.assertEqual(self.complaints(), [])

    def test_on_a_phone(self):
        server = self.serve("--load", "30")
        size = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        try:
            self.open(server)
            self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), 390)
            self.assertGreater(self.js("return drawn.work.chartArea.width"), 200)
        finally:
            self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def test_nothing_is_fetched_from_elsewhere(self):
        server = self.serve("--load", "30")
        self.open(server, answers=6)
        asked = [
            message["params"]["request"]["url"]
            for message in (json.loads(line["message"])["message"] for line in self.browser.get_log("performance"))
            if message["method"] == "Network.requestWillBeSent"
        ]
        self.assertGreater(len(asked), 6)
        for url in asked:
            self.assertTrue(url.startswith((f"http://{server.address}/", "data:")), url)


suite.main()
