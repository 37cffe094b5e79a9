#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Counts how often the unit tests find the bugs of bugs.txt: bugs.py BUILD [--runs N] [--seconds S] [--only NAME...]

BUILD was configured with -DWEFT_TEST_BUGS=ON, and with or without -DWEFT_STRESS=ON. For each bug, and for none, its program runs N
times, with the seeds 1 to N. A run that fails, or has not ended after S seconds, has found the bug.
"""

import argparse
import collections
import os
import pathlib
import subprocess
import time


def entries():
    lines = (pathlib.Path(__file__).parent / "bugs.txt").read_text().splitlines()
    programs = collections.OrderedDict()
    for line in lines:
        if line.startswith("bug "):
            _, name, program, _ = line.split()
            programs[name] = program
    return programs


def finds(build, program, bug, seed, seconds):
    """Returns "" where the program passes."""
    environment = dict(os.environ, WEFT_STRESS_SEED=str(seed), WEFT_STRESS_BUG=bug)
    command = ["timeout", "-s", "KILL", str(seconds), pathlib.Path(build) / "tests" / program, "--gtest_brief=1"]
    run = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return "" if run.returncode == 0 else "late" if run.returncode in (-9, 137) else "fails"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", nargs="*")
    arguments = parser.parse_args()
    programs = {name: program for name, program in entries().items() if not arguments.only or name in arguments.only}
    cases = [("", program) for program in dict.fromkeys(programs.values())] + list(programs.items())
    for name, program in cases:
        start = time.monotonic()
        results = [finds(arguments.build, program, name, seed, arguments.seconds) for seed in range(1, arguments.runs + 1)]
        found = sum(result != "" for result in results)
        print(f"{name or 'no bug':30} {program:26} found in {found:3} of {len(results)} runs, of which "
              f"{results.count('late'):3} did not end; {time.monotonic() - start:5.0f} s", flush=True)


main()
