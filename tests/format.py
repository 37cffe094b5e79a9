#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Fails where clang-format would change a C++ file of the tree, or where a line has more columns than it may: format.py ROOT CLANG_FORMAT

(The tool breaks no comments, which may be tables, and no messages.)
"""

import pathlib
import re
import subprocess
import sys


def main():
    root, clang_format = pathlib.Path(sys.argv[1]), sys.argv[2]
    limit = int(re.search(r"ColumnLimit: (\d+)", (root / ".clang-format").read_text(encoding="utf-8")).group(1))
    folders = ("benchmarks", "examples", "include", "src", "tests")
    files = sorted(path for folder in folders for path in (root / folder).rglob("*") if path.suffix in (".h", ".cpp"))
    too_long = [f"{path.relative_to(root)}:{number}: {len(line)} columns"
                for path in files
                for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if len(line) > limit]
    print("\n".join(too_long) or f"{len(files)} files have lines of at most {limit} columns")
    formatted = subprocess.run([clang_format, "--dry-run", "--Werror", *files], check=False)
    return 1 if too_long or formatted.returncode != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
