"""test_metrics.py: `svmx serve` and libsvmx-metrics over HTTP: are the numbers those of what was run, who is answered and
who is not, what happens to those who are slow or many; and is Prometheus content with it?

promtool and Prometheus itself are Debian's (prometheus); without them their tests are skipped.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest
import urllib.parse
import urllib.request

import suite
import serving

MISSING = serving.missing()
CONTRIB = os.path.join(suite.SRC, "contrib")
PATHS = {
    "/": "text/html; charset=utf-8",
    "/metrics": "text/plain; version=0.0.4; charset=utf-8",
    "/stats.json": "application/json",
    "/curves.json": "application/json",
    "/receipts": "application/x-ndjson",
    "/fallbacks": "application/x-ndjson",
    "/healthz": "text/plain; charset=utf-8",
}


class Serving(suite.Suite):
    def serve(self, *arguments, **named):
        server = serving.Server(*arguments, **named)
        self.addCleanup(lambda: server.process.returncode is None and server.stop())
        return server


@unittest.skipIf(MISSING, MISSING)
class Answers(Serving):
    def test_paths(self):
        server = self.serve("--load", "20")
        for path, kind in PATHS.items():
            status, headers, text = server.ask(path)
            self.assertEqual((status, headers["Content-Type"]), (200, kind), path)
            self.assertEqual(headers["Cache-Control"], "no-store")
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            if kind == "application/json":
                json.loads(text)
        self.assertEqual(server.text("/healthz"), "ok\n")
        for path in ("/nothing", "/metrics/", "/../etc/passwd", "/%2e%2e/", "//"):
            self.assertEqual(server.ask(path)[0], 404, path)

    def test_the_numbers_are_those_of_what_was_run(self):
        server = self.serve("--load", "100", "--batches", "60", "--policy", "order")
        stats = server.wait_for_batches(60)
        receipts = [json.loads(line) for line in server.text("/receipts").splitlines()]
        found = serving.samples(server.text("/metrics"))
        self.assertEqual(stats["work"]["batches"], 60)
        self.assertEqual(found["svmx_batches_total", ()], 60)
        self.assertEqual(stats["work"]["receipts"], len(receipts))
        self.assertEqual({one["tag"] for one in receipts}, set(range(1, 61)), "the tag of a batch is on its receipts")
        self.assertEqual(stats["work"]["tasks"], sum(one["tasks"] for one in receipts))
        for op in stats["operations"]:
            for pair in op["devices"]:
                device = stats["devices"][pair["device"]]
                mine = [r for r in receipts if r["operation"] == op["name"] and r["device"] == pair["device"]]
                labels = (("device", device["id"]), ("operation", op["name"]))
                for field, metric in (
                    ("tasks", "svmx_tasks_total"),
                    ("launches", "svmx_launches_total"),
                    ("bytes_in", "svmx_input_bytes_total"),
                    ("bytes_out", "svmx_output_bytes_total"),
                ):
                    self.assertEqual(pair[field], sum(one[field] for one in mine), (op["name"], field))
                    self.assertEqual(found[metric, labels], pair[field], (op["name"], metric))
                self.assertEqual(pair["parts"], len(mine))
                self.assertEqual(sum(count for _, count in pair["latency_ns"]), len(mine))
                run_ns, wait_ns = (sum(one[field] for one in mine) for field in ("run_ns", "wait_ns"))
                self.assertEqual(pair["run_ns"] + pair["wait_ns"], run_ns + wait_ns)
                self.assertLessEqual(pair["run_ns"], run_ns, "behind others it waited")
                self.assertLessEqual(pair["busy_ns"], pair["run_ns"])
                self.assertAlmostEqual(
                    found["svmx_phase_seconds_total", tuple(sorted(labels + (("phase", "run"),)))], pair["run_ns"] / 1e9
                )
                self.assertEqual(found["svmx_latency_seconds_count", labels], len(mine))
            self.assertEqual(sum(count for _, count in op["sizes"]), sum(p["parts"] for p in op["devices"]))

    def test_a_histogram_grows_towards_its_count(self):
        server = self.serve("--load", "100", "--batches", "40")
        server.wait_for_batches(40)
        found = serving.samples(server.text("/metrics"))
        series = {}
        for (name, labels), value in found.items():
            if name == "svmx_latency_seconds_bucket":
                limit = dict(labels)["le"]
                rest = tuple(pair for pair in labels if pair[0] != "le")
                series.setdefault(rest, []).append((float(limit.replace("+Inf", "inf")), value))
        self.assertTrue(series)
        for labels, buckets in series.items():
            counts = [count for _, count in sorted(buckets)]
            self.assertEqual(counts, sorted(counts), labels)
            self.assertEqual(counts[-1], found["svmx_latency_seconds_count", labels])

    def test_get_and_head_only(self):
        server = self.serve("--load", "0")
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
            status, headers, _ = server.ask("/metrics", method, body="x" if method in ("POST", "PUT") else None)
            self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"), method)
        self.assertEqual(server.ask("/metrics")[0], 200)

    def test_head_is_get_without_a_body(self):
        server = self.serve("--load", "0")
        for path, kind in list(PATHS.items()) + [("/nothing", "text/plain; charset=utf-8")]:
            status, headers, _ = server.ask(path)
            head_status, head_headers, head_text = server.ask(path, "HEAD")
            self.assertEqual((head_status, head_text), (status, ""), path)
            self.assertEqual((head_headers["Content-Type"], headers["Content-Type"]), (kind, kind), path)
            self.assertEqual(head_headers["Cache-Control"], headers["Cache-Control"], path)
            self.assertGreaterEqual(int(head_headers["Content-Length"]), 0, path)
        page = server.ask("/")[2]
        self.assertEqual(int(server.ask("/", "HEAD")[1]["Content-Length"]), len(page.encode()), "it does not change")

        # http.client looks for no body behind a head
        with socket.create_connection((server.host, server.port), timeout=60) as connection:
            connection.sendall(b"HEAD /healthz HTTP/1.0\r\n\r\n")
            head = connection.makefile("rb").read()
        self.assertTrue(head.startswith(b"HTTP/1.") and head.endswith(b"\r\n\r\n"), head)

    def test_a_name_of_elsewhere_is_refused(self):
        """A page that has its own name lead to 127.0.0.1 must not read what is here."""
        server = self.serve("--load", "0")
        for host in ("localhost", f"localhost:{server.port}", server.address, "127.0.0.1", "[::1]:80"):
            self.assertEqual(server.ask("/stats.json", headers={"Host": host})[0], 200, host)
        for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "127.evil", "10.0.0.1"):
            self.assertEqual(server.ask("/stats.json", headers={"Host": host})[0], 403, host)

    def test_signals_end_it(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            server = self.serve("--load", "20")
            server.ask("/metrics")
            self.assertEqual(server.stop(number), 0)

    def test_ipv6(self):
        if not os.path.exists("/proc/net/if_inet6") or "0" * 31 + "1" not in open("/proc/net/if_inet6").read():
            self.skipTest("no IPv6 here")
        server = self.serve("--load", "0", address="[::1]:0")
        self.assertTrue(server.address.startswith("[::1]:"))
        self.assertEqual(server.text("/healthz"), "ok\n")


@unittest.skipIf(MISSING, MISSING)
class Addresses(Serving):
    def refused(self, status, words, *arguments):
        done = subprocess.run(
            [serving.COMMAND, "serve", "--load", "0", *arguments], capture_output=True, encoding="utf-8", check=False
        )
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_others_only_if_told(self):
        for address in ("0.0.0.0:0", "[::]:0", "10.1.2.3:0"):
            self.refused(2, "other machines reach it", "--address", address)
        server = self.serve("--load", "0", "--any-address", address="0.0.0.0:0")
        answer = urllib.request.urlopen(f"http://127.0.0.1:{server.port}/healthz")
        self.assertEqual(answer.read(), b"ok\n")

    def test_no_addresses(self):
        for address in ("", "x", "9469", "127.0.0.1", "127.0.0.1:", "127.0.0.1:1x", "host:1", "[::1]"):
            self.refused(2, "give IPv4:PORT", "--address", address)
        self.refused(2, "give IPv4:PORT", "--address", "1" * 500 + ":1")
        self.refused(2, "a port is 1 to 65535", "--address", "127.0.0.1:65536")

    def test_a_port_in_use(self):
        server = self.serve("--load", "0")
        self.refused(4, "cannot listen at", "--address", server.address)


@unittest.skipIf(MISSING, MISSING)
class Crowds(Serving):
    def sockets_of(self, server):
        folder = f"/proc/{server.process.pid}/fd"
        return sum(os.readlink(os.path.join(folder, name)).startswith("socket:") for name in os.listdir(folder))

    def connect(self, server):
        connection = socket.create_connection((server.host, server.port), timeout=60)
        self.addCleanup(connection.close)
        return connection

    def test_connections_are_bounded(self):
        server = self.serve("--load", "0")
        own = self.sockets_of(server)
        crowd = [self.connect(server) for _ in range(50)]
        late = self.connect(server)
        late.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        for _ in range(20):
            self.assertLessEqual(self.sockets_of(server) - own, 32)
            time.sleep(0.02)
        for connection in crowd:
            connection.close()
        self.assertIn(b"200 OK", late.recv(4096), "and who waited is answered when others leave")

    def test_who_is_slow_is_cut_off(self):
        """A byte now and then is not silence, and still comes to an end; meanwhile others are answered."""
        server = self.serve("--load", "0")
        slow = self.connect(server)
        slow.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ")
        cut = False
        for _ in range(300):
            try:
                slow.sendall(b"x")
                slow.settimeout(0.2)
                cut = slow.recv(1024) == b""
            except socket.timeout:
                pass
            except OSError:
                cut = True
            if cut:
                break
            self.assertEqual(server.ask("/healthz")[0], 200)
        self.assertTrue(cut)

    def test_who_does_not_read_is_cut_off(self):
        server = self.serve("--load", "0")
        own = self.sockets_of(server)
        for _ in range(8):
            deaf = socket.socket()
            self.addCleanup(deaf.close)
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect((server.host, server.port))
            deaf.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
        for _ in range(600):
            if self.sockets_of(server) == own:
                break
            time.sleep(0.1)
        self.assertEqual(self.sockets_of(server), own)
        self.assertEqual(server.text("/healthz"), "ok\n")

    def test_nonsense(self):
        server = self.serve("--load", "0")
        for sent in (
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
            b"GET\r\n\r\n",
            b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 50000,
            b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
            b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello",
            os.urandom(5000),
        ):
            connection = self.connect(server)
            try:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass
            except OSError:
                pass
            connection.close()
            self.assertEqual(server.text("/healthz"), "ok\n")

    def test_many_at_once_while_it_works(self):
        server = self.serve("--load", "50")
        wrong = []

        def ask():
            before = 0
            for i in range(40):
                path = list(PATHS)[i % len(PATHS)]
                status, _, text = server.ask(path)
                if status != 200:
                    wrong.append((path, status))
                if path == "/stats.json":
                    batches = json.loads(text)["work"]["batches"]
                    if batches < before:
                        wrong.append(f"{batches} batches after {before}")
                    before = batches

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(server.stop(), 0)


@unittest.skipIf(MISSING, MISSING)
@unittest.skipUnless(shutil.which("promtool"), "promtool is not there (Debian: prometheus)")
class Promtool(Serving):
    def promtool(self, *arguments, stdin=""):
        done = subprocess.run(
            ["promtool", *arguments], input=stdin, capture_output=True, encoding="utf-8", check=False
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_metrics(self):
        server = self.serve("--load", "100", "--batches", "30")
        server.wait_for_batches(30)
        self.assertEqual(self.promtool("check", "metrics", stdin=server.text("/metrics")), "")

    def test_alerts(self):
        folder = os.path.join(CONTRIB, "prometheus")
        self.assertIn("13 rules found", self.promtool("check", "rules", os.path.join(folder, "svmx-alerts.yml")))
        self.assertIn("SUCCESS", self.promtool("test", "rules", os.path.join(folder, "svmx-alerts.test.yml")))
        self.assertIn("is valid", self.promtool("check", "config", os.path.join(folder, "prometheus.yml")))


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@unittest.skipIf(MISSING, MISSING)
@unittest.skipUnless(shutil.which("prometheus"), "prometheus is not there (Debian: prometheus)")
class Scraped(Serving):
    def start_prometheus(self, target):
        port = free_port()
        config = self.put(
            "prometheus.yml",
            "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
            f"rule_files: [{json.dumps(os.path.join(CONTRIB, 'prometheus', 'svmx-alerts.yml'))}]\n"
            f"scrape_configs: [{{job_name: svmx, static_configs: [{{targets: [{json.dumps(target)}]}}]}}]\n",
        )
        with open(self.path("prometheus.log"), "w", encoding="utf-8") as log:
            process = subprocess.Popen(
                [
                    "prometheus",
                    f"--config.file={config}",
                    f"--storage.tsdb.path={self.path('data')}",
                    f"--web.listen-address=127.0.0.1:{port}",
                ],
                stdout=log,
                stderr=log,
            )
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        self.prometheus, self.url = process, f"http://127.0.0.1:{port}/api/v1/"

    def api(self, path):
        """What it answers; None while it does not yet."""
        self.assertIsNone(self.prometheus.poll(), self.get("prometheus.log"))
        try:
            with urllib.request.urlopen(self.url + path) as answer:
                return json.load(answer)["data"]
        except OSError:
            return None

    def query(self, words):
        data = self.api("query?" + urllib.parse.urlencode({"query": words}))
        return data["result"] if data else []

    def wait_for(self, what):
        for _ in range(1200):
            found = what()
            if found:
                return found
            time.sleep(0.1)
        self.fail("Prometheus never had it: " + self.get("prometheus.log"))

    def test_a_real_prometheus(self):
        server = self.serve("--load", "100", "--batches", "50")
        stats = server.wait_for_batches(50)
        self.start_prometheus(server.address)
        result = self.wait_for(lambda: self.query("svmx_batches_total"))
        self.assertEqual(result[0]["value"][1], "50")
        self.assertEqual(self.query('up{job="svmx"}')[0]["value"][1], "1")
        tasks = {(one["metric"]["operation"], one["metric"]["device"]): one["value"][1] for one in self.query("svmx_tasks_total")}
        wanted = {
            (op["name"], stats["devices"][pair["device"]]["id"]): str(pair["tasks"])
            for op in stats["operations"]
            for pair in op["devices"]
        }
        self.assertEqual(tasks, wanted)
        quantile = "histogram_quantile(0.99, sum by (le) (svmx_latency_seconds_bucket))"
        self.assertGreater(float(self.query(quantile)[0]["value"][1]), 0)
        rules = self.wait_for(lambda: self.api("rules")["groups"])
        self.assertTrue(all(rule["health"] in ("ok", "unknown") for group in rules for rule in group["rules"]))
        self.assertGreaterEqual(sum(len(group["rules"]) for group in rules), 11)
        self.grafana()
        targets = self.api("targets")["activeTargets"]
        self.assertEqual([target["health"] for target in targets], ["up"], targets)

    def grafana(self):
        """Every query of the dashboard is one, and asks for metrics that there are."""
        with open(os.path.join(CONTRIB, "grafana", "svmx.json"), encoding="utf-8") as file:
            panels = json.load(file)["panels"]
        there = set(self.api("label/__name__/values"))
        for panel in panels:
            for target in panel["targets"]:
                words = target["expr"]
                for variable, value in (("$__rate_interval", "1m"), ("$instance", ".*"), ("$operation", ".*")):
                    words = words.replace(variable, value)
                self.assertNotIn("$", words)
                self.assertEqual(set(re.findall(r"svmx_\w+", words)) - there, set(), panel["title"])
                data = self.api("query?" + urllib.parse.urlencode({"query": words}))
                self.assertIsNotNone(data, words)


suite.main()
