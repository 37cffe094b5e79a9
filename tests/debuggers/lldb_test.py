#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the command `weft` of lldb on processes and core files of debugged.cpp.

    lldb_test.py LLDB SCRIPTS PROGRAM STRIPPED

LLDB is empty where there is none; SCRIPTS is the folder of weft_lldb.py; STRIPPED is PROGRAM without symbols.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from processes import FIBERS, OBJECTS, CommandTests, at_rest, core_of, hanging, plain, python_of, run

FRAME = re.compile(r"^ +\*? *frame #\d+: 0x\w+ \S+?`(.*)$", re.M)


def lldb(first, commands):
    """Returns: what lldb prints for the commands, each with a line `(lldb) COMMAND` before it."""
    options = ["--no-lldbinit", "--batch", "--no-use-colors"]
    for command in [*first, "command script import %s/weft_lldb.py" % SCRIPTS, *commands, "version"]:
        options += ["-o", command]
    # lldb's Python writes compiled modules beside the scripts.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [LLDB, *options], capture_output=True, text=True, check=False, timeout=120, env=environment
    )
    if "attach failed: Operation not permitted" in done.stderr:
        raise unittest.SkipTest("lldb may not attach to a process: " + done.stderr.strip())
    # What goes wrong is on the other stream: it comes last.
    return done.stdout + done.stderr


def part(text, command):
    """Returns: what lldb has printed for a command."""
    return text.split("(lldb) %s\n" % command, 1)[1].split("\n(lldb) ", 1)[0].rstrip("\n") + "\n"


def functions(backtrace):
    """Returns: the functions of a backtrace, without their arguments."""
    lines = (re.sub(r"^.*\[inlined\] ", "", line) for line in FRAME.findall(backtrace))
    return [re.split(r"\(| at ", line)[0] for line in lines]


class LldbTest(CommandTests, unittest.TestCase):
    maxDiff = None
    part, functions = staticmethod(part), staticmethod(functions)

    def attached(self, *commands, program=None, arguments=()):
        with hanging(program or PROGRAM, *arguments) as process:
            return lldb(["attach -p %d" % process.pid], commands)

    def of_core(self, *commands, program=None):
        program = program or PROGRAM
        with tempfile.TemporaryDirectory() as folder:
            core = core_of(program, folder)
            return lldb(["target create %s --core %s" % (program, core)], commands)

    def check_backtrace(self, text, is_of_core=False):
        # The text is constant: a core file does not have it, and lldb does not look for it in the program.
        name = '"(depth)?"' if is_of_core else '"depth"'
        names = functions(text)
        self.assertIn("weft::v0_1::Event::State::wait", names)
        begin = names.index("debugged::waitDeep")
        self.assertEqual(names[begin : begin + 3], ["debugged::waitDeep"] * 3)
        self.assertEqual(names[-1], "weft_fiber_base")
        self.assertRegex(text, r"debugged::waitDeep\(depth=1, name=%s\) at debugged\.cpp:\d+" % name)

    def test_says_where_lldb_loses_frames(self):
        out = self.attached("weft bt 0:7", "weft bt 0:1", "weft fibers", arguments=["split"])
        lost = r"lldb has lost the frames beyond #\d+: the program `weft` shows .* by `weft bt \d+ 0:7`\.\n$"
        self.assertNotIn("lost", part(out, "weft bt 0:1"))
        split = part(out, "weft bt 0:7")
        if functions(split)[-1] == "weft_fiber_base":
            self.assertNotIn("lost", split)
            self.skipTest("lldb loses no frame: the compiler has not split the function, or lldb unwinds both parts")
        self.assertRegex(split, lost)

    def test_shows_a_fiber_until_another_thread_is_selected(self):
        frames = functions(part(self.attached("weft bt 0:1"), "weft bt 0:1"))
        select = "frame select %d" % frames.index("debugged::waitDeep")
        out = self.attached("weft switch 0:1", "bt", select, "frame variable local", "up",
                            "frame variable depth", "thread select 1", "thread backtrace")
        self.assertIn("name = 'fiber 0:1'", part(out, "bt"))
        self.check_backtrace(part(out, "bt"))
        self.assertIn('local = "depth-0"', part(out, "frame variable local"))
        self.assertIn("depth = 1\n", part(out, "frame variable depth"))
        self.assertIn("main", functions(part(out, "thread backtrace")))

    def test_shows_each_fiber_as_one_thread(self):
        out = self.attached("weft switch 0:1", "weft bt 0:2", "weft switch 0:1", "thread list")
        for name in ("0:1", "0:2"):
            self.assertEqual(part(out, "thread list").count("name = 'fiber %s'" % name), 1)

    def test_the_process_goes_on_without_the_threads_of_fibers(self):
        out = self.attached("weft switch 0:1", "breakpoint set -o true -n debugged::rest", "continue",
                            "thread list", "thread backtrace", "weft bt 0:1")
        self.assertNotIn("fiber", part(out, "thread list"))
        self.assertEqual(functions(part(out, "thread backtrace"))[:2], ["debugged::rest", "main"])
        self.check_backtrace(part(out, "weft bt 0:1"))

    def test_writes_no_register(self):
        out = self.attached("weft switch 0:1", "register write rbx 5")
        self.assertIn("Failed to write register 'rbx'", out)

    def test_prints_objects(self):
        commands = ["target variable debugged::objects->" + name for name in OBJECTS]
        out = at_rest(lambda: self.attached("weft workers", *commands), part)
        printed = [part(out, command).splitlines()[-1].split(" = ", 1)[1] for command in commands]
        self.assertEqual(printed, list(OBJECTS.values()))

    def test_leaves_another_plugin_alone(self):
        setting = "target.process.python-os-plugin-path"
        out = self.attached('settings set %s "%s"' % (setting, __file__), "weft bt 0:1")
        self.assertIn("weft: %s is in use" % setting, out)

    def test_reads_a_stripped_program(self):
        commands = ["weft workers", "weft fibers", "weft bt 0:1"]
        for answer in (self.attached, self.of_core):
            out = at_rest(lambda answer=answer: answer(*commands, program=STRIPPED), part)
            expected = re.sub(r"(LAMBDA|debugged::\w+)", "X", FIBERS)
            self.assertEqual(plain(part(out, "weft fibers")), expected)
            self.assertGreater(len(functions(part(out, "weft bt 0:1"))), 10)
            self.assertNotIn("lost", out)

    def test_says_what_is_missing(self):
        missing = "weft: there is no stopped process and no core file"
        self.assertIn(missing, lldb(["target create " + PROGRAM], ["weft fibers"]))
        with subprocess.Popen(["sleep", "60"]) as process:
            try:
                out = lldb(["attach -p %d" % process.pid], ["weft fibers"])
                self.assertIn("weft: this program has no weft, or one that is too old", out)
            finally:
                process.kill()


if __name__ == "__main__":
    LLDB, SCRIPTS, PROGRAM, STRIPPED = sys.argv[1:]
    SCRIPTS = str(pathlib.Path(SCRIPTS).resolve())
    run(python_of(LLDB, "--no-lldbinit", "--batch", "-o", "script print('has ' + 'Python')"))
