# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Writes changed copies of sources: change.py CHANGES ROOT OUT

Each entry of the file CHANGES is

    fit FILE               or    bug NAME SCENARIO FILE
    - a text that the file has once
    + what replaces it

where a backslash and an n stand for the end of a line. The copies lie in OUT, named as in include or src of
ROOT. SEEDED in a replacement is true if the program was called with that bug, which the scenario must find. A copy has as many lines as its
source, and compilers name the source in messages.
"""

import pathlib
import sys


def entries(path):
    """Yields (name or None, file, old, new)."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    for head, old, new in zip(lines[0::3], lines[1::3], lines[2::3], strict=True):
        kind, *words = head.split()
        name, _ = (words.pop(0), words.pop(0)) if kind == "bug" else (None, None)
        if kind not in ("bug", "fit") or len(words) != 1 or old[:2] != "- " or new[:2] != "+ ":
            sys.exit(f"{path}: no entry: {head}")
        old, new = (text[2:].replace("\\n", "\n") for text in (old, new))
        if old.count("\n") != new.count("\n"):
            sys.exit(f"{path}: the lines differ in number: {head}")
        yield name, words[0], old, new


def main():
    changes, root, out = map(pathlib.Path, sys.argv[1:])
    texts = {}
    for name, file, old, new in entries(changes):
        text = texts.get(file) or (root / file).read_text()
        if text.count(old) != 1:
            sys.exit(f"{changes}: {file} has {text.count(old)} times, not once: {old}")
        texts[file] = text.replace(old, new.replace("SEEDED", f'::weft::model::isSeeded("{name}")'))
    copies = set()
    for file, text in texts.items():
        copy = out / pathlib.Path(*pathlib.Path(file).parts[1:])
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = f'#line 1 "{root / file}"\n{text}'
        if not copy.exists() or copy.read_text() != text:
            copy.write_text(text)
        copies.add(copy)
    # What is changed no more would hide its source.
    for old in out.rglob("*.*"):
        if old.suffix in (".h", ".cpp") and old not in copies:
            old.unlink()


main()
