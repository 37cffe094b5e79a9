#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the charts of docs/performance.md, and writes its tables, from docs/charts/measured.json.

With --take it first fills that file from the results.json of runs of run.py: it keeps the figures that the
charts and tables need. With --check it writes nothing, and fails where a chart, a table or a number of the
page is not what the figures say.
"""

import argparse
import json
import os
import re
import statistics
import sys

import page_figures as page
import results as measured
from drawing import Bar, Bars, Line, Lines, Panel, Ratio, Ratios, shown, times
from page_figures import COLOURS, LOST, MAIN, figure
from table import markdown

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs")
WORKERS = (1, 2, 4, 8, 16)
GAPS = (0, 10, 50, 100, 500, 1000)

FIB_16 = page.fork_join("fib", 16)
CPU = page.requests(1000, "cpu_us")
# (a number's place on the page, what it is, of which figure)
PROSE = [
    (r"`join` with 16 workers took ([\d.,]+) ms", min, FIB_16[0]),
    (r"`join` with 16 workers took [\d.,]+ ms in some processes and ([\d.,]+) ms", max, FIB_16[0]),
    (r"`TaskGroup` ([\d.,]+) and", min, FIB_16[1]),
    (r"`TaskGroup` [\d.,]+ and ([\d.,]+) ms", max, FIB_16[1]),
    (r"weft's burst and gap take ([\d.,]+) us of processor", statistics.median, CPU[0]),
    (r"OpenMP's ([\d.,]+) us, oneTBB's", statistics.median, CPU[1]),
    (r"oneTBB's ([\d.,]+) us and the spinning", statistics.median, CPU[2]),
    (r"the spinning pool's ([\d.,]+) us", statistics.median, CPU[3]),
]


def spread(values):
    return "%s [%s, %s]" % tuple(map(shown, (statistics.median(values), min(values), max(values))))


class Page:
    """All that is made of the figures: {file: text} of charts, and the tables of the page."""

    def __init__(self, results):
        self.data = page.Measured(results)
        machine = results.conditions["machine"].replace("(R)", "").split(", ")
        model, processors = machine[0].replace(" Processor", ""), machine[1]
        self.where = "%s, %s, %s" % (model, processors, results.conditions["day"])
        self.spread = [self.where, "Medians; the thin lines go from the fastest to the slowest process."]

    # Charts.

    def charts(self):
        return {"overview": self.overview(),
                "fib": self.by_workers("fib", "fib(30): 1.3 million forks and joins"),
                "nqueens": self.by_workers("nqueens", "nqueens(11): a task for each queen that is placed"),
                "spawn": self.spawn(), "switch": self.switch(), "blocked": self.blocked(),
                "request": self.by_gap("p50_us", "A burst of 16 tasks of 2 us: time until all have run (us)"),
                "request_cpu": self.by_gap("cpu_us", "The burst and the gap before it: processor time (us)"),
                "echo": self.echo()}

    def ratio(self, row):
        base = self.data.median(row.figures[0])
        return Ratio(row.title, "%s %s %s" % (row.figures[0].label, shown(base), row.unit),
                     [(each.label, self.data.median(each) / base, each.colour) for each in row.figures[1:]])

    def overview(self):
        main = [self.ratio(row) for row in MAIN if "1,024" not in row.title]
        lost = [self.ratio(row) for row in (LOST[0], LOST[2], LOST[5])]
        subtitle = ["Time / weft's time: right of the blue line weft is faster. Logarithmic.", self.where]
        return Ratios("weft beside other libraries", subtitle, [("Common operations", main),
                                                                ("Where others are faster", lost)])

    def by_workers(self, question, title):
        lines = []
        for each in page.fork_join(question, 1):
            figures = [each._replace(key=each.key._replace(workers=workers)) for workers in WORKERS]
            lines.append(Line(each.label, [(index, self.data.values(of)) for index, of in enumerate(figures)],
                              each.colour, False))
        serial = self.data.values(figure(question, "ms", 1, "serial", question, 1))
        points = [(index, serial) for index in range(len(WORKERS))]
        lines.append(Line("serial, no forks", points, COLOURS["serial"], True))
        return Lines(title + " (ms)", self.spread, ["%d" % workers for workers in WORKERS], "workers", lines)

    def by_gap(self, metric, title):
        lines = []
        for index, each in enumerate(page.requests(GAPS[0], metric)):
            figures = [page.requests(gap, metric)[index] for gap in GAPS]
            points = [(place, self.data.values(of)) for place, of in enumerate(figures)]
            lines.append(Line(each.label, points, each.colour, False))
        subtitle = [self.where + ", 4 workers"] + self.spread[1:]
        return Lines(title, subtitle, ["{:,}".format(gap) for gap in GAPS], "gap between bursts (us)", lines)

    def panel(self, title, figures):
        return Panel(title, [Bar(each.label, self.data.values(each), each.colour) for each in figures])

    def spawn(self):
        def of(workload, workers, *kinds):
            return [figure("spawn", "ns_per_task", 1, kind, workload, workers) for kind in kinds]
        return Bars("A million empty tasks: time of each (ns)", self.spread, [
            self.panel("spawned by one task, 1 worker", page.spawns(1)),
            self.panel("spawned by one task, 2 workers", page.spawns(2)),
            self.panel("by one task, a thousand at a time, 1 worker",
                       of("task-thousand", 1, "weft", "oneTBB", "Boost.Fiber", "Go")),
            self.panel("from a thread outside, 1 worker", of("outside", 1, "weft", "oneTBB")),
            self.panel("from a thread outside, 2 workers", of("outside", 2, "weft", "oneTBB"))])

    def switch(self):
        def bare(frames):
            key = measured.Key("switch", "raw_weft", "raw/%d" % frames, 1)
            return [page.Figure(label, COLOURS[kind], key._replace(library="raw_" + label), ("ns",), 1)
                    for kind, label in (("weft", "weft"), ("Boost.Fiber", "fcontext"), ("floor", "ucontext"))]
        return Bars("Switches between fibers of one worker (ns)", self.spread, [
            self.panel("yield", page.yields("yield")),
            self.panel("yield, six calls deep", page.yields("yield-frames")),
            self.panel("send and receive a value through a channel without buffer", page.channels()),
            self.panel("the bare switch of stacks", bare(0)),
            self.panel("the bare switch of stacks, six calls deep", bare(6))])

    def blocked(self):
        return Bars("100,000 fibers wait for one event: the cost of each", self.spread, [
            self.panel("start and block, on a stack never used before (ns)", page.blocked("first_ns")),
            self.panel("start and block, on a stack used before (ns)", page.blocked("reused_ns")),
            self.panel("wake and end (ns)", page.blocked("signal_ns")),
            self.panel("resident memory while blocked, with page tables but for Go (bytes)",
                       page.blocked(*page.MEMORY))])

    def echo(self):
        return Bars("Echo of 64 bytes over TCP, one worker: time of a request (us)", self.spread, [
            self.panel("64 connections", page.echoes(64)), self.panel("1,024 connections", page.echoes(1024)),
            self.panel("64 connections: p99 from the send until the reply", page.echoes(64, "p99_us", 1))])

    # Tables.

    def rows_of(self, row):
        base = self.data.median(row.figures[0])
        for index, each in enumerate(row.figures):
            values = self.data.values(each)
            title = "%s (%s)" % (row.title, row.unit) if index == 0 else ""
            yield [title, each.label, spread(values), times(self.data.median(each) / base) if index else "1"]

    def lost_row(self, row):
        base = self.data.median(row.figures[0])
        rivals = ["%s %s" % (each.label, spread(self.data.values(each))) for each in row.figures[1:]
                  if self.data.median(each) < base]
        fastest = min(self.data.median(each) for each in row.figures)
        return ["%s (%s)" % (row.title, row.unit), spread(self.data.values(row.figures[0])),
                "; ".join(rivals), times(base / fastest)]

    def tables(self):
        """The first line of each says which table of the page it is."""
        main = markdown(["what", "library", "median [minimum, maximum]", "time / weft's time"],
                        [cells for row in MAIN for cells in self.rows_of(row)])
        lost = markdown(["what", "weft", "faster", "weft's time / the fastest"],
                        [self.lost_row(row) for row in LOST])
        tail = [[each.label] + [spread(self.data.values(page.echoes(connections, "p99_us", 0.001)[index]))
                                for connections in (64, 1024)] for index, each in enumerate(page.echoes(64))]
        return [main, lost, markdown(["p99 of a request (ms)", "64 connections", "1,024 connections"], tail)]

    def with_tables(self, text):
        """Returns the page with its tables as the figures have them."""
        for table in self.tables():
            pattern = re.compile(r"^%s\n(?:\|.*\n)*" % re.escape(table[0]), re.M)
            if not pattern.search(text):
                sys.exit("docs/performance.md has no table that begins with: " + table[0])
            text = pattern.sub(lambda _, table=table: "\n".join(table) + "\n", text)
        return text


def take(paths, day, software):
    """Returns the figures of several runs as one; a later file's replace those of an earlier one."""
    merged = None
    for path in paths:
        results = measured.load(path)
        merged = merged or measured.Results(dict(results.conditions, day=day, software=software))
        if results.conditions["machine"] != merged.conditions["machine"]:
            sys.exit("%s is of another machine" % path)
        merged.conditions["runs"] = max(merged.conditions["runs"], results.conditions["runs"])
        merged.runs.update(results.runs)
    merged.is_complete = True
    return merged


def keep_what_is_used(results):
    """Leaves the figures that charts and tables need, with four digits."""
    made = Page(results)
    made.charts()
    made.tables()
    list(wrong_numbers(made, ""))
    kept = measured.Results(results.conditions)
    kept.is_complete = results.is_complete
    for key in sorted(made.data.used):
        for run in results.runs[key]:
            metrics = {name: float("%.4g" % run.metrics[name]) for name in sorted(made.data.used[key])}
            kept.add(key, measured.Run(metrics, run.busy))
    return kept


def save_densely(results, path):
    """As results.save() does, but with a line for each figure."""
    results.save(path)
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    rows = ",\n".join("  " + json.dumps(row) for row in content.pop("figures"))
    head = json.dumps(content, indent=1)[:-2]
    with open(path, "w", encoding="utf-8") as file:
        file.write('%s,\n "figures": [\n%s\n ]\n}\n' % (head, rows))


def wrong_numbers(made, text):
    for pattern, what, of in PROSE:
        found = re.search(pattern, re.sub(r"\s+", " ", text))
        said, value = found and found.group(1), shown(what(made.data.values(of)))
        if said != value:
            yield "docs/performance.md says %s where the figures say %s: %s" % (said, value, pattern)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--take", nargs="+", metavar="RESULTS", help="fill measured.json from these files")
    parser.add_argument("--day", help="with --take: when that was measured")
    parser.add_argument("--software", help="with --take: compilers and rivals, with versions")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where it would change")
    parser.add_argument("--docs", default=DOCS, help="the folder of the documents")
    args = parser.parse_args()
    if args.take and not (args.day and args.software):
        parser.error("--take needs --day and --software")
    return args


def read(path):
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    args = parse_arguments()
    figures = os.path.join(args.docs, "charts", "measured.json")
    if args.take:
        save_densely(keep_what_is_used(take(args.take, args.day, args.software)), figures)
    made = Page(measured.load(figures))
    text = read(os.path.join(args.docs, "performance.md"))
    wanted = {os.path.join("charts", name + ".svg"): chart.svg() for name, chart in made.charts().items()}
    wanted["performance.md"] = made.with_tables(text)
    wrong = list(wrong_numbers(made, text))
    for name, content in wanted.items():
        path = os.path.join(args.docs, name)
        if not args.check:
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
        elif read(path) != content:
            wrong.append("docs/%s is not what benchmarks/page_charts.py makes of the figures" % name)
    charts = os.listdir(os.path.join(args.docs, "charts"))
    wrong += ["docs/charts/%s is a chart that nothing makes" % name for name in sorted(charts)
              if name.endswith(".svg") and os.path.join("charts", name) not in wanted]
    print("\n".join(wrong + ["%d charts, %d numbers in the text" % (len(wanted) - 1, len(PROSE))]))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
