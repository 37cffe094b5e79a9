#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures how long `weft ps` takes for very many blocked fibers.

    measure_ps.py build/test/src/tools/weft build/test/tests/hanging_debug build/test/tests/hanging_stripped

Runs each program, of tests/tools/hanging.cpp, with 100,000 tasks that wait, looks at the process five times, has it
leave a core file, and looks at that five times. Prints the median of the seconds by the clock, and of those that the
processor computes for it.
"""

import argparse
import os
import pathlib
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time

RUNS = 5


def measure(weft, target, fibers):
    """Returns: the medians of both times."""
    clock, processor = [], []
    for _ in range(RUNS):
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        text = subprocess.run([weft, "ps", target], capture_output=True, text=True, check=True).stdout
        clock.append(time.monotonic() - begin)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        found = re.search(r" in use, of which ([\d,]+) wait", text)
        if found is None or int(found.group(1).replace(",", "")) < fibers:
            sys.exit("weft ps does not find %d fibers:\n%s" % (fibers, text[:2000]))
    return statistics.median(clock), statistics.median(processor)


def row(*cells):
    print("%-24s %-12s %10s %14s" % cells, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weft")
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--fibers", type=int, default=100_000)
    options = parser.parse_args()
    row("program", "", "clock", "processor")
    for program in map(os.path.abspath, options.programs):
        name = pathlib.Path(program).name
        limit = resource.RLIM_INFINITY
        with tempfile.TemporaryDirectory() as folder:
            with subprocess.Popen([program, str(options.fibers)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  cwd=folder, text=True, preexec_fn=lambda: resource.setrlimit(
                                      resource.RLIMIT_CORE, (limit, limit))) as process:
                if process.stdout.readline() != "ready\n":
                    sys.exit("%s does not run" % name)
                row(name, "process", *("%.2f s" % each for each in
                                       measure(options.weft, str(process.pid), options.fibers)))
                process.send_signal(signal.SIGQUIT)
            core = next(iter(pathlib.Path(folder).iterdir()), None)
            if core is None:
                row(name, "core file", "none", "")
            else:
                row(name, "core file", *("%.2f s" % each for each in
                                         measure(options.weft, str(core), options.fibers)))


if __name__ == "__main__":
    main()
