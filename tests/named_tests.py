#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Fails where a document names a test that does not exist, or tests/README.md a file.

    named_tests.py ROOT

A test is named between backquotes in docs/*.md and tests/README.md: `SuiteTest`, `SuiteTest.Name`, or
`SuiteTest.BeginOfTheName...`.
"""

import pathlib
import re
import sys

NAMED = re.compile(r"`(\w+Test)(?:\.(\w+)(\.\.\.)?)?`")
FILE = re.compile(r"`([\w/]+\.(?:cpp|h|cmake|py))`")
DEFINED = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\s*\)", re.M)


def main():
    root = pathlib.Path(sys.argv[1])
    tests = {}
    for path in (root / "tests").rglob("*.cpp"):
        for suite, name in DEFINED.findall(path.read_text(encoding="utf-8")):
            tests.setdefault(suite, set()).add(name)
    count = wrong = 0
    for path in [*sorted((root / "docs").glob("*.md")), root / "tests/README.md"]:
        for suite, name, dots in NAMED.findall(path.read_text(encoding="utf-8")):
            count += 1
            found = [each for each in tests.get(suite, []) if each == name or not name or dots and each.startswith(name)]
            if not found:
                wrong += 1
                print("%s names %s, which is no test" % (path.relative_to(root), ".".join(filter(None, (suite, name)))))
    for name in FILE.findall((root / "tests/README.md").read_text(encoding="utf-8")):
        if not (root / "tests" / name).exists():
            wrong += 1
            print("tests/README.md names %s, which is no file" % name)
    print("%d names of tests in documents" % count)
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
