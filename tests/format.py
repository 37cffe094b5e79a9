#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Fails where clang-format would change a C++ file, or where a line is too long: format.py ROOT CLANG_FORMAT

The limit of .clang-format is checked in all lines of C++ files (clang-format breaks neither comments, which
may be tables, nor messages), in docs/llms.txt, and in the prose of Markdown files.
"""

import pathlib
import re
import subprocess
import sys

FOLDERS = ("benchmarks", "docs", "examples", "include", "src", "tests")
ONE_LINE_EACH = ("CHANGELOG.md",)  # each change has one line, so that changes merge


def prose(lines):
    """Yields the numbered lines of a page that can be wrapped.

    Those are no code, no table, no heading, and no word or image alone.
    """
    isCode = False
    for number, line in lines:
        isFence = line.lstrip().startswith("```")
        isCode = isCode != isFence
        text = re.sub(r"^\s*(?:[-*>]|\d+\.)\s+", "", line).strip()
        if not isCode and not isFence and " " in text and not re.match(r"\||#|!\[|    ", line):
            yield number, line


def tooLong(path, limit):
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    for number, line in prose(lines) if path.suffix == ".md" else lines:
        if len(line) > limit:
            yield "%s:%d: %d columns" % (path, number, len(line))


def main():
    root, clang_format = pathlib.Path(sys.argv[1]), sys.argv[2]
    style = (root / ".clang-format").read_text(encoding="utf-8")
    limit = int(re.search(r"ColumnLimit: (\d+)", style).group(1))
    files = sorted([*root.glob("*.md"), *(path for folder in FOLDERS for path in (root / folder).rglob("*"))])
    sources = [path for path in files if path.suffix in (".h", ".cpp")]
    pages = [path for path in files
             if path.name == "llms.txt" or (path.suffix == ".md" and path.name not in ONE_LINE_EACH)]
    wrong = [message for path in sources + pages for message in tooLong(path, limit)]
    print("\n".join(wrong) or "%d sources and %d pages have lines of at most %d columns"
          % (len(sources), len(pages), limit))
    formatted = subprocess.run([clang_format, "--dry-run", "--Werror", *sources], check=False)
    return 1 if wrong or formatted.returncode != 0 or not sources or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
