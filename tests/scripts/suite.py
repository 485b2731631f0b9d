"""suite.py: what the Python suites of this folder share: running a script, and the count at the end.

A suite is unittest's; main() prints what failed and `N passed, N failed, N skipped`, a test each.

SPDX-License-Identifier: Apache-2.0
"""

import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
SRC = os.environ.get("SVMX_TEST_SRCDIR", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = os.environ.get("SVMX_TEST_BUILDDIR", "")
SCRIPTS = os.path.join(SRC, "scripts")
CHART_JS = "/usr/share/javascript/chart.js/chart.min.js"
sys.path.insert(0, SCRIPTS)


class Suite(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, name, text):
        with open(self.path(name), "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return self.path(name)

    def get(self, name):
        with open(self.path(name), encoding="utf-8", newline="") as file:
            return file.read()

    def run_script(self, name, *arguments, stdin="", status=0, env=None):
        """What a script says: (standard output, standard error). Its status must be the one named."""
        done = subprocess.run(
            [sys.executable, os.path.join(SCRIPTS, name), *arguments],
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            check=False,
            env={**os.environ, **(env or {})},
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def refuses(self, name, *arguments, said, stdin=""):
        """The script ends with status 1, prints nothing, and one line that has these words."""
        out, err = self.run_script(name, *arguments, stdin=stdin, status=1)
        self.assertEqual(out, "")
        self.assertEqual(err.count("\n"), 1, err)
        for words in said:
            self.assertIn(words, err)


class _Result(unittest.TextTestResult):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def main():
    runner = unittest.TextTestRunner(stream=sys.stdout, resultclass=_Result, verbosity=2)
    result = runner.run(unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    failed = len(result.failures) + len(result.errors)
    print(f"{result.passed} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(1 if failed else 0 if result.passed else 77)
