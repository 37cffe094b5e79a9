# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""What the page of performance compares: the rows of its tables, which the chart of all of them shows too."""

import statistics
from collections import namedtuple

from results import Key

COLOURS = {
    "weft": "#0b5cad", "weft 2": "#2f86d6", "weft 3": "#5fabea", "oneTBB": "#c77d21", "OpenMP": "#a9587f",
    "Go": "#2f8f7a", "Boost.Fiber": "#7d8790", "Asio": "#7668b3", "std": "#8a8431", "floor": "#a7b0b8",
    "uring": "#a7b0b8", "serial": "#66717d"}
# The folders' names where they differ.
LIBRARIES = {"weft 2": "weft", "weft 3": "weft", "oneTBB": "tbb", "OpenMP": "openmp", "Go": "go",
             "Boost.Fiber": "boost_fiber", "Asio": "asio"}

# One library's figure: the sum of `metrics`, and the factor to the unit of its row.
Figure = namedtuple("Figure", "label colour key metrics factor")
# The first of the figures is weft's.
Row = namedtuple("Row", "title unit figures")


class Measured:
    """The figures of all processes, and which of them were asked for."""

    def __init__(self, results):
        self.results, self.used = results, {}

    def values(self, figure):
        self.used.setdefault(figure.key, set()).update(figure.metrics)
        return [figure.factor * sum(run.metrics[metric] for metric in figure.metrics)
                for run in self.results.runs[figure.key]]

    def median(self, figure):
        return statistics.median(self.values(figure))


def figure(question, metrics, factor, kind, workload, workers, label=None):
    metrics = (metrics,) if isinstance(metrics, str) else metrics
    key = Key(question, LIBRARIES.get(kind, kind), workload, workers)
    return Figure(label or kind, COLOURS[kind], key, metrics, factor)


def fork_join(question, workers):
    def of(kind, workload, label=None):
        return figure(question, "ms", 1, kind, workload, workers, label)
    return [of("weft", "join", "weft, join"), of("weft 2", "group", "weft, TaskGroup"),
            of("weft 3", question, "weft, schedule"), of("oneTBB", question), of("Go", question),
            of("OpenMP", question)]


def spawns(workers):
    return [figure("spawn", "ns_per_task", 1, kind, "task", workers)
            for kind in ("weft", "OpenMP", "oneTBB", "Go")]


def yields(workload):
    return [figure("switch", "ns_per_switch", 1, kind, workload, 1) for kind in ("weft", "Boost.Fiber", "Go")]


def channels():
    return [figure("channel", "ns", 1, kind, "ping-pong", 1) for kind in ("weft", "Boost.Fiber", "Go")]


def blocked(*metrics):
    """Go's page tables are not measured, as its stacks lie close together."""
    def of(kind, workload, label=None):
        return figure("blocked", metrics, 1, kind, workload, 1, label)
    of_go = tuple(name for name in metrics if name != "page_table_bytes")
    return [of("weft", "blocked"), of("Go", "blocked")._replace(metrics=of_go),
            of("Boost.Fiber", "blocked", "Boost.Fiber, malloc"),
            of("Boost.Fiber", "blocked-pooled", "Boost.Fiber, pooled")]


def requests(gap, metric="p50_us"):
    workload = "gap-%d/burst-16x2/hops-1" % gap
    return [figure("request", metric, 1, kind, workload, 4, label) for kind, label in (
        ("weft", None), ("OpenMP", None), ("oneTBB", None), ("std", "spinning pool"))]


def echoes(connections, metric="ns_per_request", factor=0.001):
    workload = "connections-%d" % connections

    def of(kind, label=None):
        return figure("echo", metric, factor, kind, workload, 1, label)
    return [of("weft"), of("Asio"), of("Boost.Fiber"), of("Go"), of("floor", "epoll loop"),
            of("uring", "io_uring loop")]


MAIN = [
    Row("fib(30) by fork and join, 8 workers", "ms", fork_join("fib", 8)),
    Row("skynet, a million leaves, 8 workers", "ms", fork_join("skynet", 8)),
    Row("nqueens(11), 16 workers", "ms", fork_join("nqueens", 16)),
    Row("an empty task, spawned by a task, 1 worker", "ns", spawns(1)),
    Row("an empty task, spawned by a task, 2 workers", "ns", spawns(2)),
    Row("yield to another fiber", "ns", yields("yield")),
    Row("a value through a channel without buffer", "ns", channels()),
    Row("block a fiber on a used stack, wake and end it", "ns", blocked("reused_ns", "signal_ns")),
    Row("a burst of 16 tasks of 2 us, gaps of 100 us, 4 workers, p50", "us", requests(100)),
    Row("echo a message, 64 connections, 1 worker", "us", echoes(64)),
    Row("echo a message, 1,024 connections, 1 worker", "us", echoes(1024)),
]


MEMORY = ("resident_bytes", "page_table_bytes")
OUTSIDE = [figure("latency", "p50_ns", 0.001, kind, "outside", 2) for kind in ("weft", "oneTBB")]
ACROSS = [figure("event_across", "ns_per_round_trip", 0.001, kind, "round-trip", 2)
          for kind in ("weft", "Go")]
CACHE_LINE = figure("event_across", "ns_per_round_trip", 0.001, "floor", "cache-line", 2, "cache line")

# What is slower than a rival's.
LOST = [
    Row("the burst after gaps of 500 us, 4 workers, p50", "us", requests(500)),
    Row("the burst after gaps of 1,000 us, 4 workers, p50", "us", requests(1000)),
    Row("Event round trip between two workers", "us", ACROSS + [CACHE_LINE]),
    Row("an empty task, spawned by a task, 1 worker", "ns", spawns(1)[:2]),
    Row("an empty task, spawned by a task, 2 workers", "ns", spawns(2)[:2]),
    Row("block a fiber on a stack never used before", "ns", blocked("first_ns")[:2]),
    Row("resident memory of a blocked fiber, with page tables", "bytes", blocked(*MEMORY)[:2]),
    Row("a task from outside wakes one of 2 parked workers, p50", "us", OUTSIDE),
    Row("the burst after gaps of 100 us, 4 workers, p50", "us", requests(100)[:2]),
    Row("echo a message, 64 connections, 1 worker", "us", echoes(64)),
    Row("a value through a channel with 128 places, 1 worker", "ns",
        [figure("channel", "ns", 1, kind, "stream-128", 1) for kind in ("weft", "Boost.Fiber")]),
    Row("fib(30) by schedule and WaitGroup, 1 worker", "ms",
        [figure("fib", "ms", 1, kind, "fib", 1) for kind in ("weft", "OpenMP")]),
]
