"""serving.py: what the suites of libsvmx-metrics share: a `svmx serve` of their own, and questions to it.

SPDX-License-Identifier: Apache-2.0
"""

import http.client
import json
import os
import signal
import subprocess
import time

COMMAND = os.environ.get("SVMX_TEST_COMMAND", "svmx")


def missing():
    """Why there is no server here, or None. Asked of the command itself: it knows how it was built."""
    done = subprocess.run(
        [COMMAND, "serve", "--address", "nowhere"], capture_output=True, encoding="utf-8", check=False
    )
    return None if done.returncode == 2 else done.stderr.strip()


class Server:
    """A server at a free port."""

    def __init__(self, *arguments, address="127.0.0.1:0", env=None):
        self.process = subprocess.Popen(
            [COMMAND, "serve", "--json", "--address", address, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, **(env or {})},
        )
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(self.process.stderr.read())
        self.address = json.loads(line)["address"]
        self.host, _, port = self.address.rpartition(":")
        self.port = int(port)

    def ask(self, path, method="GET", headers=None, body=None):
        """(status, headers, text)."""
        connection = http.client.HTTPConnection(self.host.strip("[]"), self.port, timeout=60)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode("utf-8")
        finally:
            connection.close()

    def text(self, path):
        status, _, text = self.ask(path)
        if status != 200:
            raise RuntimeError(f"{path}: {status}: {text}")
        return text

    def stats(self):
        return json.loads(self.text("/stats.json"))

    def wait_for_batches(self, count):
        """Until so many are done, and until a text made before that has had its moment."""
        while self.stats()["work"]["batches"] < count:
            if self.process.poll() is not None:
                raise RuntimeError(self.process.stderr.read())
            time.sleep(0.05)
        time.sleep(0.3)
        return self.stats()

    def stop(self, number=signal.SIGTERM):
        """Its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()
        return status


def samples(text):
    """{(name, labels as a sorted tuple): value} of the text format of Prometheus."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, _, value = line.rpartition(" ")
        name, _, labels = name.partition("{")
        pairs = [pair.split("=", 1) for pair in labels.rstrip("}").split('",')] if labels else []
        found[name, tuple(sorted((key, value.strip('"')) for key, value in pairs))] = float(value)
    return found
