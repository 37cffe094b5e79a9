#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests in a build that counts what they execute, and reports the lines and branches of include and src.

    tests/coverage.py              # builds the preset `coverage`, runs its tests, prints the table
    tests/coverage.py --report     # the table again, from the counts of the last run
    tests/coverage.py --missed idle.h     # the lines and branches of one file that nothing executed

Counts are written as the program runs, so that what ends with a message counts too. A template counts as its best instantiation.
Ends with 1 if fewer than 95 % of the lines or 90 % of the branches are covered.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "coverage"
COUNTS = BUILD / "counts"
MERGED = BUILD / "merged.profdata"
BARS = {"lines": 95.0, "branches": 90.0}


def run_tests():
    """Fails where the build or a test fails: then the counts say nothing."""
    subprocess.run(["cmake", "--preset", "coverage"], cwd=ROOT, check=True)
    subprocess.run(["cmake", "--build", "--preset", "coverage"], cwd=ROOT, check=True)
    shutil.rmtree(COUNTS, ignore_errors=True)
    COUNTS.mkdir()
    subprocess.run(["ctest", "--preset", "coverage"], cwd=ROOT, check=True)


def merge():
    counts = sorted(COUNTS.glob("*.profraw"))
    listed = BUILD / "counts.txt"
    listed.write_text("".join(f"{path}\n" for path in counts))
    # A child that was killed as it began may leave a file without a header.
    subprocess.run(["llvm-profdata-19", "merge", "-sparse", "-failure-mode=all", "-f", listed, "-o", MERGED], check=True)


def programs():
    """Returns: what was built with counters."""
    for path in sorted((BUILD / "tests").glob("*")) + sorted((BUILD / "examples").glob("*")):
        if path.is_file() and path.open("rb").read(4) == b"\x7fELF":
            yield path


def covered(command, sources, *options):
    """Returns: what llvm-cov says of these sources for all programs together."""
    first, *others = programs()
    line = ["llvm-cov-19", command, f"-instr-profile={MERGED}", *options, first]
    line += [f"-object={path}" for path in others] + [ROOT / source for source in sources]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def report():
    data = json.loads(covered("export", ["include", "src"], "-summary-only"))["data"][0]
    rows = [(pathlib.Path(file["filename"]).relative_to(ROOT), file["summary"]) for file in data["files"]]
    width = max(len(str(name)) for name, _ in rows)
    print(f"{'':{width}}  {'lines':>12}  {'branches':>12}")

    def cell(summary):
        return f"{summary['count'] - summary['covered']:5} {summary['percent']:5.1f} %" if summary["count"] else f"{'':13}"

    for name, summary in sorted(rows, key=lambda row: str(row[0])):
        print(f"{str(name):{width}}  {cell(summary['lines'])} {cell(summary['branches'])}")
    good = True
    for kind, bar in BARS.items():
        total = data["totals"][kind]
        good &= total["percent"] >= bar
        print(f"{kind}: {total['covered']} of {total['count']}, {total['percent']:.1f} % (bar: {bar:.0f} %)")
    return good


def missed(name):
    source = name if (ROOT / name).is_file() else next(ROOT.glob(f"include/**/{name}"), None) or next(ROOT.glob(f"src/**/{name}"))
    shown = covered("show", [source], "-show-branches=count", "-show-instantiations=false", "-use-color=false")
    # A line is "  12|      0|text", a condition in it "  |  Branch (12:7): [True: 0, False: 3]".
    for line in shown.splitlines():
        if re.match(r"^ *\d+\| +0\|", line) or re.search(r"Branch \(.*(True|False): 0[,\]]", line):
            print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--missed", metavar="FILE")
    options = parser.parse_args()
    if options.missed:
        missed(options.missed)
        return 0
    if not options.report:
        run_tests()
        merge()
    return 0 if report() else 1


if __name__ == "__main__":
    sys.exit(main())
