#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes weft as a few files, which any build compiles with one command.

    amalgamate.py OUT

OUT/weft.h has the public headers, and OUT/weft.cpp the library with its assembly. OUT/weft_io.h and
OUT/weft_io.cpp are weft::io over these. Left out are weft/asio.h, weft/mpi.h, weft/tracy.h, weft/defer.h and marl's
headers. Two calls write the same bytes. Ends with 1, and says what is wrong, where a file has what this script
does not know.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LICENSE = "// Copyright 2026 The weft Authors\n// SPDX-License-Identifier: Apache-2.0\n"
# Public headers that no output has. The macro `defer` is for those who ask for it; the others need other libraries.
LEFT_OUT = {"weft/asio.h", "weft/defer.h", "weft/mpi.h", "weft/tracy.h"}
# What the compiler must know first. It stays whole, above all includes.
FIRST = "weft/detail/base/language.h"
BEGIN, END = "weft/detail/base/macros_begin.h", "weft/detail/base/macros_end.h"
DIRECTIVE = re.compile(r"\s*#\s*(\w+)\s*(.*)")
# An #include of such a name ends the compilation after an #error.
MESSAGE = re.compile(r'"weft: [\w ]+"$')


class Problem(Exception):
    pass


class Included(str):
    """An include of weft's own, in the piece of a file that comes after it."""


class Source:
    """One file: what it includes of weft and of the system, and its pieces, between which it includes weft's own."""

    def __init__(self, name):
        self.name = name
        self.path = find(name)
        self.own, self.system, self.pieces = [], [], [[]]
        self.is_code = False  # in the current piece, besides comments
        self.depth = 0
        text = self.path.read_text(encoding="utf-8").replace(LICENSE, "", 1)
        if name.endswith(".h") and name not in (BEGIN, END) and "\n#pragma once\n" not in text:
            raise Problem(f"{name} has no #pragma once")
        for line in text.replace("\n#pragma once\n", "\n", 1).splitlines():
            self.take(line)
        if self.depth != 0:
            raise Problem(f"{name}: #if without #endif")
        if self.own.count(BEGIN) != self.own.count(END):
            raise Problem(f"{name} does not include both {BEGIN} and {END}")

    def take(self, line):
        directive, rest = DIRECTIVE.match(line).groups() if DIRECTIVE.match(line) else ("", "")
        self.depth += (directive in ("if", "ifdef", "ifndef")) - (directive == "endif")
        if directive == "include" and not MESSAGE.match(rest):
            self.include(line, rest.split("//")[0].strip())
        else:
            self.pieces[-1].append(line)
            self.is_code = self.is_code or (line.strip() != "" and not line.startswith("//"))

    def include(self, line, what):
        quotes = what[:1] + what[-1:]
        if quotes == "<>" and (self.depth > 0 or self.name == FIRST):
            self.pieces[-1].append(line)
        elif quotes == "<>":
            self.system.append(what)
        elif quotes != '""':
            raise Problem(f"{self.name}: this #include is not understood: {what}")
        elif self.depth > 0:
            raise Problem(f"{self.name}: #include {what} stands within #if")
        else:
            self.own.append(what.strip('"'))
            self.pieces += [[]] if self.is_code else []
            self.is_code = False
            self.pieces[-1].append(Included(what.strip('"')))

    def text(self, piece=0):
        """Returns: the text of a piece, without blank lines that includes have left."""
        piece = self.pieces[piece]
        text = "\n".join(line for line in piece if not isinstance(line, Included)).strip("\n")
        return f"// From {self.path.relative_to(ROOT)}\n\n" + re.sub(r"\n{3,}", "\n\n", text) + "\n" if text else ""


def find(name):
    for folder in ("include", "src"):
        if (ROOT / folder / name).is_file():
            return ROOT / folder / name
    raise Problem(f'#include "{name}" names no file of include or src')


class Output:
    """Files of weft, each once, where the first of those that include it does so; without those that `present` has."""

    def __init__(self, roots, present=frozenset()):
        self.names = set(present) | {BEGIN, END}
        self.includes, self.texts = set(), []
        for root in roots:
            self.add(root)

    def add(self, name):
        if name in self.names:
            return
        self.names.add(name)
        source = Source(name)
        self.includes.update(source.system)
        for i, piece in enumerate(source.pieces):
            for included in piece:
                if isinstance(included, Included):
                    self.add(included)
            if name != FIRST:
                self.texts.append(source.text(i))

    def text(self):
        system = "".join(f"#include {name}\n" for name in sorted(self.includes))
        return [system, "\n".join(text for text in self.texts if text)]


def made(what):
    numbers = re.findall(r"^#define WEFT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$",
                         (ROOT / "include/weft/version.h").read_text(encoding="utf-8"), re.M)
    if len(numbers) != 3:
        raise Problem("include/weft/version.h names no version")
    return f"{LICENSE}\n// weft {'.'.join(numbers)}: {what}. Made by src/package/amalgamate.py; do not edit.\n"


def header(what, output, before):
    system, text = output.text()
    return "\n".join([made(what) + "\n#pragma once\n", before, system, Source(BEGIN).text(), text, Source(END).text()])


def source(what, output, before, after):
    return "\n".join([made(what), before, *output.text(), *after])


class Assembly:
    """A .S file as one asm() at the scope of a file. Its conditionals become those of C++, around strings."""

    def __init__(self, path):
        self.path = path
        self.macros = set()
        self.depth = 0
        self.is_note = False  # in a section that the compiler writes itself, for the whole object
        self.body = []
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            self.where = f"{path.relative_to(ROOT)}:{number}"
            code = self.without_comment(line)
            if code.startswith("#"):
                self.directive(code)
            elif code:
                self.instruction(code)
        if self.depth != 0:
            raise Problem(f"{self.where}: #if without #endif")

    def without_comment(self, line):
        code = line.split("//")[0].rstrip()
        if "/*" in code or code.count('"') % 2 != 0:
            raise Problem(f"{self.where}: this comment is not understood")
        return code

    def directive(self, code):
        name, rest = DIRECTIVE.match(code).groups()
        if (name, rest) == ("include", '"notes.inc"'):
            return  # the compiler writes these notes itself, for the whole object
        self.depth += (name in ("if", "ifdef", "ifndef")) - (name == "endif")
        if name in ("if", "ifdef", "ifndef", "elif", "else", "endif"):
            if name == "endif" and self.body[-1].startswith("#if"):
                self.body.pop()
                return
            line = code
        elif name == "define" and re.fullmatch(r"[A-Z_]+(\s.*)?", rest):
            macro, _, value = rest.partition(" ")
            self.macros.add(macro)
            line = f"#define {self.prefixed(macro)} {self.quoted('  ' + value.strip())}"
        else:
            raise Problem(f"{self.where}: this directive is not understood: {code}")
        self.body.append(line)

    def instruction(self, code):
        words = code.split()
        if words[0] in (".section", ".text", ".data", ".bss"):
            self.is_note = code.strip().startswith(".section .note.")
            if words[0] != ".text" and not self.is_note:
                raise Problem(f"{self.where}: this section is not understood: {code}")
        if self.is_note:
            return
        if code.strip() in self.macros:
            self.body.append(self.prefixed(code.strip()))
        elif self.macros & set(re.findall(r"\w+", code)):
            raise Problem(f"{self.where}: a macro stands within a line: {code}")
        else:
            self.body.append(self.quoted(code))

    @staticmethod
    def prefixed(macro):
        return "WEFT_ASM_" + macro

    @staticmethod
    def quoted(code):
        return '"' + code.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'

    def text(self):
        body = "\n".join(self.body)
        undefs = "".join(f"#undef {self.prefixed(macro)}\n" for macro in sorted(self.macros))
        return (f"// From {self.path.relative_to(ROOT)}\n\n// clang-format off\nasm(\n\"  .pushsection .text\\n\"\n"
                f"{body}\n\"  .popsection\\n\");\n{undefs}// clang-format on\n")


def public(pattern):
    return {str(path.relative_to(ROOT / "include")) for path in (ROOT / "include").glob(pattern)}


def outputs():
    """Yields: the name of each file, and its text."""
    core = Output(["weft/weft.h"])
    io = Output(["weft/io.h"], core.names)
    unreached = {name for name in public("weft/**/*.h") - LEFT_OUT - core.names - io.names
                 if "/detail/" not in name and not name.startswith("weft/mpi/")}
    if unreached:
        raise Problem(f"weft/weft.h does not include {', '.join(sorted(unreached))}")
    first = Source(FIRST)
    if first.own or first.system:
        raise Problem(f"{FIRST} includes others")
    yield "weft.h", header("all public headers, but for weft/" + ", weft/".join(
        sorted(name.removeprefix("weft/") for name in LEFT_OUT)) + " and weft::io", core, first.text())

    files = sorted(str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.cpp"))
    parts = {name: name.split("/")[0] for name in files}
    library = Output([name for name in files if parts[name] not in ("io", "mpi", "tools")], core.names)
    assembly = [Assembly(path).text() for path in sorted((ROOT / "src/osfiber_asm").glob("*.S"))]
    yield "weft.cpp", source("the library", library, '#define WEFT_AMALGAMATED 1\n\n#include "weft.h"\n', assembly)

    yield "weft_io.h", header("weft::io", io, '#include "weft.h"\n')
    io_library = Output([name for name in files if parts[name] == "io"], core.names | io.names)
    yield "weft_io.cpp", source("the library of weft::io", io_library, '#include "weft_io.h"\n', [])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[1])
    try:
        files = list(outputs())
    except Problem as problem:
        print(f"amalgamate.py: {problem}", file=sys.stderr)
        return 1
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files:
        (out / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
