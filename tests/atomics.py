#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the notes on memory orders of C++ files: atomics.py FILE...

A note is a comment that begins with its number:   // (3) acquire: sees the slot; pairs with (1, 7)
Rules, numbers being local to a file:
  1. each statement that names an order other than relaxed has a note on it or right above it;
  2. if note 3 names note 1, then note 1 names note 3;
  3. .load(), .store(x), .exchange(x), .fetch_*(x) name their order.
Numbers in parentheses inside a note name partners in the same file, and nothing else.
Exits 1 and lists the problems if there are any.
"""
import re
import sys

NOTE = re.compile(r'//\s*\((\d+)\)\s*(.*)')
ORDER = re.compile(r'memory_order(?:_|::)(?:acquire|release|acq_rel|seq_cst|consume)\b')
GROUP = re.compile(r'\((\d+(?:\s*(?:,|and)\s*\d+)*)\)')
IMPLICIT = re.compile(r'\.(?:load\(\s*\)|(?:store|exchange|fetch_\w+)\([^(),]*\))')
CONTINUES = re.compile(r'\s*//(?!\s*\(\d+\))')


def check(path):
    problems, pairs = [], {}
    with open(path, encoding='utf-8', errors='replace') as source:
        lines = source.read().split('\n')
    i, noted = 0, False
    while i < len(lines):
        line, start = lines[i], i
        note = NOTE.search(line)
        if note:
            text = note.group(2)
            while i + 1 < len(lines) and CONTINUES.match(lines[i + 1]):
                i += 1
                text += ' ' + lines[i].strip('/ \t')
            named = {int(n) for group in GROUP.findall(text) for n in re.findall(r'\d+', group)}
            pairs.setdefault(int(note.group(1)), set()).update(named)
            noted = True
        code = line.split('//')[0]
        if ORDER.search(code) and 'constexpr' not in code and not noted:
            problems.append(f'{path}:{start + 1}: a memory order without a note')
        if IMPLICIT.search(code):
            problems.append(f'{path}:{start + 1}: an atomic operation without a memory order')
        if code.rstrip().endswith((';', '{', '}')):
            noted = False
        i += 1
    for number, named in sorted(pairs.items()):
        for other in sorted(named):
            if number not in pairs.get(other, set()):
                problems.append(f'{path}: note ({number}) names ({other}), which does not name it back')
    return problems, len(pairs)


def main():
    problems, notes = [], 0
    for path in sys.argv[1:]:
        found, count = check(path)
        problems += found
        notes += count
    for problem in problems:
        print(problem)
    print(f'{notes} notes, {len(problems)} problems in {len(sys.argv) - 1} files')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
