#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the command `weft` of gdb on processes and core files of debugged.cpp.

    gdb_test.py GDB SCRIPTS PROGRAM STRIPPED

GDB is empty where there is none; SCRIPTS is the folder of weft-gdb.py; STRIPPED is PROGRAM without symbols.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from processes import FIBERS, OBJECTS, CommandTests, at_rest, core_of, hanging, plain, python_of, run


def gdb(arguments, commands):
    """Returns: what gdb prints for the commands, each with a line `> COMMAND` before it."""
    options = ["-batch", "-nx", "-q", "-iex", "set auto-load off", *arguments]
    for command in ["set width 0", "source %s/weft-gdb.py" % SCRIPTS, *commands]:
        options += ["-ex", "echo \\n> %s\\n" % command, "-ex", command]
    options += ["-ex", "echo \\n> end\\n"]
    done = subprocess.run([GDB, *options], capture_output=True, text=True, check=False, timeout=120)
    if "ptrace: Operation not permitted" in done.stderr:
        raise unittest.SkipTest("the process may not attach to another one")
    # What goes wrong is on the other stream: it comes last.
    return done.stdout + done.stderr


def part(text, command):
    """Returns: what gdb has printed for a command."""
    return text.split("> %s\n" % command, 1)[1].split("\n> ", 1)[0].rstrip("\n") + "\n"


def functions(backtrace):
    """Returns: the names of the functions of a backtrace."""
    return re.findall(r"^#\d+ +(?:0x\w+ in )?(\S+) \(", backtrace, re.M)


class GdbTest(CommandTests, unittest.TestCase):
    maxDiff = None
    part, functions = staticmethod(part), staticmethod(functions)

    def attached(self, *commands, program=None, arguments=()):
        with hanging(program or PROGRAM, *arguments) as process:
            return gdb(["-p", str(process.pid)], commands)

    def of_core(self, *commands, program=None):
        program = program or PROGRAM
        with tempfile.TemporaryDirectory() as folder:
            return gdb([program, core_of(program, folder)], commands)

    def check_backtrace(self, text, is_of_core=False):
        names = functions(text)
        deep = ["debugged::waitDeep"] * 3
        # clang's line tables have functions without their classes.
        self.assertTrue({"weft::v0_1::Event::State::wait", "wait"} & set(names), names)
        begin = names.index("debugged::waitDeep")
        self.assertEqual(names[begin : begin + 3], deep)
        self.assertEqual(names[-1], "weft_fiber_base")
        self.assertRegex(text, r"(?m)^#1 ")
        self.assertNotRegex(text, r"(?m)^#0 ")
        self.assertRegex(text, r'debugged::waitDeep \(depth=1, name=0x\w+ "depth"\) at \S*debugged\.cpp:\d+')

    def test_shows_a_fiber_until_told_otherwise(self):
        out = self.attached("weft switch 0:1", "bt", "frame function debugged::waitDeep", "info locals", "up",
                            "info args", "thread 2", "bt 1", "thread 1", "bt 2", "weft switch", "bt -1")
        self.check_backtrace(part(out, "bt"))
        self.assertIn("depth-0", part(out, "info locals"))
        self.assertIn("depth = 1\n", part(out, "info args"))
        self.assertRegex(part(out, "bt 1"), "(?m)^#0 ")  # another thread
        self.assertRegex(part(out, "bt 2"), "^#1 .*switchTo")  # the first one shows the fiber again
        self.assertEqual(functions(part(out, "bt -1")), ["main"])

    def test_the_process_goes_on_as_its_thread(self):
        out = self.attached("weft switch 0:1", "tbreak debugged::rest", "continue", "bt")
        self.assertEqual(functions(part(out, "bt")), ["debugged::rest", "main"])

    def test_prints_objects(self):
        commands = ["output debugged::objects->" + name for name in OBJECTS]
        out = at_rest(lambda: self.attached("weft workers", *commands), part)
        printed = [part(out, command).splitlines()[0] for command in commands]
        self.assertEqual(printed, list(OBJECTS.values()))

    def test_finds_a_fiber_by_its_address(self):
        with hanging(PROGRAM) as process:
            where = ["-p", str(process.pid)]
            address = re.search(r"0:1 \((0x\w+)\)", gdb(where, ["weft bt 1"])).group(1)
            self.check_backtrace(part(gdb(where, ["weft bt " + address]), "weft bt " + address))

    def test_reads_a_core_file_of_gcore(self):
        def answer():
            with tempfile.TemporaryDirectory() as folder:
                self.attached("generate-core-file %s/core" % folder)
                return gdb([PROGRAM, folder + "/core"], ["weft fibers", "weft workers", "weft bt 0:1"])

        out = at_rest(answer, part)
        self.assertEqual(plain(part(out, "weft fibers")), FIBERS)
        # gdb leaves out what lies behind a guard that it cannot read.
        if "weft: the stack of fiber 0:1 is not in the core file" not in out:
            self.check_backtrace(part(out, "weft bt 0:1"))

    def test_reads_a_stripped_program(self):
        commands = ["weft workers", "weft fibers", "weft bt 0:1"]
        for answer in (self.attached, self.of_core):
            out = at_rest(lambda answer=answer: answer(*commands, program=STRIPPED), part)
            expected = re.sub(r"(LAMBDA|debugged::\w+)", "X", FIBERS)
            self.assertEqual(plain(part(out, "weft fibers")), expected)
            self.assertGreater(len(functions(part(out, "weft bt 0:1"))), 10)

    def test_says_what_is_missing(self):
        for command in ("weft fibers", "weft bt 1", "weft switch 1", "weft switch"):
            out = gdb([PROGRAM], [command])
            self.assertIn("weft: there is no process and no core file", out, command)
            self.assertNotIn("Python Exception", out, command)
        with subprocess.Popen(["sleep", "60"]) as process:
            try:
                out = gdb(["-p", str(process.pid)], ["weft fibers"])
                self.assertIn("weft: this program has no weft, or one that is too old", out)
            finally:
                process.kill()


if __name__ == "__main__":
    GDB, SCRIPTS, PROGRAM, STRIPPED = sys.argv[1:]
    SCRIPTS = str(pathlib.Path(SCRIPTS).resolve())
    run(python_of(GDB, "-batch", "-nx", "-ex", "python print('has ' + 'Python')"))
