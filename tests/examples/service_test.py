#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that `weft profile` tells the faults of the example service, and that the mended one has none.

    service_test.py SERVICE WEFT
"""

import re
import subprocess
import sys
import time

PATIENCE = 60  # seconds
WAITS_FOR_LOCK = r"waits;Session;.*;mutex"
BLOCKS = r"blocks its thread;Session;.*usleep.*"
ASKS = r"waits;Session;.*askDatabase\(int\).*;sleep"
STORES = r"waits;Session;.*blocking_call"


def stacks_until(weft, process, wanted):
    """Returns: the stacks of samples, as soon as each of the patterns `wanted` has had one."""
    stacks, deadline = set(), time.monotonic() + PATIENCE
    while not all(any(re.fullmatch(pattern, stack) for stack in stacks) for pattern in wanted):
        assert time.monotonic() < deadline, "not all of %s are in\n%s" % (wanted, "\n".join(sorted(stacks)))
        command = [weft, "profile", "--seconds", "0.3", "--rate", "100", str(process.pid)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        stacks |= {line.rsplit(" ", 1)[0] for line in done.stdout.splitlines()}
    return stacks


def stacks_of(service, weft, arguments, wanted):
    with subprocess.Popen([service, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as process:
        try:
            stacks = stacks_until(weft, process, wanted)
            text, _ = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == 0, process.returncode
    assert re.fullmatch(r"\d+ answers in a second\n", text), text
    return stacks


def main():
    service, weft = sys.argv[1:3]
    stacks_of(service, weft, [], [WAITS_FOR_LOCK, ASKS, BLOCKS])
    stacks = stacks_of(service, weft, ["mended"], [ASKS, STORES])
    blocked = [stack for stack in stacks if re.fullmatch(BLOCKS, stack)]
    assert not blocked, blocked


if __name__ == "__main__":
    main()
