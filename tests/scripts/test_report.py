"""test_report.py: report-html without a browser: what is in the file, and what is not.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import re

import suite
import made_scan as made
import svmx_report as report


def data_of(page):
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)[1])


class Chart(suite.Suite):
    def test_without_chart_js(self):
        path = self.put("s.csv", made.text(made.curve(made.SIZES)))
        self.refuses(
            "report-html",
            path,
            "--chart-js",
            self.path("none.js"),
            said=["none.js: not there", "apt install libjs-chart.js"],
        )

    def test_a_chart_js_of_ones_own(self):
        path, chart = self.put("s.csv", made.text(made.curve(made.SIZES))), self.put(
            "own.js", "/* my own chart </script> */"
        )
        out, _ = self.run_script("report-html", path, "--chart-js", chart)
        self.assertIn("/* my own chart <\\/script> */", out)


class WithChart(suite.Suite):
    """Pages with a Chart.js that is none, so that they are small."""

    def setUp(self):
        super().setUp()
        self.chart = self.put("chart.js", "/* chart */")

    def page(self, *arguments):
        return self.run_script("report-html", *arguments, "--chart-js", self.chart)[0]


class Pages(WithChart):
    def test_nothing_is_fetched(self):
        page = self.page(self.put("s.csv", made.text(made.curve(made.SIZES))))
        self.assertIn("default-src 'none'", page)
        self.assertEqual(re.findall(r'(?:src|href)\s*=\s*"(?!data:)[^"]*"', page), [])
        self.assertNotIn("http://", page)
        self.assertNotIn("https://", page)
        self.assertNotIn("{{", page)

    def test_names_cannot_end_the_data(self):
        evil = '</script><script>alert("1")</script>'
        page = self.page(self.put("s.csv", made.text(made.curve(made.SIZES, device=evil))), "--title", evil)
        self.assertNotIn(evil, page)
        self.assertEqual(data_of(page)["machines"][0]["lanes"][0]["device"], evil)
        self.assertIn("<title>&lt;/script&gt;", page)

    def test_figures_are_those_of_the_module(self):
        rows = made.curve(made.SIZES) + made.curve(made.SIZES, 1e9, backend="levelzero", device="Arc [TEST DEVICE]")
        lanes = data_of(self.page(self.put("s.csv", made.text(rows))))["machines"][0]["lanes"]
        self.assertEqual([lane["kind"] for lane in lanes], ["GPU", "test device"])
        self.assertEqual(
            lanes[0]["ops"]["vec_add_f32"], {"rows": list(range(7)), "crossover": 16384, "text": "from 16,384"}
        )
        self.assertEqual(lanes[1]["ops"]["vec_add_f32"]["crossover"], None)

    def test_a_short_scan_and_one_without_a_device(self):
        data = data_of(self.page(self.put("s.csv", made.text(made.curve(made.SIZES, samples=1), short=True))))
        self.assertNotIn("gpu_p90_us", data["columns"])
        data = data_of(self.page(self.put("s.csv", made.text([made.row(1024, 10, None)]))))
        self.assertEqual(data["machines"][0]["lanes"], [])

    def test_platforms(self):
        both = self.put("s.csv", made.text(made.curve(made.SIZES) + made.curve(made.SIZES, host="beta")))
        self.assertEqual(
            [machine["name"] for machine in data_of(self.page("--platforms", both))["machines"]], ["alpha", "beta"]
        )

    def test_to_a_file_whole_or_not_at_all(self):
        path = self.put("s.csv", made.text(made.curve(made.SIZES)))
        self.run_script("report-html", path, "--chart-js", self.chart, "--output", self.path("r.html"))
        self.assertTrue(self.get("r.html").endswith("</html>\n"))
        self.assertFalse(os.path.exists(self.path("r.html.new")))


def bench(**fields):
    return {
        "suite": "ops",
        "case": "c",
        "ours": 3.0,
        "peer": 2.0,
        "peer_name": "p",
        "unit": "M/s",
        "ratio": 1.5,
        "ask": "ratio >= 1.2",
        "ok": True,
        **fields,
    }


class Bench(WithChart):
    def test_margins_and_verdicts(self):
        for fields, margin, verdict in (
            ({}, 1.25, "met"),
            ({"ask": "ours <= 6"}, 2, "met"),
            ({"ask": "ours >= 6", "ok": False}, 0.5, "missed"),
            ({"ask": None, "ok": None}, None, ""),
            ({"ratio": None, "ok": None}, None, "skipped"),
            ({"ours": 0, "ask": "ours <= 6"}, None, "met"),
        ):
            with self.subTest(fields):
                self.assertEqual((report.margin(bench(**fields)), report.verdict(bench(**fields))), (margin, verdict))

    def test_a_page(self):
        rows = [bench(suite="run", case="machine", note="Model CPU"), bench(), bench(suite="other", ok=False)]
        data = data_of(self.page("--bench", self.put("b.json", json.dumps(rows))))
        self.assertEqual((data["machine"], data["suites"], len(data["rows"])), ("Model CPU", ["ops", "other"], 2))

    def test_bad_files(self):
        refuse = lambda text, *said: self.refuses("report-html", "--bench", self.put("b.json", text), said=said)
        refuse("", "not JSON", "make bench")
        refuse("[]", "no rows")
        refuse("{}", "no rows")
        refuse('[{"suite": "x"}]', "row 1: no case")
        refuse(json.dumps([bench(ours=float("nan"))]), "row 1: ours is nan")
        refuse("[1]", "row 1: no suite")
        self.refuses("report-html", "--bench", self.path("none.json"), said=["none.json: No such file", "make bench"])


class Example(WithChart):
    """docs/examples is what its README says made it."""

    def example(self, name):
        return os.path.join(suite.SRC, "docs", "examples", name)

    def read(self, name):
        with open(self.example(name), encoding="utf-8") as file:
            return file.read()

    def test_the_summary(self):
        self.assertEqual(self.run_script("summarize", self.example("scan.csv"))[0], self.read("summary.md"))

    def test_the_pages(self):
        self.assertEqual(data_of(self.page(self.example("scan.csv"))), data_of(self.read("report.html")))
        panels = self.page(
            "--platforms",
            self.example("scan.csv"),
            self.example("scalar.csv"),
            "--title",
            data_of(self.read("panels.html"))["title"],
        )
        self.assertEqual(data_of(panels), data_of(self.read("panels.html")))


suite.main()
