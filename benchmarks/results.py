# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""What was measured: every process of every case, with what disturbed it. Kept in results.json."""

import json
import os
import statistics
from collections import namedtuple

import conditions

Key = namedtuple("Key", "question library workload workers")
# One process: its metrics, and the processors that others took meanwhile.
Run = namedtuple("Run", "metrics busy")

# A figure is steady whose slowest run takes at most this many times the median.
STEADY_LIMIT = 1.5


def spread_of(values):
    """Returns by how much the largest value exceeds the median."""
    median = statistics.median(values)
    return max(values) / median if median > 0 else 1.0


class Results:
    """`conditions` says how all of it was measured; `runs` and `failures` have a Key each."""

    def __init__(self, how):
        self.conditions = how
        self.is_complete = False
        self.runs = {}
        self.failures = {}

    def add(self, key, run):
        self.runs.setdefault(key, []).append(run)

    def quiet_runs(self, key):
        return [run for run in self.runs.get(key, []) if run.busy <= conditions.BUSY_LIMIT]

    def is_busy(self, key):
        """Returns whether most runs were disturbed, so that the disturbed ones count too."""
        return 2 * len(self.quiet_runs(key)) < min(self.conditions["runs"], len(self.runs.get(key, [])))

    def values(self, key, metric):
        """Returns what the runs that count have measured, or None."""
        runs = self.runs.get(key, []) if self.is_busy(key) else self.quiet_runs(key)
        return [run.metrics[metric] for run in runs if metric in run.metrics] or None

    def metrics(self, key):
        """Returns the names of its figures; the first is what the program is about."""
        return list(self.runs[key][0].metrics)

    def figures(self):
        """Returns {key: {metric: values}}."""
        return {key: {metric: values for metric in self.metrics(key) if (values := self.values(key, metric))}
                for key in self.runs}

    def save(self, path):
        rows = [dict(key._asdict(), busy=[run.busy for run in runs], isBusy=self.is_busy(key),
                     value={metric: [run.metrics.get(metric) for run in runs] for metric in self.metrics(key)})
                for key, runs in self.runs.items()]
        failures = [dict(key._asdict(), value=why) for key, why in self.failures.items()]
        # In one step, so that the file is whole whenever the run ends.
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(dict(self.conditions, complete=self.is_complete, figures=rows, failures=failures), file, indent=1)
        os.replace(path + ".new", path)


def load(path):
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    figures, failures = content.pop("figures"), content.pop("failures")
    is_complete = content.pop("complete")
    results = Results(content)
    results.is_complete = is_complete
    for row in figures:
        key = Key(*(row[field] for field in Key._fields))
        for index, busy in enumerate(row["busy"]):
            metrics = {name: values[index] for name, values in row["value"].items() if values[index] is not None}
            results.add(key, Run(metrics, busy))
    for row in failures:
        results.failures[Key(*(row[field] for field in Key._fields))] = row["value"]
    return results
