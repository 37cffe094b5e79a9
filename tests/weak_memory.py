#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that docs/weak_memory.md is complete: weak_memory.py ROOT

Rules:
  1. each file of include/weft and src that names an order other than relaxed, or that fences, has one row;
  2. a row's file does that;
  3. a model that a row rests on has a line `// Seeded bug:` for that file, and a file with such lines rests on one;
  4. what is "run by `model_scheduler_*`" is one of its sources, or a header.
Exits 1 and lists the problems if there are any.
"""
import pathlib
import re
import sys

from atomics import ORDER

PAGE = 'docs/weak_memory.md'
FENCE = re.compile(r'\b(?:lightFence|heavyFence|lightFenceWhereFree|isLightFenceFree)\(')
ROW = re.compile(r'^\| `([\w/]+\.(?:h|cpp))` \|(.*)\|([^|]*)\|$', re.M)
SEED = re.compile(r'^// Seeded bug: ([^:\s]+)', re.M)
RUN = 'run by `model_scheduler_*`'


def ordered(root):
    """Returns: the files that need a row."""
    found = set()
    for folder in ('include/weft', 'src'):
        for path in (root / folder).rglob('*'):
            if path.suffix in ('.h', '.cpp'):
                lines = path.read_text(encoding='utf-8').split('\n')
                code = '\n'.join(line.split('//')[0] for line in lines)
                if ORDER.search(code) or FENCE.search(code):
                    found.add(str(path.relative_to(root)))
    return found


def rows(text):
    """Returns: pairs of a file and what it rests on."""
    found, folder = [], ''
    for line in text.split('\n'):
        head = re.match(r'\| file in `([\w/]+)` ', line)
        row = ROW.match(line)
        if head:
            folder = head[1]
        elif line.startswith('## '):
            folder = ''
        elif row and folder:
            found.append((folder + '/' + row[1], row[3].strip()))
    return found


def seeded(root):
    """Returns: for each file the models that find bugs in it."""
    found = {}
    for path in (root / 'tests/model').rglob('*_model.cpp'):
        for name in SEED.findall(path.read_text(encoding='utf-8')):
            name = name if name.startswith(('src/', 'include/')) else 'include/weft/detail/' + name
            found.setdefault(name, set()).add('model_' + path.stem[:-len('_model')])
    return found


def check(root):
    wanted, seeds, named, problems = ordered(root), seeded(root), set(), []
    sources = (root / 'tests/model/scheduler/sources.cpp').read_text(encoding='utf-8')
    for name, rests in rows((root / PAGE).read_text(encoding='utf-8')):
        if name in named:
            problems.append(f'{name} has two rows')
        named.add(name)
        if name not in wanted:
            problems.append(f'{name} has a row, but no order other than relaxed, and no fence')
        models = set(re.findall(r'`(model_\w+?)(?:_\*)?`', rests.replace(RUN, '')))
        for model in sorted(models - seeds.get(name, set())):
            problems.append(f'{name} rests on {model}, which has no bug for that file')
        if seeds.get(name) and not models:
            problems.append(f'{name} names none of its models: ' + ', '.join(sorted(seeds[name])))
        if not models and 'reading' not in rests and RUN not in rests:
            problems.append(f'{name} rests on nothing')
        if RUN in rests and name.endswith('.cpp') and f'"{name[len("src/"):]}"' not in sources:
            problems.append(f'{name} is none of the sources of tests/model/scheduler')
    problems += [f'{name} has no row' for name in sorted(wanted - named)]
    return problems, len(named)


def main():
    problems, number = check(pathlib.Path(sys.argv[1]))
    for problem in problems:
        print(f'{PAGE}: {problem}')
    print(f'{number} files, {len(problems)} problems')
    return 1 if problems or not number else 0


if __name__ == '__main__':
    sys.exit(main())
