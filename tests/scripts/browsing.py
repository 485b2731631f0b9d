"""browsing.py: what suites of pages share: Chromium without a window, driven by Selenium (Debian: chromium, chromium-driver,
python3-selenium). Screenshots stay in tests/run/screenshots of the build folder, to be looked at.

SPDX-License-Identifier: Apache-2.0
"""

import os
import shutil
import tempfile

import suite

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select
except ImportError:
    webdriver = By = Select = None

SHOTS = os.path.join(suite.BUILD or tempfile.gettempdir(), "tests", "run", "screenshots")


def why_not(*more):
    """Why no page can be looked at here, or None. `more`: what else is needed, with whether it is there."""
    if os.environ.get("SVMX_TEST_NO_BROWSER"):
        return "not installed: (SVMX_TEST_NO_BROWSER is set)"
    needed = (
        ("python3-selenium", webdriver),
        ("chromium-driver", shutil.which("chromedriver")),
        ("chromium", shutil.which("chromium")),
        *more,
    )
    missing = [what for what, there in needed if not there]
    return f"not installed: {', '.join(missing)}" if missing else None


def start(folder, logs):
    options = webdriver.ChromeOptions()
    for argument in (
        "--headless=new",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1280,1000",
        "--hide-scrollbars",
        f"--user-data-dir={folder}/profile",
    ):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # it refuses to run as root otherwise
    options.add_experimental_option("prefs", {"download.default_directory": folder})
    options.set_capability("goog:loggingPrefs", {log: "ALL" for log in logs})
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


class Pages(suite.Suite):
    """One browser for all tests of a class."""

    LOGS = ("browser",)

    @classmethod
    def setUpClass(cls):
        cls.profile = tempfile.TemporaryDirectory()
        cls.browser = start(cls.profile.name, cls.LOGS)
        os.makedirs(SHOTS, exist_ok=True)

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.profile.cleanup()

    def js(self, code, *arguments):
        return self.browser.execute_script(code, *arguments)

    def complaints(self):
        """What is on the console, but what the browser thinks of how these suites look at pixels."""
        return [line["message"] for line in self.browser.get_log("browser") if "getImageData" not in line["message"]]

    def shot(self, name):
        """Of the whole page."""
        height = self.js("return document.documentElement.scrollHeight")
        width = self.js("return innerWidth")
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        self.browser.save_screenshot(os.path.join(SHOTS, f"{name}.png"))
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
