#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Has files made, and reads the picture of that: tiny_make_test.py TINY_MAKE [names of tests...]"""

import decimal
import json
import os
import subprocess
import sys
import tempfile
import unittest

LIMIT_SECONDS = 60
PROGRAM = os.path.realpath(sys.argv.pop(1))


class TinyMakeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text, time=None):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        if time is not None:
            os.utime(path, (time, time))

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def make(self, rules, at_a_time=4, picture="picture.json", workers=1):
        """Returns (status, the messages)."""
        self.write("rules", rules)
        done = subprocess.run([PROGRAM, "rules", picture, str(at_a_time)], cwd=self.folder, stderr=subprocess.PIPE, text=True,
                              timeout=LIMIT_SECONDS, check=False, env=dict(os.environ, WEFT_NUM_THREADS=str(workers)))
        return done.returncode, done.stderr

    def slices(self):
        """Returns: the name, begin and end of each command, in the order in which they began."""
        events = json.loads(self.read("picture.json"), parse_float=decimal.Decimal)["traceEvents"]
        scopes = [event for event in events if event["ph"] == "X" and event["cat"] == "scope"]
        return sorted(((event["name"], event["ts"], event["ts"] + event["dur"]) for event in scopes), key=lambda scope: scope[1])

    def test_what_has_changed_is_made_in_the_order_of_the_rules(self):
        rules = ("all: left right\n\tcat left right >all\nleft: base\n\tcat base >left\n\techo left >>left\n"
                 "right: base\n\tcat base >right\n\nbase: source\n\tcat source source >base\n")
        self.write("source", "s\n", 1)
        for workers in (1, 8):
            for name in ("all", "left", "right", "base"):
                self.write(name, "old", 0)
            self.assertEqual(self.make(rules, workers=workers), (0, ""))
            self.assertEqual(self.read("all"), "s\ns\nleft\ns\ns\n")
            slices = self.slices()
            self.assertEqual(sorted(name for name, _, _ in slices), ["all", "base", "left", "left", "right"])
            (first, _, base_ends), (last, all_begins, _) = slices[0], slices[-1]
            self.assertEqual((first, last), ("base", "all"))
            for _, begin, end in slices[1:-1]:
                self.assertTrue(base_ends <= begin and end <= all_begins, slices)
            self.assertEqual((self.make(rules), self.slices()), ((0, ""), []))  # nothing has changed
        os.utime(os.path.join(self.folder, "right"), (0, 0))
        self.assertEqual(self.make(rules), (0, ""))
        self.assertEqual([name for name, _, _ in self.slices()], ["right", "all"])

    def test_commands_run_at_the_same_time_as_far_as_allowed(self):
        """Each of two commands waits for the other one: a FIFO opens once it has both ends."""
        os.mkfifo(os.path.join(self.folder, "fifo"))
        self.assertEqual(self.make("reads:\n\tread line <fifo\nwrites:\n\techo line >fifo\n", 2), (0, ""))
        (_, _, end), (_, begin, _) = self.slices()
        self.assertLess(begin, end)
        count = 10
        self.assertEqual(self.make("".join("t%d:\n\ttouch t%d\n" % (i, i) for i in range(count)), 1, workers=4), (0, ""))
        slices = self.slices()
        self.assertEqual(len(slices), count)
        for (_, _, end), (_, begin, _) in zip(slices, slices[1:]):
            self.assertLessEqual(end, begin)

    def test_after_a_failure_no_command_begins(self):
        status, messages = self.make("bad:\n\tfalse # here\n\ttouch bad\nnext: bad\n\ttouch next\n")
        self.assertEqual((status, messages), (1, "tiny_make: this has failed: \tfalse # here\n"))
        self.assertFalse({"bad", "next"} & set(os.listdir(self.folder)))

    def test_what_is_missing_is_told(self):
        status, messages = self.make("target: none\n\ttouch target\n")
        self.assertEqual((status, os.path.exists(os.path.join(self.folder, "target"))), (0, True), messages)
        status, messages = self.make("target: none\n\ttouch target\n")  # how old is it?
        self.assertEqual(status, 1)
        self.assertRegex(messages, r'No such file or directory \["?none"?\]')

    def test_a_picture_for_perfetto_is_written(self):
        self.assertEqual(self.make("name-in-picture:\n\ttrue\n", picture="picture.pftrace")[0], 0)
        with open(os.path.join(self.folder, "picture.pftrace"), "rb") as file:
            self.assertIn(b"name-in-picture", file.read())


if __name__ == "__main__":
    unittest.main()
