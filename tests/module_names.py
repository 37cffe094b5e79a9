#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Fails where weft's modules do not export a public name: module_names.py ROOT CLANG FOLDER

Public are the names in the namespace weft, and in those within it except `detail`, after weft/weft.h and
weft/io.h. clang lists what they declare. A name counts if a using-declaration can name it: the list also has
parameters of templates.
"""

import pathlib
import re
import subprocess
import sys

NAME = re.compile(r"weft::(?:v\d+_\d+::)?((?:(?:containers|fair|io|trace)::)?\w+)$", re.M)
INCLUDES = "#include <weft/weft.h>\n#include <weft/io.h>\n"


def clang(command, folder, text):
    source = folder / "names.cpp"
    source.write_text(INCLUDES + text, encoding="utf-8")
    return subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)


def public(command, folder):
    """Returns the public names, as "fair::Task"."""
    listed = clang([*command, "-Xclang", "-ast-list"], folder, "")
    if listed.returncode != 0:
        raise SystemExit(listed.stderr)
    candidates = sorted(set(NAME.findall(listed.stdout)))
    uses = "".join("namespace user%d { using weft::%s; }\n" % pair for pair in enumerate(candidates))
    tried = clang([*command, "-ferror-limit=0", "-fno-color-diagnostics"], folder, uses)
    first = INCLUDES.count("\n") + 1
    refused = {int(line) - first for line in re.findall(r"names\.cpp:(\d+):\d+: error: ", tried.stderr)}
    return {name for number, name in enumerate(candidates) if number not in refused}


def main():
    root, compiler, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    command = [compiler, "-std=c++20", "-fsyntax-only", "-I%s" % (root / "include")]
    expected = public(command, folder)
    exported = []
    for path in sorted((root / "src/package/module").glob("*.cppm")):
        exported += re.findall(r"^using weft::([\w:]+);$", path.read_text(encoding="utf-8"), re.M)
    wrong = ["the modules do not export weft::" + name for name in sorted(expected - set(exported))]
    wrong += ["weft::%s is exported, and not public" % name for name in sorted(set(exported) - expected)]
    print("\n".join(wrong) or "the modules export %d names" % len(exported))
    return 1 if wrong or not expected else 0


if __name__ == "__main__":
    sys.exit(main())
