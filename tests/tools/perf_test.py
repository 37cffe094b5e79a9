#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that perf follows the calls of a task down to the base of its fiber, and no further.

    perf_test.py PERF PROGRAM

Skipped, with 77, where PERF is empty, or where the system does not let it look.
"""

import pathlib
import subprocess
import sys
import tempfile

PERF, PROGRAM = sys.argv[1:]


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def record(data):
    command = [PERF, "record", "-o", data, "--call-graph", "dwarf", "-e", "task-clock:u", "-F", "200", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0 or not data.exists():
        print(done.stderr)
        skip("the system does not let perf look at a process")


def stacks(data):
    """Returns: the functions of each sample, innermost first."""
    done = subprocess.run([PERF, "script", "-i", data, "--no-inline", "-F", "ip,sym"], capture_output=True,
                          text=True, check=True, timeout=300)
    samples = done.stdout.strip().split("\n\n")
    return [[line.split(maxsplit=1)[-1] for line in sample.splitlines() if line.strip()] for sample in samples]


def main():
    if not PERF:
        skip("the system has no perf")
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "perf.data"
        record(data)
        found = [stack for stack in stacks(data) if stack and "computeInTask" in stack[0]]
    if not found:
        sys.exit("no sample is in the task")
    for stack in found:
        if "weft_run_task" not in stack or stack[-1] != "weft_fiber_base":
            sys.exit("a stack does not end at the base of a fiber:\n" + "\n".join(stack))
    print(len(found), "stacks end at the base of a fiber")


if __name__ == "__main__":
    main()
