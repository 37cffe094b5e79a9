#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests in a build that counts what they execute, and reports the lines and branches of include and src.

    tests/coverage.py              # builds the preset `coverage`, runs its tests, prints the table
    tests/coverage.py --report     # the table again, from the counts of the last run
    tests/coverage.py --missed [FILE...]  # the lines and branches that nothing executed and nothing explains, of all files or of some
    tests/coverage.py --check      # whether each line that is explained is still there

Counts are written as the program runs, so that what ends with a message counts too. Each program has one file of counts, which all its
processes share, and adds to it by atomic operations: what is counted by subtraction would be wrong otherwise. A line or branch of a
template counts if one of its instantiations executes it.

coverage_explained.txt lists what no test executes, with the reason. It is printed apart, and never counts as covered.
Ends with 1 if fewer than 95 % of the lines or 90 % of the branches are covered, or if an explanation is stale: its line is gone, or all
of it is executed.
"""

import argparse
import collections
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "coverage"
COUNTS = BUILD / "counts"
MERGED = BUILD / "merged.profdata"
EXPLAINED = pathlib.Path(__file__).with_name("coverage_explained.txt")
BARS = {"lines": 95.0, "branches": 90.0}
# What a reason begins with if threads must meet in time for the line to be executed: then it is not stale where they did.
AT_TIMES = "At times:"


def run_tests():
    """Fails where the build or a test fails: then the counts say nothing."""
    subprocess.run(["cmake", "--preset", "coverage"], cwd=ROOT, check=True)
    subprocess.run(["cmake", "--build", "build/coverage"], cwd=ROOT, check=True)
    shutil.rmtree(COUNTS, ignore_errors=True)
    COUNTS.mkdir()
    subprocess.run(["ctest", "--preset", "coverage"], cwd=ROOT, check=True)


def merge():
    counts = sorted(COUNTS.glob("*.profraw"))
    listed = BUILD / "counts.txt"
    listed.write_text("".join(f"{path}\n" for path in counts))
    subprocess.run(["llvm-profdata-19", "merge", "-sparse", "-f", listed, "-o", MERGED], check=True)


def programs():
    """Returns: what was built with counters."""
    return [path for folder in ("tests", "examples") for path in sorted((BUILD / folder).glob("*"))
            if path.is_file() and path.open("rb").read(4) == b"\x7fELF"]


def exported(program):
    """Returns: what llvm-cov says of include and src, by file, as far as they are in the program.

    One program at a time: of a function that is in several programs it knows that of the first only, which has no counts if that
    program does not use the function, and others if it compiles it to different code."""
    command = ["llvm-cov-19", "export", "-skip-functions", f"-instr-profile={MERGED}", program, ROOT / "include", ROOT / "src"]
    # Its warnings, which are left out, are of mismatched data: the empty records of functions that the program does not use.
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    files = {str(pathlib.Path(file["filename"]).relative_to(ROOT)): file for file in json.loads(text)["data"][0]["files"]}
    # Of a program that has nothing of these folders it tells all.
    return {name: file for name, file in files.items() if name.startswith(("include/", "src/"))}


def read_counts():
    """Returns: the counts of each file: those of its lines, and those of its branches. They are in the profile of all programs
    together, so that each program tells the same of what it has."""
    counts = collections.defaultdict(lambda: ({}, {}))
    for program in programs():
        for name, file in exported(program).items():
            lines, branches = counts[name]
            for line, count in line_counts(file["segments"]).items():
                lines[line] = max(count, lines.get(line, 0))
            for place, pair in branch_counts(file).items():
                branches[place] = [max(two) for two in zip(pair, branches.get(place, pair))]
    return counts


def line_counts(segments):
    """Returns: how often each line with code is executed: as often as the part of it that is executed most.

    As llvm-cov counts, but for a line that begins in the gap behind a block, whose count says nothing about what follows in the line."""
    starts = collections.defaultdict(list)
    for line, _, *segment in segments:
        starts[line].append(segment)
    counts, (count, has_count, is_gap) = {}, (0, False, False)  # Of what goes on from the line before.
    for line in range(segments[0][0], segments[-1][0] + 1) if segments else ():
        here = starts[line]
        entered = [own for own, has, is_entry, gap in here if has and is_entry and not gap]
        resumed = [own for own, has, is_entry, gap in here if has and not is_entry and not gap] if is_gap else []
        is_skipped = bool(here) and here[0][2] and not here[0][1]
        if (not is_skipped and (has_count or entered)) or any(has and is_entry for _, has, is_entry, _ in here):
            counts[line] = max([*entered, *resumed, count])
        if here:
            count, has_count, _, is_gap = here[-1]
    return counts


def branch_counts(file):
    """Returns: how often each condition is true, and how often false, by its place: the line, and what tells it from others there."""
    counts = collections.defaultdict(lambda: [0, 0])
    for branch in file["branches"]:
        add(counts[(branch[0], tuple(branch[:4]))], branch)
    for expansion in file["expansions"]:  # Of a macro: each use counts by itself.
        use = tuple(expansion["source_region"][:4])
        for branch in expansion["branches"]:
            add(counts[(use[0], use + tuple(branch[:4]))], branch)
    return counts


def add(sums, branch):
    sums[0] += branch[4]
    sums[1] += branch[5]


class File:
    """What is executed of one file. `missed` has a description of all that is not, by line."""

    def __init__(self, name, lines, branches):
        self.name = name
        self.text = [""] + (ROOT / name).read_text(encoding="utf-8").split("\n")
        self.missed = collections.defaultdict(list)
        # In the record of a function that no program uses all lines count, even what is no code.
        lines = {line: count for line, count in lines.items() if count or not self.text[line].lstrip().startswith(("//", "#"))}
        self.lines = [len(lines), 0]
        self.branches = [2 * len(branches), 0]
        for line, count in lines.items():
            if not count:
                self.missed[line].append("never executed")
                self.lines[1] += 1
        for (line, place), counts in sorted(branches.items()):
            self.branches[1] += counts.count(0)
            if 0 in counts:
                never = "evaluated" if counts == [0, 0] else "true" if counts[0] == 0 else "false"
                self.missed[line].append(f"never {never}: {self.part(*place[:4])}")

    def part(self, line, column, last, end):
        return self.text[line][column - 1:end - 1 if last == line else None]

    def run_from(self, line):
        """Returns: this line, and the lines after it as long as they are missed."""
        last = line
        while "never executed" in self.missed.get(last + 1, ()):
            last += 1
        return range(line, last + 1)


def explanations():
    """Returns: the reason for each place, which is a file and the text of a line of it."""
    reasons, places, isReason = {}, [], True
    for line in EXPLAINED.read_text(encoding="utf-8").split("\n") if EXPLAINED.is_file() else ():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" "):
            isReason = True
            for place in places:
                reasons[place] = (reasons[place] + " " + line.strip()).strip()
        else:
            places, isReason = ([] if isReason else places), False
            name, _, text = line.partition(": ")
            places.append((name, text.strip()))
            reasons[places[-1]] = ""
    return reasons


def places_of(reasons):
    """Returns: the lines that each reason is for, and what is wrong with the reasons, as far as the sources tell."""
    places, problems = {}, []
    for (name, text), reason in reasons.items():
        lines = (ROOT / name).read_text(encoding="utf-8").split("\n") if (ROOT / name).is_file() else []
        places[name, text] = [number for number, line in enumerate(lines, 1) if line.strip() == text]
        if not places[name, text]:
            problems.append(f"{EXPLAINED.name}: there is no such line: {name}: {text}")
        elif not reason:
            problems.append(f"{EXPLAINED.name}: no reason: {name}: {text}")
    return places, problems


def explain(files, reasons):
    """Returns: the lines that have a reason, by file, and what is wrong with the reasons. An entry explains what is missed at its line,
    and the missed lines that follow."""
    explained = collections.defaultdict(set)
    places, problems = places_of(reasons)
    for (name, text), lines in places.items():
        file = files.get(name)
        missed = {near for line in lines for near in file.run_from(line) if file.missed.get(near)} if file else set()
        explained[name] |= missed
        if lines and not missed and not reasons[name, text].startswith(AT_TIMES):
            problems.append(f"{EXPLAINED.name}: all of it is executed: {name}: {text}")
    return explained, problems


def cells(row):
    """Of a row of the table: how many lines, how many of them are missed, the same of branches, and what is explained of both."""
    lines, missed_lines, branches, missed_branches, explained = row
    text = ""
    for count, missed in ((lines, missed_lines), (branches, missed_branches)):
        text += f" {missed:6} {100 - 100 * missed / count:6.1f} %" if count else f" {'':15}"
    return text + f" {explained:10}"


def report(files, explained):
    width = max(len(name) for name in files)
    print(f"{'':{width}}  {'missed lines':>14}  {'and branches':>14}  {'explained':>9}")
    folders = collections.defaultdict(lambda: [0, 0, 0, 0, 0])
    for name, file in sorted(files.items()):
        row = [*file.lines, *file.branches, sum(len(file.missed[line]) for line in explained[name])]
        print(f"{name:{width}}{cells(row)}")
        for sums in (folders[name.rpartition("/")[0]], folders["all"]):
            sums[:] = [a + b for a, b in zip(sums, row)]
    print()
    for name, sums in sorted(folders.items(), key=lambda item: (item[0] == "all", item[0])):
        print(f"{name:{width}}{cells(sums)}")
    good = True
    for (kind, bar), (count, missed) in zip(BARS.items(), (folders["all"][:2], folders["all"][2:4])):
        percent = 100 * (count - missed) / count
        good &= percent >= bar
        print(f"{kind}: {count - missed} of {count}, {percent:.1f} % (bar: {bar:.0f} %)")
    return good


def show_missed(files, explained, names):
    for name, file in sorted(files.items()):
        if names and not any(name.endswith(wanted) for wanted in names):
            continue
        for line in sorted(file.missed.keys() - explained[name]):
            if file.missed[line]:
                print(f"{name}:{line}: {', '.join(file.missed[line])}: {file.text[line].strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--missed", metavar="FILE", nargs="*")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        _, problems = places_of(explanations())
        print("\n".join(problems))
        return 1 if problems else 0
    if not options.report and options.missed is None:
        run_tests()
        merge()
    files = {name: File(name, *counts) for name, counts in read_counts().items()}
    explained, problems = explain(files, explanations())
    if options.missed is not None:
        show_missed(files, explained, options.missed)
        return 0
    good = report(files, explained)
    print("\n".join(problems))
    return 0 if good and not problems else 1


if __name__ == "__main__":
    sys.exit(main())
