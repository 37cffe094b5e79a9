#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Fails where code knows a processor or a system outside of the folders that a port adds to.

    ports.py ROOT

The folders are PORTS. Elsewhere no preprocessor line names a macro of a processor or a system, no inline assembly has an
instruction, and no header, builtin or register of a processor is used. ALLOWED names the exceptions. Ends with 1 and names the lines.
"""

import pathlib
import re
import sys

PORTS = ("include/compat/", "include/weft/detail/port/", "src/os/", "src/osfiber_asm/", "tests/os/held_registers")
ALLOWED = {
    "include/weft/detail/base/language.h": "refuses the processors and systems that have no port",
    "src/scheduler/core/layout.cpp": "a note of the object file, in directives of the assembler that all processors have",
    "tests/inspect/elf_file_test.cpp": "checks against symbols that it makes itself, in directives that all processors have",
    "tests/inspect/layout_table.cpp": "makes such a note",
    "tests/inspect/unwinder_test.cpp": "has a directive of call frame information that all assemblers take",
    "tests/marl/marl_no_unwind_test.cpp": "makes machine code at run time",
    "tests/os/osfiber_steps_test.cpp": "steps through the switch, one instruction at a time",
    "tests/os/overflow_test.cpp": "makes a frame that compilers would not make",
}
FOLDERS = ("benchmarks", "examples", "include", "src", "tests")
ENDINGS = {".c", ".cpp", ".h", ".hpp", ".inc", ".S"}

PROCESSORS = (r"aarch64|AARCH64\w*|amd64|arm|arm64|ARM_\w+|i[3-6]86|x86_64|loongarch\w*|mips\w*|powerpc\w*|ppc\w*|PPC\w*|riscv\w*"
              r"|s390x?|sparc\w*|ILP32|LP64|ORDER_\w+|BYTE_ORDER|FLOAT_WORD_ORDER|SSE\w*|AVX\w*|BMI2?|CET|SHSTK|ALTIVEC")
SYSTEMS = r"linux|gnu_linux|ELF|unix|APPLE|MACH|ANDROID|BIONIC|CYGWIN|FreeBSD|NetBSD|OpenBSD|DragonFly|HAIKU|QNX|sun|svr4"
MACRO = re.compile(r"\b(?:__(?:%s|%s)(?:__)?|_(?:WIN32|WIN64|M_\w+|LP64|ILP32)|BYTE_ORDER)\b" % (PROCESSORS, SYSTEMS))
CONDITION = re.compile(r"\s*#\s*(?:if|ifdef|ifndef|elif|elifdef|elifndef)\b(.*)", re.S)
HEADER = re.compile(r"\s*#\s*include\s*[<\"]((?:asm/|\w*intrin\.h|cpuid\.h|arm_\w+\.h|altivec\.h|windows\.h|mach/)[^>\"]*)")
BUILTIN = re.compile(r"\b(?:__builtin_(?:ia32|arm|aarch64|ppc|riscv|s390)_\w+|__rdtscp?|_mm\d*_\w+|REG_R[A-Z0-9]+|gregs)\b")
ASSEMBLY = re.compile(r"\b(?:asm|__asm__|__asm)\b(?:\s+(?:volatile|__volatile__|goto|inline))*\s*\(\s*(R?\"[^\"]*\")")
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', re.S)

# Each with the number of what is wrong in it.
EXAMPLES = [
    ("#if defined(__x86_64__)", 1),
    ("#  ifdef _WIN32", 1),
    ("#if defined(X) && \\\n    __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__", 1),
    ("#elif __riscv_xlen == 64", 1),
    ("#if defined(__cpp_exceptions) || WEFT_X", 0),
    ("#define X __x86_64__", 0),
    ("// #if defined(__linux__)", 0),
    ("/*\n#if defined(__linux__)\n*/", 0),
    ("#include <immintrin.h>", 1),
    ("#include <asm/hwcap.h>", 1),
    ("#include <atomic>", 0),
    ('f(); asm volatile("pause");', 1),
    ('asm(R"(\n  .long 1\n)");', 1),
    ('asm volatile("" : : "r"(x) : "memory");', 0),
    ('#ifndef X\nasm("nop");', 1),
    ('extern int x asm("y");', 0),
    ("__builtin_ia32_pause();", 1),
    ("context.uc_mcontext.gregs[i];", 1),
    ('print("asm(\\"nop\\")");', 0),
]


def without_comments(text):
    """Returns: the text with its lines, but without comments."""
    return COMMENT.sub(lambda match: match.group(1) or "\n" * match.group().count("\n"), text)


def problems(text):
    """Yields: line numbers, each with what is wrong there."""
    text = without_comments(text)
    number = 1
    for line in re.split(r"(?<!\\)\n", text):
        condition = CONDITION.match(line)
        macro = MACRO.search(condition.group(1)) if condition else None
        header = HEADER.match(line)
        if macro:
            yield number, f"asks for {macro.group()}"
        if header:
            yield number, f"includes <{header.group(1)}>"
        number += 1 + line.count("\n")
    text = re.sub(r"^\s*#.*$", ";", text, flags=re.M)
    for match in BUILTIN.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, f"uses {match.group()}"
    for match in ASSEMBLY.finditer(text):
        before = text[:match.start()].rstrip()[-1:]
        is_name = before.isalnum() or before in ("_", ")", "]")  # the name of a declared object for the linker
        if match.group(1) != '""' and not is_name and before != '"' and before != "\\":
            yield text.count("\n", 0, match.start()) + 1, "has inline assembly"


def check_itself():
    for text, count in EXAMPLES:
        found = list(problems(text))
        if len(found) != count:
            yield f"ports.py finds {found} in {text!r}"


def main():
    root = pathlib.Path(sys.argv[1])
    found, unused, count = list(check_itself()), set(ALLOWED), 0
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in ENDINGS):
        name = str(path.relative_to(root))
        if name.startswith(PORTS):
            continue
        count += 1
        wrong = [f"{name}:{line}: {what}" for line, what in problems(path.read_text(encoding="utf-8"))]
        if wrong and name in ALLOWED:
            unused.discard(name)
        else:
            found += wrong
    found += [f"{name} is allowed to know a processor or a system, and knows none" for name in sorted(unused)]
    print("\n".join(found) or f"{count} files know no processor and no system")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
