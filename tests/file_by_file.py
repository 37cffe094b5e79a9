#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles each source of the library alone, without making code, and fails where one includes too little.

    file_by_file.py ROOT COMPILER

Most builds of the tests compile the files of a folder together, and there a file sees what the files before it have
included. A program that adds weft by add_subdirectory() compiles them one by one.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

OPTIONS = ["-std=c++20", "-fsyntax-only", "-Iinclude", "-Isrc", '-DWEFT_TOOL_VERSION=""']


def complaint(root, compiler, source):
    """Returns: what the compiler says of a source that it does not take, or an empty text."""
    run = subprocess.run([compiler, *OPTIONS, source], cwd=root, capture_output=True, text=True)
    return run.stderr if run.returncode != 0 else ""


def main():
    root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
    sources = sorted(str(path.relative_to(root)) for path in root.glob("src/**/*.cpp"))
    if not sources:
        sys.exit("there is no source in %s" % (root / "src"))
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        complaints = list(filter(None, pool.map(lambda source: complaint(root, compiler, source), sources)))
    for text in complaints:
        print(text)
    print("%d sources compile alone, %d do not" % (len(sources) - len(complaints), len(complaints)))
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
