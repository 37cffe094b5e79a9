#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests `weft symbolize` on reports of programs with and without debug information.

    symbolize_test.py WEFT DEBUG OPTIMIZED FIXED NAMES STRIPPED

The programs are builds of blocked.cpp: -O0 -g, -O2 -g, -O2 -g without PIE, without -g, and stripped.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

LAMBDA = r"main::(?:\{lambda\(\)#1\}|\$_\d+)"  # gcc's name, and clang's
SOURCE = pathlib.Path(__file__).with_name("blocked.cpp")


def lineOf(mark):
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith("// line: " + mark))


def isClang():
    return "main::$_" in symbolize(report(DEBUG)).stdout


def report(program, *arguments):
    return subprocess.run([program, *arguments], stderr=subprocess.PIPE, text=True, check=False).stderr


def symbolize(text, *options, **how):
    return subprocess.run([WEFT, "symbolize", *options], input=text, capture_output=True, text=True,
                          check=False, **how)


class SymbolizeTest(unittest.TestCase):
    def explain(self, text, *options, **how):
        done = symbolize(text, *options, **how)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_tasks_code_is_the_line_of_its_lambda(self):
        for program in (DEBUG, OPTIMIZED, FIXED):
            out = self.explain(report(program))
            lines = (lineOf("of the task") - 1, lineOf("of the task"))
            self.assertRegex(out, r"task [^\n]+ \(%s\+0x\w+\)(?: %s)? \S*blocked\.cpp:(%d|%d)"
                             % (pathlib.Path(program).name, LAMBDA, *lines), program)

    def test_a_place_in_a_sentence_is_the_users_line(self):
        # Of what clang inlines, binutils 2.40 knows the innermost line alone.
        for program in (DEBUG,) if isClang() else (DEBUG, OPTIMIZED, FIXED):
            out = self.explain(report(program, "misuse"), "--binary", program)
            self.assertRegex(out, r"\bmain \S*blocked\.cpp:%d\b" % lineOf("of the misuse"), program)
            self.assertNotIn("inlined into", out)
            headline = re.search(r"^1 fiber waits.*", self.explain(report(program)), re.M).group(0)
            self.assertRegex(headline, r", in main::.*\+0x\w+\) \S*blocked\.cpp:%d: worker 0"
                             % lineOf("of the wait"), program)

    def test_a_call_of_a_list_has_what_it_is_inlined_into(self):
        if isClang():
            self.skipTest("binutils 2.40 does not know what clang inlines")
        self.assertRegex(self.explain(report(OPTIMIZED)),
                         r"\n    main::.*\) weft::Event::wait\(\) const \S*weft/event\.h:\d+"
                         r"\n        inlined into operator\(\) \S*blocked\.cpp:%d\n" % lineOf("of the wait"))

    def test_a_place_in_parentheses_is_explained(self):
        offset = int(re.search(r"task [^\n]+\+0x(\w+)\)", report(DEBUG)).group(1), 16)
        name = pathlib.Path(DEBUG).name
        out = self.explain("    #1 0x55 name+0x12 (%s+0x%x)\n" % (name, offset), "--binary", DEBUG)
        self.assertRegex(out, r"^    #1 0x55 name\+0x12 \(%s\+0x%x\) %s \S*task_node\.h:\d+\n$"
                         % (name, offset, LAMBDA))
        out = self.explain("  task: 0x55 name+0x0 (%s+0x%x)\n" % (name, offset), "--binary", DEBUG)
        self.assertRegex(out, r"\) " + LAMBDA + r" \S*blocked\.cpp:\d+\n$")

    def test_a_tasks_code_is_found_without_a_word_before_it(self):
        for program in (DEBUG, OPTIMIZED, FIXED):
            place = re.search(r"task [^\n]+ (\(\w+\+0x\w+\))", report(program)).group(1)
            name = r"%s(?: %s)? \S*blocked\.cpp:\d+" % (re.escape(place), LAMBDA)
            out = self.explain("worker 0  1  waits  4.1 s  Event 0x55  %s\n" % place, "--binary", program)
            self.assertRegex(out, name + "\n$", program)
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, "a.json")
                subprocess.run([program], stderr=subprocess.DEVNULL, check=True,
                               env={**os.environ, "WEFT_TRACE": str(file)})
                picture = json.loads(self.explain("", "--binary", program, str(file)))
            names = [event["name"] for event in picture["traceEvents"] if "name" in event]
            self.assertTrue([each for each in names if re.search(name + "$", each)], names)

    def test_what_stands_in_a_json_string_is_escaped(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = pathlib.Path(folder, "addr2line")
            fake.write_text("#!%s\nimport sys\nfor line in iter(sys.stdin.readline, ''):\n"
                            "    print(line.strip(), 'f', '/a\"b.cpp:1', sep='\\n', flush=True)\n"
                            % sys.executable, encoding="utf-8")
            fake.chmod(0o755)
            name = "f (%s+0x1000)" % pathlib.Path(DEBUG).name
            out = self.explain(json.dumps({"name": name}), "--binary", DEBUG, env={"PATH": folder})
        self.assertEqual(json.loads(out)["name"], name + ' /a"b.cpp:1')

    def test_addresses_of_a_program_without_pie_count_from_its_begin_or_from_0(self):
        offset = int(re.search(r"task [^\n]+\+0x(\w+)\)", report(FIXED)).group(1), 16)
        for base in (0, 0x400000):
            text = "task (%s+0x%x)\n" % (pathlib.Path(FIXED).name, offset - base)
            out = self.explain(text, "--binary", FIXED)
            self.assertRegex(out, r"\) " + LAMBDA + r" \S*blocked\.cpp:\d+\n$")

    def test_files_are_found_in_the_current_folder_in_path_and_by_a_process(self):
        text = report(DEBUG, "misuse")
        folder = os.path.dirname(DEBUG)
        found = r"\bmain \S*blocked\.cpp:\d+"
        self.assertRegex(self.explain(text, cwd=folder), found)
        with tempfile.TemporaryDirectory() as elsewhere:
            self.assertNotRegex(symbolize(text, cwd=elsewhere).stdout, found)
            path = folder + ":" + os.environ["PATH"]
            self.assertRegex(self.explain(text, cwd=elsewhere, env={**os.environ, "PATH": path}), found)
            with subprocess.Popen([DEBUG, "wait"], stdin=subprocess.PIPE) as process:
                self.assertRegex(self.explain(text, "--pid", str(process.pid), cwd=elsewhere), found)
                process.stdin.close()

    def test_without_debug_information_names_are_told(self):
        done = symbolize(report(NAMES), "--binary", NAMES)
        self.assertRegex(done.stdout, r"task " + LAMBDA + r" \(\w+\+0x\w+\)")
        self.assertIn("has no line numbers: compile it with -g", done.stderr)

    def test_a_place_without_a_line_is_no_reason_to_ask_for_g(self):
        offset = int(re.search(r"\b(\w+) T _start\n", subprocess.run(
            ["nm", DEBUG], capture_output=True, text=True, check=True).stdout).group(1), 16)
        start = "    (%s+0x%x)\n" % (pathlib.Path(DEBUG).name, offset)
        done = symbolize(start + report(DEBUG), "--binary", DEBUG)
        self.assertIn(start.rstrip() + " _start\n", done.stdout)
        self.assertEqual(done.stderr, "")
        self.assertIn("has no line numbers", symbolize(start, "--binary", DEBUG).stderr)

    def test_a_stripped_program_leaves_the_text_as_it_is(self):
        text = report(STRIPPED)
        done = symbolize(text, "--binary", STRIPPED)
        self.assertEqual(done.stdout, text)
        self.assertIn("has no line numbers", done.stderr)

    def test_text_that_names_no_place_passes_unchanged(self):
        text = "serve+0x12\n(+0x3)\n+0x\n)+0x1)\n(a+0x)\nx+0xfffffffffffffffff (y+0x10000000000000000)\n\nend"
        done = symbolize(text)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, text, ""))

    def test_a_line_passes_as_soon_as_it_has_come(self):
        line = re.search(r".*task.*\n", report(DEBUG)).group(0)
        with subprocess.Popen([WEFT, "symbolize"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              bufsize=1) as process:
            for _ in range(3):
                process.stdin.write(line)
                self.assertIn("blocked.cpp:", process.stdout.readline())
            process.stdin.close()

    def test_a_closed_pipe_ends_it_quietly(self):
        text = report(DEBUG)
        with subprocess.Popen([WEFT, "symbolize", "--binary", DEBUG], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            process.stdout.close()
            process.stdin.write(text)
            process.stdin.close()
            self.assertEqual(process.stderr.read(), "")
        self.assertEqual(process.returncode, -signal.SIGPIPE)

    def test_without_addr2line_the_text_passes_and_a_sentence_names_binutils(self):
        text = report(DEBUG)
        with tempfile.TemporaryDirectory() as empty:
            done = symbolize(text, "--binary", DEBUG, env={"PATH": empty})
        self.assertEqual((done.returncode, done.stdout), (1, text))
        self.assertRegex(done.stderr, r"^weft: there is no addr2line, .* install binutils .*\n$")

    def test_errors_are_one_sentence(self):
        for status, message, arguments in (
                (1, "there is no process 2147483647", ["symbolize", "--pid", "2147483647"]),
                (1, "is no program or shared library", ["symbolize", "--binary", str(SOURCE)]),
                (1, "cannot be opened: No such file", ["symbolize", "/nowhere/at/all"]),
                (2, "needs a value", ["symbolize", "--binary"]),
                (2, "needs the number of a process", ["symbolize", "--pid", "x"]),
                (2, "has no option --what", ["symbolize", "--what"]),
                (2, "there is no command \"what\"", ["what"]),
                (2, "there is no command \"what\"", ["help", "what"]),
                (2, "a command is missing", [])):
            done = subprocess.run([WEFT, *arguments], capture_output=True, text=True, check=False,
                                  stdin=subprocess.DEVNULL)
            self.assertEqual((done.returncode, done.stdout), (status, ""), arguments)
            self.assertRegex(done.stderr, r"^weft: .*" + message + r".*\n$")

    def test_help_and_version(self):
        for arguments in (["help"], ["--help"], ["help", "symbolize"], ["symbolize", "--help"]):
            out = subprocess.run([WEFT, *arguments], capture_output=True, text=True, check=True).stdout
            self.assertTrue(out.startswith("usage: weft "))
            self.assertLess(out.count("\n"), 25)
        out = subprocess.run([WEFT, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(out, r"^weft \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    WEFT, DEBUG, OPTIMIZED, FIXED, NAMES, STRIPPED = map(os.path.abspath, sys.argv[1:])
    unittest.main(argv=sys.argv[:1])
