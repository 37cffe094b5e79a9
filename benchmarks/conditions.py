# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""What disturbs a measurement: how much of the processors others take meanwhile."""

import os
import resource
import time

# A process during which others had more than this share of one processor was disturbed. The kernel counts in
# ticks, so that what is below NOISE_SECONDS says nothing.
BUSY_LIMIT = 0.1
NOISE_SECONDS = 0.05


def all_seconds():
    """Returns the processor time that was taken since the system started, by it, its processes and its hypervisor."""
    with open("/proc/stat", encoding="ascii") as stat:
        fields = stat.readline().split()[1:9]
    user, nice, system, _, _, irq, softirq, steal = (int(field) for field in fields)
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    """Returns the processor time of this process and of all children that it has waited for."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class Watch:
    """Begins when it is made, and ends with others_share()."""

    def __init__(self):
        self.begin = time.monotonic(), all_seconds(), own_seconds()

    def others_share(self):
        """Returns what others and the hypervisor took meanwhile, in processors: 1 is one of them, all the time."""
        wall, all_taken, own = (end - begin for end, begin in zip(
            (time.monotonic(), all_seconds(), own_seconds()), self.begin))
        others = all_taken - own
        return round(others / wall, 3) if others > NOISE_SECONDS else 0.0
