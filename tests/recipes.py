#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Fails where a recipe of src/package gives an option that CMake does not know, lacks a flag with which CMake
compiles the libraries, or is no file of its kind.

    recipes.py ROOT
"""

import json
import pathlib
import re
import sys

OPTION = re.compile(r"(?:\b|-D)(WEFT_[A-Z_]+)\b")
OPTIONS_OF = ("conan/conanfile.py", "vcpkg/portfile.cmake")
# Those that compile the libraries without CMake.
FLAGS_OF = ("meson/meson.build", "bazel/weft.BUILD")
PRIVATE_FLAGS = re.compile(r"target_compile_options\(\$\{name\} PRIVATE \$<\$<COMPILE_LANGUAGE:CXX>:(.*)>\)")


def problems(root):
    folder = root / "src/package"
    cmake = (root / "CMakeLists.txt").read_text(encoding="utf-8")
    options = set(re.findall(r"^option\((\w+)", cmake, re.M))
    for name in OPTIONS_OF:
        for option in set(OPTION.findall((folder / name).read_text(encoding="utf-8"))) - options:
            yield "%s gives %s, which is no option" % (name, option)
    cmake = (root / "src/CMakeLists.txt").read_text(encoding="utf-8")
    flags = {flag for line in PRIVATE_FLAGS.findall(cmake) for flag in line.split()}
    if not flags:
        yield "src/CMakeLists.txt has no flags that this script knows"
    for name in FLAGS_OF:
        recipe = (folder / name).read_text(encoding="utf-8")
        for flag in sorted(flags):
            if re.sub(r"(?<=map=).*", "", flag) not in recipe:
                yield "%s lacks the flag %s" % (name, flag)
    compile((folder / "conan/conanfile.py").read_text(encoding="utf-8"), "conanfile.py", "exec")
    port = json.loads((folder / "vcpkg/vcpkg.json").read_text(encoding="utf-8"))
    checked = re.search(r"FEATURES ([\w ]+)\)", (folder / "vcpkg/portfile.cmake").read_text(encoding="utf-8"))
    if set(port["features"]) != set(checked.group(1).split()[::2]):
        yield "portfile.cmake and vcpkg.json have different features"


def main():
    found = list(problems(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "the recipes have weft's options and flags")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
