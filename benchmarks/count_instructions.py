#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the instructions of two programs under callgrind, workload by workload.

    count_instructions.py BEFORE/bench_instructions_weft AFTER/bench_instructions_weft --bar 1.01
    count_instructions.py bench_compat_weft bench_compat_marl --bar 1.05

Runs each workload in two sizes; the difference between the two leaves start and end of the process out. Prints a table of
instructions per operation and their ratio, with a mark where it is above the bar; then ends with 1.
"""

import argparse
import json
import re
import subprocess
import sys

# A clock that is read once more, or a search that is cut off elsewhere, changes single runs of workloads with threads.
RUNS = 3


def run(valgrind, program, workload, workers, tiny):
    """Returns: instructions and operations of the least disturbed of some runs."""
    command = [valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null", program]
    command += ["--workload", workload, "--workers", str(workers)] + (["--tiny"] if tiny else [])
    results = []
    for _ in range(1 if workers == 0 else RUNS):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        count = int(re.search(r"Collected\s*:\s*(\d+)", done.stderr).group(1))
        results.append((count, json.loads(done.stdout)["metrics"]["operations"]))
    return min(results)


def per_operation(valgrind, program, workload, workers):
    full, full_operations = run(valgrind, program, workload, workers, False)
    tiny, tiny_operations = run(valgrind, program, workload, workers, True)
    return (full - tiny) / (full_operations - tiny_operations)


def listed(program):
    lines = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [(case["workload"], case["workers"]) for case in map(json.loads, lines)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--bar", type=float, default=1.01, help="the largest ratio that is allowed")
    parser.add_argument("--only", nargs="+", metavar="WORKLOAD")
    parser.add_argument("--workers", type=int, help="only cases with that many workers")
    parser.add_argument("--valgrind", default="valgrind")
    arguments = parser.parse_args()

    above = 0
    print("| workload | workers | before | after | ratio, at most %.2f |\n|---|---|---|---|---|" % arguments.bar)
    for workload, workers in listed(arguments.before):
        if arguments.only and workload not in arguments.only or arguments.workers not in (None, workers):
            continue
        before, after = (per_operation(arguments.valgrind, program, workload, workers)
                         for program in (arguments.before, arguments.after))
        is_above = after > arguments.bar * before
        above += is_above
        print("| %s | %d | %.1f | %.1f | %.3f%s |" % (workload, workers, before, after, after / before, " !" * is_above),
              flush=True)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
