"""test_scan_fuzz.py: files that are almost scans: a good one with bytes, fields and lines changed, moved and left out. Reading
ends with rows or with a ScanError that names the file; whatever is read can be made a report of. The same rounds every time,
600 or SVMX_FUZZ_ROUNDS.

SPDX-License-Identifier: Apache-2.0
"""

import os
import random

import suite
import made_scan as made
import svmx_report as report
import svmx_scan as scan

WORDS = ["", "nan", "inf", "-1", "0", "1e308", "1e999", "0x10", '"', '""', ",", "\n", "\r\n", "\0", "\ufeff", "yes", "no", "é", " "]


def change(data, dice):
    at = dice.randrange(len(data) + 1)
    kind = dice.randrange(6)
    if kind == 0:
        return data[:at] + bytes([dice.randrange(256)]) + data[at + 1 :]
    if kind == 1:
        return data[:at] + dice.choice(WORDS).encode() + data[at:]
    if kind == 2:
        return data[:at] + data[at + dice.randrange(30) :]
    if kind == 3:
        fields = data.split(b",")
        fields[dice.randrange(len(fields))] = dice.choice(WORDS).encode()
        return b",".join(fields)
    if kind == 4:
        lines = data.split(b"\n")
        lines.insert(dice.randrange(len(lines)), dice.choice(lines))
        return b"\n".join(lines)
    return data[:at]


class Fuzzing(suite.Suite):
    def test_changed_scans_are_read_or_refused(self):
        dice = random.Random(20261117)
        good = made.text([made.row(size, size / 10, size / 30) for size in (1024, 4096, 16384)]).encode()
        taken = refused = 0
        for _ in range(int(os.environ.get("SVMX_FUZZ_ROUNDS", 600))):
            data = good
            for _ in range(1 + dice.randrange(3)):
                data = change(data, dice)
            path = self.put("scan.csv", "")
            with open(path, "wb") as file:
                file.write(data)
            try:
                rows = scan.read([path])
            except scan.ScanError as error:
                refused += 1
                self.assertIn("scan.csv", str(error))
                continue
            taken += 1
            for row in rows:
                self.assertTrue(row.size >= 0 and row.cpu.mean >= 0, data)
            self.assertIn("<html", report.scan_page(rows, "fuzzed").lower())
        self.assertTrue(taken > 0 and refused > 0, (taken, refused))


suite.main()
