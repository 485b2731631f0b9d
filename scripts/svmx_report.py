"""svmx_report.py: pages of HTML that need nothing else: no network, no other file. For report-html, compare-platforms,
run-batch-compositions and trace-html.

    page = report/page.html with its style, Chart.js, the data as JSON, the body (report/KIND.html) and its code
           (report/common.js, report/KIND.js) put in. KIND: scan (curves of threshold-scan), bench (bench-results.json),
           compositions (of run-batch-compositions), trace (of svmx trace; draws by itself, without Chart.js).

Figures are computed here and in svmx_scan.py, in Python; the page only shows them.

SPDX-License-Identifier: Apache-2.0
"""

import html
import json
import math
import os
import re
import sys

import svmx_scan as scan

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "report")
CHART_JS = ("/usr/share/javascript/chart.js/chart.min.js", "/usr/share/javascript/chart.js/Chart.min.js")


def add_chart_option(parser):
    parser.add_argument("--chart-js", metavar="FILE", help="Chart.js 3 to put in; default: that of libjs-chart.js")


def page(kind, title, data, chart_js=None, with_chart=True):
    """A page of this kind. Raises ScanError where Chart.js is not to be had."""
    # "<" would end the element that holds the data, if a device were called "</script>"
    pieces = {
        "title": html.escape(title),
        "style": _piece("page.css"),
        "chart": _piece("chart.html").rstrip("\n").replace("{{library}}", _chart(chart_js)) if with_chart else "",
        "data": json.dumps({"title": title, **data}, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        "body": _piece(f"{kind}.html"),
        "code": _piece("common.js") + _piece(f"{kind}.js"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: pieces[match[1]], _piece("page.html"))


def _piece(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def _chart(path):
    for candidate in (path,) if path else CHART_JS:
        try:
            with open(candidate, encoding="utf-8") as file:
                return file.read().replace("</script", "<\\/script")
        except OSError:
            continue
    raise scan.ScanError(
        f"{path or CHART_JS[0]}: not there; apt install libjs-chart.js, or name a Chart.js 3 with --chart-js"
    )


# ---- scans -----------------------------------------------------------------------------------------------------------


def scan_page(rows, title, chart_js=None):
    """A panel for each machine of these rows."""
    found = scan.machines(rows)
    number = {id(row): i for i, row in enumerate(rows)}
    places = {(machine.rows[0].host, machine.rows[0].machine_cpu): i for i, machine in enumerate(found)}
    columns = scan.columns_of(rows)
    data = {
        "columns": columns,
        "rows": [[row.texts.get(column, "") for column in columns] for row in rows],
        "machine_of": [places[row.host, row.machine_cpu] for row in rows],
        "unclear": [i for i, row in enumerate(rows) if row.unclear],
        "ops": list(dict.fromkeys(row.op for row in rows)),
        "units": {row.op: scan.unit_of(row.op) for row in rows},
        "machines": [_machine(name, machine, number) for name, machine in zip(scan.machine_names(found), found)],
    }
    return page("scan", title, data, chart_js)


def _machine(name, machine, number):
    return {
        "name": name,
        "cpu": machine.cpu,
        "cpu_lines": {
            op: [[size, times.median, times.p90, times.low] for size, times in machine.cpu_times(op).items()]
            for op in machine.ops
        },
        "lanes": [_lane(series, number) for series in machine.series if series.has_device],
    }


def _lane(series, number):
    return {
        "label": series.label,
        "backend": series.backend,
        "device": series.device,
        "driver": series.driver,
        "kind": series.kind,
        "ops": {
            op: {
                "rows": [number[id(row)] for row in rows if row.gpu],
                "crossover": scan.crossover(rows),
                "text": scan.crossover_text(rows),
            }
            for op, rows in series.ops.items()
        },
    }


# ---- benchmarks ------------------------------------------------------------------------------------------------------

FIELDS = ("suite", "case", "ours", "peer", "peer_name", "unit", "ratio", "ask", "ok", "note")


def read_bench(paths):
    """The rows of files as bench-results.json, checked. Raises ScanError."""
    return [row for path in paths for row in _read_bench_file(path)]


def _read_bench_file(path):
    try:
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)
    except OSError as error:
        raise scan.ScanError(f"{path}: {error.strerror}; make bench writes it") from None
    except ValueError as error:
        raise scan.ScanError(f"{path}: not JSON: {error}; make bench writes it anew") from None
    if not isinstance(rows, list) or not rows:
        raise scan.ScanError(f"{path}: no rows; make bench writes it")
    for i, row in enumerate(rows):
        _check_bench_row(f"{path}: row {i + 1}", row)
    return rows


def _check_bench_row(where, row):
    missing = [field for field in FIELDS[:-1] if not isinstance(row, dict) or field not in row]
    if missing:
        raise scan.ScanError(f"{where}: no {missing[0]}; is it a file of make bench?")
    for field in ("ours", "peer", "ratio"):
        if row[field] is not None and not (isinstance(row[field], (int, float)) and math.isfinite(row[field])):
            raise scan.ScanError(f"{where}: {field} is {row[field]!r}, which is no figure")


def verdict(row):
    """met, missed, skipped, or "" where nothing was asked for."""
    if row["ok"] is not None:
        return "met" if row["ok"] else "missed"
    return "skipped" if row["ask"] else ""


def margin(row):
    """How far an ask is met: 1 = just so, 2 = twice as good as asked for; None where there is nothing to say."""
    match = re.fullmatch(r"(ours|ratio) ([<>])= (\S+)", row["ask"] or "")
    if not match:
        return None
    figure, bound = row[match[1]], float(match[3])
    if figure is None or figure <= 0 or bound <= 0:
        return None
    return bound / figure if match[2] == "<" else figure / bound


def bench_page(rows, title, chart_js=None):
    machine = next((row["note"] for row in rows if row["suite"] == "run"), "")
    shown = [row for row in rows if row["suite"] != "run"]
    lines = [[row.get(field) for field in FIELDS] + [verdict(row), margin(row)] for row in shown]
    data = {
        "machine": machine,
        "columns": FIELDS + ("verdict", "margin"),
        "rows": lines,
        "suites": list(dict.fromkeys(row["suite"] for row in shown)),
    }
    return page("bench", title, data, chart_js)


# ---- traces ----------------------------------------------------------------------------------------------------------


def read_trace(path):
    """The lanes of a file of `svmx trace`, in its order: processes and threads with their names, and their events as
    [start in µs, how long in µs, name, what else is known]. Raises ScanError."""
    name = "standard input" if path == "-" else path
    lanes = {}
    try:
        for event in _trace_events(path):
            if event["ph"] == "M" and event["name"] in ("process_name", "thread_name"):
                lane = lanes.setdefault((event["pid"], event["tid"]), {"events": []})
                lane[event["name"].partition("_")[0]] = str(event["args"]["name"])
            elif event["ph"] == "X":
                lane = lanes.setdefault((event["pid"], event["tid"]), {"events": []})
                start, took = float(event["ts"]), float(event["dur"])
                if not (math.isfinite(start) and 0 <= took < math.inf):
                    raise ValueError(f"an event at {start} that takes {took}")
                lane["events"].append([start, took, str(event["name"]), event.get("args", {})])
    except OSError as error:
        raise scan.ScanError(f"{name}: {error.strerror}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise scan.ScanError(f"{name}: not a trace ({error}); svmx trace LOG --output {name} writes one") from None
    return _named_lanes(lanes)


def _trace_events(path):
    if path == "-":
        return json.loads(sys.stdin.buffer.read())["traceEvents"]
    with open(path, encoding="utf-8") as file:
        return json.load(file)["traceEvents"]


def _named_lanes(lanes):
    """The name of a process stands at its thread 0, which is no lane."""
    processes = {process: lane["process"] for (process, thread), lane in lanes.items() if "process" in lane}
    return [
        {
            "device": processes.get(process, f"process {process}"),
            "name": lane.get("thread", f"thread {thread}"),
            "events": sorted(lane["events"], key=lambda event: event[0]),
        }
        for (process, thread), lane in sorted(lanes.items(), key=lambda item: item[0])
        if lane["events"]
    ]


def trace_page(lanes, title):
    return page("trace", title, {"lanes": lanes}, with_chart=False)


# ---- batch compositions ----------------------------------------------------------------------------------------------


def compositions_page(found, ways, title, chart_js=None):
    """found: device -> composition -> way -> µs a task."""
    return page("compositions", title, {"devices": found, "ways": ways}, chart_js)
