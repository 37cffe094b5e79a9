# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the charts of docs/performance.md: python3 -m unittest page_charts_test"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import page_charts
import results as measured

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page_charts.py")


class PageChartsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.docs = os.path.join(folder.name, "docs")
        shutil.copytree(page_charts.DOCS, self.docs)

    def check(self):
        command = [sys.executable, SCRIPT, "--check", "--docs", self.docs]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def replace(self, name, old, new):
        path = os.path.join(self.docs, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertIn(old, text)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new, 1))

    def test_the_charts_and_tables_are_those_of_the_figures(self):
        self.assertEqual((self.check().returncode, self.check().stderr), (0, ""))

    def test_a_chart_that_was_edited_is_found(self):
        self.replace("charts/fib.svg", "OpenMP", "openmp")
        self.assertIn("docs/charts/fib.svg is not what", self.check().stdout)

    def test_a_table_that_was_edited_is_found(self):
        self.replace("performance.md", "| oneTBB | 37.9", "| oneTBB | 39.7")
        self.assertIn("docs/performance.md is not what", self.check().stdout)

    def test_a_number_of_the_text_that_was_edited_is_found(self):
        self.replace("performance.md", "OpenMP's 3,284 us", "OpenMP's 3,000 us")
        self.assertIn("says 3,000 where the figures say 3,284", self.check().stdout)

    def test_only_what_is_used_is_taken_and_later_runs_replace_earlier_ones(self):
        path = os.path.join(self.docs, "charts", "measured.json")
        other = measured.load(path)
        other.add(measured.Key("fib", "weft", "unused", 1), measured.Run({"ms": 1.0}, 0.0))
        key = measured.Key("fib", "weft", "join", 8)
        other.runs[key] = [measured.Run({"ms": 1.23456, "unused": 1.0}, 0.0)]
        later = os.path.join(self.docs, "later.json")
        other.save(later)
        taken = page_charts.keep_what_is_used(page_charts.take([path, later], "a day", "a compiler"))
        self.assertEqual(taken.runs.keys(), measured.load(path).runs.keys())
        self.assertEqual(taken.runs[key], [measured.Run({"ms": 1.235}, 0.0)])


if __name__ == "__main__":
    unittest.main()
