#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Fails where something says another version than include/weft/version.h.

    version.py ROOT [VERSION]

Looked at are the namespace that each header and source opens, the names of that namespace in all other files,
the recipes of package managers, and the newest heading of docs/CHANGELOG.md. That is either "## Unreleased",
with the words "version 0.1.0" before its first part, or "## 0.1.0". VERSION is what the build takes for the
project's version.
"""

import pathlib
import re
import sys

FOLDERS = ("benchmarks", "docs", "examples", "include", "src", "tests")
DEFINED = re.compile(r"^#define WEFT_VERSION_(MAJOR|MINOR|PATCH) (\d+)$", re.M)
OPENED = re.compile(r"^ *namespace weft\b(?!::detail;).*", re.M)
NAMED = re.compile(r"(?:\bweft::(?:inline )?|\")(v\d+_\d+)")
MANGLED = re.compile(r"4weft(\d)(v\d+_\d+)")  # in which other digits may follow the name
RECIPES = {"meson/meson.build": r"version: '([\d.]+)'", "meson/weft.wrap": r"weft-([\d.]+?)(?=\.tar|$)",
           "conan/conanfile.py": r'^    version = "([^"]+)"', "vcpkg/vcpkg.json": r'"version": "([^"]+)"'}
OF_OTHER_VERSIONS = ("docs/CHANGELOG.md", "docs/releasing.md", "tests/cmake/copies.cmake")
LAST_OF_TWO_DIGITS = 99


def problems(root, version, built):
    """Yields what says another version than `version`, three numbers."""
    text = "%d.%d.%d" % version
    space = "v%d_%d" % version[:2]
    if built not in (None, text):
        yield "the build takes %s for the version, and version.h says %s" % (built, text)
    if max(version[1:]) > LAST_OF_TWO_DIGITS:
        yield "version.h: WEFT_VERSION has two digits for the minor number and two for the patch"
    right = re.compile(r"^ *namespace weft::inline %s(::[a-z]+)* \{( *//.*)?$" % space)
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*") if path.is_file()):
        try:
            code = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        name = path.relative_to(root).as_posix()
        if name.startswith(("include/weft/", "src/")) and path.suffix in (".h", ".cpp"):
            for opened in OPENED.findall(code):
                if not right.match(opened):
                    yield "%s: \"%s\" is not namespace weft::inline %s" % (name, opened.strip(), space)
        names = set(NAMED.findall(code)) | {mangled[:int(size)] for size, mangled in MANGLED.findall(code)}
        for other in sorted(names - {space}) if name not in OF_OTHER_VERSIONS else ():
            yield "%s: %s is another version's namespace" % (name, other)
    for name, pattern in RECIPES.items():
        named = re.findall(pattern, (root / "src/package" / name).read_text(encoding="utf-8"), re.M)
        if not named or set(named) != {text}:
            yield "src/package/%s: it is for version %s" % (name, ", ".join(named))
    changes = (root / "docs/CHANGELOG.md").read_text(encoding="utf-8")
    heading, begin = re.search(r"^## (.*)\n((?:(?!##).*\n)*)", changes, re.M).groups()
    says = re.search(r"version (\d+\.\d+\.\d+)", begin) if heading == "Unreleased" else \
        re.match(r"(\d+\.\d+\.\d+)\b", heading)
    if not says or says.group(1) != text:
        yield "docs/CHANGELOG.md: the newest heading is not of version %s: \"## %s\"" % (text, heading)


def main():
    root = pathlib.Path(sys.argv[1])
    numbers = dict(DEFINED.findall((root / "include/weft/version.h").read_text(encoding="utf-8")))
    version = tuple(int(numbers[part]) for part in ("MAJOR", "MINOR", "PATCH"))
    found = list(problems(root, version, sys.argv[2] if len(sys.argv) > 2 else None))
    print("\n".join(found) or "all say version %d.%d.%d" % version)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
