#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the barriers in machine code with expected.txt.

    barriers.py ROOT PROCESSOR OBJDUMP COMPILER [FLAG...] [--print]

Compiles hot_paths.cpp for the processor, and takes each of its functions apart. A function has a list of
barriers for each way through it that goes round no loop: reads, writes and fences with an order, atomic
read-modify-writes, and calls of other files. Two ways with one list count once. Ends with 1 and says where
the lists are not the expected ones, and which note that expected.txt names is missing. --print prints all
lists, with plain reads and writes in those functions for which expected.txt has them.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

MAX_WAYS = 20000
UNORDERED = ("memset", "relax")  # calls of these are in no list
NEVER_INLINE = ("advance", "isOnly", "wakeOne")  # by their declaration: words, and lists, of their own
FLAGS = ["-std=c++20", "-O2", "-c", "-fno-pie", "-fno-asynchronous-unwind-tables"]
SYMBOL = re.compile(r"^[0-9a-f]+ <(.+)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t(\S+)(?:\s+(.*))?$")
RELOCATION = re.compile(r"^\s+[0-9a-f]+: R_\w*(?:CALL|JUMP26)\w*\s+(\S.*)$")
TARGET = re.compile(r"(?:^|[\s,])([0-9a-f]+) <")
HEAD = re.compile(r"\[(\w+)\]((?: +[\w/.]+ \([\d, ]+\))*)( +\.\.\.)?")
NOTES = re.compile(r"([\w/.]+) \(([\d, ]+)\)")


class Aarch64:
    # With the atomic instructions of Armv8.1.
    flags = ["-march=armv8.1-a"]
    branch = re.compile(r"b\.\w+|cbn?z|tbn?z")
    jump = re.compile(r"b")
    leave = re.compile(r"ret|br")
    call = re.compile(r"blr?")
    atomic = re.compile(r"(ldapr|ldar|stlr|(?:cas|swp|ldadd|ldset|ldclr|ldeor|stadd|stset|stclr)(?:al|a|l)?)[bh]?")
    fence = re.compile(r"dmb|dsb|isb")
    load = re.compile(r"ldp|ldu?r(?:s?[bhw])?")
    store = re.compile(r"stp|stu?r[bhw]?")
    stack = "[sp"


class Riscv64:
    flags = ["-march=rv64gc", "-mabi=lp64d", "-mno-relax"]
    branch = re.compile(r"b(?:eq|ne|lt|ge|gt|le)u?z?")
    jump = re.compile(r"j")
    leave = re.compile(r"ret|jr")
    call = re.compile(r"jalr?|call")
    atomic = re.compile(r"((?:lr|sc|amo[a-z]+))\.[wd]((?:\.[a-z]+)?)")
    fence = re.compile(r"fence(?:\.tso)?")
    load = re.compile(r"l[bhwd]u?")
    store = re.compile(r"s[bhwd]")
    stack = "(sp)"


PROCESSORS = {"aarch64": Aarch64, "riscv64": Riscv64, "riscv64-old": Riscv64}
PARTLY = ("riscv64-old",)  # a function that has no lists for it is not looked at


def functions(text):
    """Returns: for each function its instructions: address, mnemonic, operands, called function or None."""
    found, body = {}, []
    for line in text.split("\n"):
        symbol, instruction, relocation = SYMBOL.match(line), INSTRUCTION.match(line), RELOCATION.match(line)
        if symbol:
            if not symbol[1].startswith((".L", "$")):
                body = found.setdefault(symbol[1], [])
        elif instruction:
            operands = re.sub(r"\s+(?://|# ).*", "", instruction[3] or "").strip()
            resolved = re.search(r"# [0-9a-f]+ <([^+]+)>$", instruction[3] or "")
            body.append([int(instruction[1], 16), instruction[2], operands, resolved[1] if resolved else None])
        elif relocation:
            body[-1][3] = relocation[1]
    return found


def short_name(name):
    name = name.replace("(anonymous namespace)::", "")
    while "<" in name:
        name, old = re.sub(r"<[^<>]*>", "", name), name
        if name == old:
            break
    return re.sub(r"\(.*", "", name).split("::")[-1]


class Ways:
    """The ways through the functions of one file."""

    def __init__(self, processor, bodies, plain):
        self.processor, self.bodies, self.plain = processor, bodies, plain
        self.known = {}

    def of(self, function):
        """Returns: the lists of barriers, each a tuple of words."""
        if function not in self.known:
            self.known[function] = set()  # a function that calls itself goes round a loop
            body = self.bodies[function]
            places = {instruction[0]: place for place, instruction in enumerate(body)}
            found = set()
            self.walk(body, places, 0, frozenset(), (), found)
            self.known[function] = without_failures(found)
        return self.known[function]

    def walk(self, body, places, place, seen, words, found):
        processor = self.processor
        while place < len(body) and place not in seen:
            seen = seen | {place}
            _, mnemonic, operands, called = body[place]
            target = TARGET.search(operands)
            to = places.get(int(target[1], 16)) if target else None
            is_jump = processor.jump.fullmatch(mnemonic) is not None
            if processor.branch.fullmatch(mnemonic):
                if to is None:
                    raise SystemExit(f"a branch leaves its function: {mnemonic} {operands}")
                self.walk(body, places, to, seen, words, found)
            elif is_jump and called is None and to is not None:
                place = to
                continue
            elif is_jump or processor.leave.fullmatch(mnemonic):
                is_call = is_jump or called is not None or (place > 0 and body[place - 1][1] == "auipc")
                found.update(words + more for more in (self.callee(body, place) if is_call else {()}))
                return
            elif processor.call.fullmatch(mnemonic):
                for more in self.callee(body, place):
                    self.walk(body, places, place + 1, seen, words + more, found)
                return
            else:
                words += self.barrier(mnemonic, operands)
            place += 1
            if len(found) > MAX_WAYS:
                raise SystemExit("a function has too many ways through it")

    def callee(self, body, place):
        """Returns: the lists of the function that the call in one instruction, or in two, leads to."""
        called = body[place][3] or (body[place - 1][3] if place > 0 else None)
        if called is None:
            here = re.search(r"<(.+)>$", body[place][2])
            called = here[1] if here else "?"
        name = short_name(called)
        if called in self.bodies and name not in NEVER_INLINE:
            return self.of(called)
        return {() if name in UNORDERED else ("call:" + name,)}

    def barrier(self, mnemonic, operands):
        """Returns: the word for the instruction, if it has one."""
        processor = self.processor
        atomic = processor.atomic.fullmatch(mnemonic)
        if atomic:
            return ("".join(atomic.groups()),)
        if processor.fence.fullmatch(mnemonic):
            return (f"{mnemonic}({operands.replace(' ', '')})",)
        if self.plain and processor.stack not in operands:
            if processor.load.fullmatch(mnemonic):
                return ("load",)
            if processor.store.fullmatch(mnemonic):
                return ("store",)
        return ()


def without_failures(lists):
    """Leaves out what another list is but for an `sc`: what follows a comparison that has failed."""
    shorter = set()
    for words in lists:
        shorter.update(words[:i] + words[i + 1:] for i, word in enumerate(words) if word.startswith("sc"))
    while True:
        more = {words[:i] + words[i + 1:] for words in shorter for i, word in enumerate(words)
                if word.startswith("sc")} - shorter
        if not more:
            return lists - shorter
        shorter |= more


def disassemble(root, processor, objdump, command):
    with tempfile.TemporaryDirectory() as folder:
        made = folder + "/hot_paths.o"
        source = root / "tests/barriers/hot_paths.cpp"
        subprocess.run(command + FLAGS + processor.flags
                       + [f"-I{root}/include", f"-I{root}/src", str(source), "-o", made], check=True)
        return subprocess.run([objdump, "-drC", "--no-show-raw-insn", made], check=True, text=True,
                              stdout=subprocess.PIPE).stdout


class Expected:
    """One function of expected.txt: the notes that it holds, and the lists for each processor."""

    def __init__(self, head):
        self.notes = NOTES.findall(head[2])
        self.is_open = head[3] is not None
        self.lists = {name: set() for name in PROCESSORS}

    def has_plain(self, name):
        return any("load" in words or "store" in words for words in self.lists[name])


def read_expected(text):
    found, function = {}, None
    for number, line in enumerate(text.split("\n"), 1):
        line = line.split("#")[0].rstrip()
        head = HEAD.fullmatch(line)
        if head:
            function = found[head[1]] = Expected(head)
        elif line:
            name, *words = line.split()
            if name not in PROCESSORS or function is None or not words:
                raise SystemExit(f"expected.txt:{number}: {line!r} is neither a head nor a list")
            function.lists[name].add(tuple(words) if words != ["-"] else ())
    return found


def missing_notes(root, function, expected):
    for name, numbers in expected.notes:
        folder = root / ("include/weft/detail" if not name.startswith("src/") else "")
        text = (folder / name).read_text()
        for number in re.findall(r"\d+", numbers):
            if not re.search(r"//\s*\(%s\)" % number, text):
                yield f"{function}: {name} has no note ({number})"


def differences(name, function, expected, found):
    wanted = expected.lists[name]
    if name in PARTLY and not wanted:
        return
    for words in sorted(wanted - found):
        yield f"{function}, {name}: expected, but not found: {' '.join(words) or '-'}"
    for words in sorted(found - wanted):
        if not expected.is_open or wanted - found:
            yield f"{function}, {name}: found, but not expected: {' '.join(words) or '-'}"


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--print"]
    root, name, objdump, command = pathlib.Path(arguments[0]), arguments[1], arguments[2], arguments[3:]
    processor = PROCESSORS[name]
    table = read_expected((root / "tests/barriers/expected.txt").read_text())
    bodies = functions(disassemble(root, processor, objdump, command))
    source = (root / "tests/barriers/hot_paths.cpp").read_text()
    hot = re.findall(r"^[\w:<>*]+[ *&]+(\w+_\w+)\(", source, re.M)
    names = {short_name(function): function for function in bodies}
    hot += [function for function in NEVER_INLINE if function in names]
    problems = [f"{function} has no lists in expected.txt" for function in hot if function not in table]
    problems += [f"{function} is not in hot_paths.cpp" for function in table if function not in hot]
    ways = {plain: Ways(processor, bodies, plain) for plain in (False, True)}
    for function in hot:
        expected = table.get(function)
        found = ways[expected is not None and expected.has_plain(name)].of(names[function])
        if "--print" in sys.argv:
            print("\n".join([f"[{function}]", *(f"{name}  {' '.join(words) or '-'}" for words in sorted(found))]))
        elif expected is not None:
            problems += [*missing_notes(root, function, expected), *differences(name, function, expected, found)]
    if "--print" in sys.argv:
        return 0
    for problem in problems:
        print(problem)
    print(f"{len(hot)} functions for {name}, {len(problems)} problems")
    return 1 if problems or not hot else 0


if __name__ == "__main__":
    sys.exit(main())
