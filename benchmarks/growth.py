# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""How the cost of one thing grows with their number: the curves of the question `growth`, and where they bend."""

import re
import statistics

import bars

# A curve bends upward where a point costs this many times the cheapest one before it.
BEND = 1.5


class Curve:
    """`points` are (size, cost), by size: one library, one workload, one metric."""

    def __init__(self, kind, library, metric, workers):
        self.kind, self.library, self.metric, self.workers = kind, library, metric, workers
        self.points = []

    @property
    def name(self):
        threads = ", " + bars.count(self.workers) if self.workers else ""
        return "%s, %s, %s%s" % (self.kind, self.library, self.metric, threads)

    @property
    def lowest(self):
        return min(self.points, key=lambda point: point[1])

    def bends(self):
        """Returns (size, cost, the lowest cost before) where the cost first exceeds BEND x the lowest before it."""
        lowest = self.points[0][1]
        for size, cost in self.points:
            if cost > BEND * lowest:
                return size, cost, lowest
            lowest = min(lowest, cost)
        return None


def curves(figures):
    """Returns the curves: over the number that ends a workload's name, or else over the workers."""
    found = {}
    for key, metrics in figures.items():
        if key.question != "growth":
            continue
        match = re.fullmatch(r"(.*)-(\d+)", key.workload)
        kind, size = (match.group(1), int(match.group(2))) if match else (key.workload, key.workers)
        for metric, values in metrics.items():
            if metric == "peak_rss_kib":
                continue
            of = (kind, key.library, metric, key.workers if match else None)
            found.setdefault(of, Curve(*of)).points.append((size, statistics.median(values)))
    for curve in found.values():
        curve.points.sort()
    return sorted(found.values(), key=lambda curve: curve.name)


def bend_text(curve):
    bend = curve.bends()
    return "at %d: %.3g x the lowest before" % (bend[0], bend[1] / bend[2]) if bend else "no"
