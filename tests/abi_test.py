#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs abi.py on small libraries that differ in one thing: abi_test.py [COMPILER]"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

SCRIPT = pathlib.Path(__file__).resolve().parent / "abi.py"
COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 else "g++"
HEADER = """#pragma once
namespace weft {
struct Plain { int first; };
struct Apart { int only; };
class Inner;
int measure(const Plain& plain);
int count(Inner* inner);
int last();
extern int level;
}
"""
LAST = "int last() { Apart apart{1}; return apart.only; }"
SOURCE = """#include "plain.h"
namespace weft {
class Inner { public: int size; };
int measure(const Plain& plain) { return plain.first; }
int count(Inner* inner) { return inner->size; }
%s
int level = 1;
}
""" % LAST


class AbiTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.old = self.make("old", HEADER, SOURCE)

    def make(self, name, header, source, soname="libweft.so.0.1"):
        folder = self.folder / name
        (folder / "include").mkdir(parents=True)
        (folder / "include/plain.h").write_text(header, encoding="utf-8")
        (folder / "plain.cpp").write_text(source, encoding="utf-8")
        subprocess.run([COMPILER, "-g", "-fPIC", "-shared", "-I", folder / "include", "-Wl,-soname," + soname,
                        "-o", folder / "libweft.so", folder / "plain.cpp"], check=True)
        return folder

    def expect(self, status, told, new, *options):
        done = subprocess.run([sys.executable, SCRIPT, "--folders", self.old, new, *options],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertRegex(done.stdout + done.stderr, told)
        return done.stdout

    def test_what_is_the_same_stays(self):
        self.expect(0, r"0 removed, 0 changed, 0 added\n.*SOVERSION stays", self.make("new", HEADER, SOURCE))

    def test_what_is_added_may_stay(self):
        new = self.make("new", HEADER, SOURCE.replace("int last()", "int more() { return 2; }\nint last()"))
        self.expect(0, r"0 removed, 0 changed, 1 added\n.*SOVERSION may stay", new)

    def test_a_function_that_is_gone_must_move(self):
        new = self.make("new", HEADER.replace("int last();", ""), SOURCE.replace(LAST, ""))
        self.expect(1, r"1 removed, 0 changed, 0 added\n.*weft::last(.|\n)*SOVERSION MUST MOVE", new)

    def test_a_class_that_the_library_ceases_to_use_stays(self):
        new = self.make("new", HEADER, SOURCE.replace(LAST, "int last() { return 1; }"))
        self.expect(0, r"0 removed, 0 changed, 0 added\n.*SOVERSION stays", new)

    def test_a_variable_that_is_gone_must_move(self):
        new = self.make("new", HEADER.replace("extern int level;", ""), SOURCE.replace("int level = 1;", ""))
        self.expect(1, r"1 removed(.|\n)*level(.|\n)*SOVERSION MUST MOVE", new)

    def test_a_member_of_a_public_class_must_move(self):
        new = self.make("new", HEADER.replace("int first;", "int first; int second;"), SOURCE)
        self.expect(1, r"0 removed, [12] changed(.|\n)*Plain(.|\n)*SOVERSION MUST MOVE", new)

    def test_a_member_of_a_public_class_that_no_function_takes_must_move(self):
        new = self.make("new", HEADER.replace("int only;", "int only; int second;"), SOURCE)
        self.expect(1, r"0 removed, 1 changed(.|\n)*Apart(.|\n)*SOVERSION MUST MOVE", new)

    def test_a_member_of_an_inner_class_stays(self):
        new = self.make("new", HEADER, SOURCE.replace("int size;", "long first; int size;"))
        self.expect(0, "SOVERSION stays", new)

    def test_where_soversion_has_moved_all_may_change(self):
        header = HEADER.replace("int first;", "int first; int second;")
        new = self.make("new", header, SOURCE, "libweft.so.0.2")
        self.expect(0, r"SOVERSION has moved, from libweft.so.0.1 to libweft.so.0.2", new)

    def test_a_library_that_is_gone_is_told(self):
        new = self.make("new", HEADER, SOURCE)
        (new / "libweft.so").rename(new / "libother.so")
        self.expect(1, r"libweft.so is gone(.|\n)*libother.so is new", new)

    def test_details_are_those_of_abidiff(self):
        new = self.make("new", HEADER.replace("int first;", "int first; int second;"), SOURCE)
        self.assertIn("1 data member insertion", self.expect(1, "SOVERSION MUST MOVE", new, "--details"))

    def test_what_cannot_be_compared_is_no_verdict(self):
        new = self.make("new", HEADER, SOURCE)
        (new / "libweft.so").write_text("no library", encoding="utf-8")
        self.assertNotIn("SOVERSION", self.expect(2, "abi.py: ", new))
        (new / "libweft.so").unlink()
        self.expect(2, "abi.py: .* has no lib", new)

    def test_an_abidiff_that_speaks_otherwise_is_told(self):
        other = self.folder / "abidiff"
        other.write_text("#!/bin/sh\necho something has changed\nexit 4\n", encoding="utf-8")
        other.chmod(0o755)
        path = {**os.environ, "PATH": "%s:%s" % (self.folder, os.environ["PATH"])}
        with unittest.mock.patch.dict(os.environ, path):
            self.expect(2, "something has changed", self.make("new", HEADER, SOURCE))


if __name__ == "__main__":
    unittest.main()
