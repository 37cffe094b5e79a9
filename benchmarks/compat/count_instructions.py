#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Counts what marl's names cost: the instructions of a marl program beside those of the same program in weft's names.

Runs each workload of bench_compat_weft and bench_compat_marl under callgrind, without worker threads, in two sizes; the
difference between the two leaves start and end of the process out. Prints a table of instructions per task and their ratio.
"""

import argparse
import json
import re
import subprocess

FULL, TINY = 100_000, 1_000  # problem.h
BAR = 1.05


def instructions(valgrind, program, workload, tiny):
    command = [valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null", program]
    command += ["--workload", workload, "--workers", "0"] + (["--tiny"] if tiny else [])
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(re.search(r"Collected\s*:\s*(\d+)", done.stderr).group(1))


def per_task(valgrind, program, workload):
    full = instructions(valgrind, program, workload, False)
    tiny = instructions(valgrind, program, workload, True)
    return (full - tiny) / (FULL - TINY)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="the folder of the programs: BUILD/benchmarks")
    parser.add_argument("--valgrind", default="valgrind")
    arguments = parser.parse_args()
    programs = ["%s/bench_compat_%s" % (arguments.build, library) for library in ("weft", "marl")]
    listed = subprocess.run([programs[0], "--list"], capture_output=True, text=True, check=True).stdout
    workloads = dict.fromkeys(json.loads(line)["workload"] for line in listed.splitlines())
    print("| workload | weft | marl | ratio, at most %.2f |\n|---|---|---|---|" % BAR)
    for workload in workloads:
        weft, marl = (per_task(arguments.valgrind, program, workload) for program in programs)
        print("| %s | %.1f | %.1f | %.3f%s |" % (workload, weft, marl, marl / weft, "" if marl <= BAR * weft else " !"),
              flush=True)


if __name__ == "__main__":
    main()
