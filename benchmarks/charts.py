#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the results as SVG: each bar's ratio by its limit, for each question every library beside weft, and
how costs grow with sizes.

All charts but the last show ratios. All name the machine and the day. Needs nothing but Python.
"""

import argparse
import datetime
import math
import os
import statistics

import bars
import growth
import results as measured
from drawing import FAINT, GRID, INK, Canvas, height_of_head
from table import number

ROW, PLOT, VALUE = 18, 420, 120
LEAST_LABEL, CHARACTER = 300, 7  # a label's place, at least, and that of one of its characters
GOOD, BAD, NEUTRAL = "#2a78b8", "#c8442f", "#9aa5b1"
COLOURS = ("#2a78b8", "#c8442f", "#3a923a", "#8a5fb0", "#b8860b", "#444444")


class Chart:
    """Horizontal bars on a logarithmic scale, around a line at 1."""

    def __init__(self, title, subtitle):
        self.title, self.subtitle = title, subtitle
        self.rows = []

    def add(self, label, ratio, text, colour):
        self.rows.append((label, ratio, text, colour))

    def scale(self):
        """Returns the smallest and the largest power of ten that hold all ratios."""
        logs = [math.log10(ratio) for _, ratio, _, _ in self.rows if ratio] + [0.0]
        return math.floor(min(logs)) if min(logs) < 0 else -1, max(1, math.ceil(max(logs)))

    def svg(self):
        low, high = self.scale()
        left = max([LEAST_LABEL] + [20 + CHARACTER * len(row[0]) for row in self.rows])
        height = height_of_head([self.subtitle]) + ROW * len(self.rows) + 34
        canvas = Canvas(self.title, [self.subtitle], left + PLOT + VALUE, height)

        def x(log):
            return left + PLOT * (log - low) / (high - low)

        for tick in range(low, high + 1):
            canvas.line(x(tick), canvas.top - 6, x(tick), height - 28, GRID if tick else INK)
            canvas.text(x(tick), height - 12, "%g" % 10.0 ** tick, FAINT, "middle")
        for index, (label, ratio, text, colour) in enumerate(self.rows):
            y = canvas.top + ROW * index
            canvas.text(left - 8, y + 12, label, anchor="end")
            if ratio:
                canvas.bar(x(0), x(math.log10(ratio)), y + 2, ROW - 5, colour)
                canvas.text(left + PLOT + 8, y + 12, text)
            else:
                canvas.text(left + 4, y + 12, text, FAINT)
        return canvas.svg()


def chart_of_bars(figures, machine):
    chart = Chart("weft and its bars: measured ratio / allowed ratio (left of 1: met)", machine)
    for bar in bars.BARS:
        ratio = bars.ratio(bar, figures)
        if ratio is None or bar.limit is None:
            continue
        share = ratio / bar.limit
        chart.add("%s: %s" % (bar.question, bar.name), share, "%s of %g" % (number(ratio), bar.limit),
                  GOOD if share <= 1 else BAD)
    return chart


def main_metric(metrics):
    """The first metric of a program is the one that it is about."""
    return next(iter(metrics))


def chart_of_question(question, all_figures, machine):
    """Each library's main figure by weft's with the same workload and workers, or else by weft's best."""
    figures = {key: metrics for key, metrics in all_figures.items()
               if key.question == question and key not in bars.BORROWED}
    own = {key[2:]: statistics.median(metrics[main_metric(metrics)]) for key, metrics in figures.items()
           if key[1] == "weft"}
    title = "%s: time of each library / time of weft (right of 1: weft is faster)" % question
    chart = Chart(title, machine)
    for key in sorted(figures, key=lambda key: (key[2], key[3], key[1])):
        metrics = figures[key]
        value = statistics.median(metrics[main_metric(metrics)])
        base = own.get(key[2:]) or (min(own.values()) if own else None)
        label = "%s, %s, %s" % (key[2], bars.count(key[3]), key[1])
        ratio = value / base if base and value > 0 else None
        chart.add(label, ratio, "%s %s" % (number(value), main_metric(metrics)) if not ratio else
                  "%s (%s)" % (number(ratio), number(value)), NEUTRAL if key[1] != "weft" else GOOD)
    return chart


class Curves:
    """Curves over a size, both axes logarithmic, with a list of the curves' names beside them."""

    WIDTH, HEIGHT, LEFT, RIGHT, BOTTOM = 960, 460, 70, 300, 40

    def __init__(self, title, subtitle, curves):
        self.title, self.subtitle, self.curves = title, subtitle, curves
        points = [point for curve in curves for point in curve.points if point[1] > 0]
        self.x_range, self.y_range = (self.decades(values) for values in zip(*points))
        self.top = height_of_head([subtitle])

    @staticmethod
    def decades(values):
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return low, max(high, low + 1)

    def x(self, size):
        low, high = self.x_range
        return self.LEFT + (self.WIDTH - self.LEFT - self.RIGHT) * (math.log10(size) - low) / (high - low)

    def y(self, cost):
        low, high = self.y_range
        bottom = self.HEIGHT - self.BOTTOM
        return bottom - (bottom - self.top) * (math.log10(cost) - low) / (high - low)

    def draw_grid(self, canvas):
        left, right, bottom = self.LEFT, self.WIDTH - self.RIGHT, self.HEIGHT - self.BOTTOM
        for size in (10.0 ** power for power in range(self.x_range[0], self.x_range[1] + 1)):
            canvas.line(self.x(size), self.top, self.x(size), bottom, GRID)
            canvas.text(self.x(size), bottom + 18, "%g" % size, FAINT, "middle")
        for cost in (10.0 ** power for power in range(self.y_range[0], self.y_range[1] + 1)):
            canvas.line(left, self.y(cost), right, self.y(cost), GRID)
            canvas.text(left - 8, self.y(cost) + 4, "%g" % cost, FAINT, "end")

    def svg(self):
        canvas = Canvas(self.title, [self.subtitle], self.WIDTH, self.HEIGHT)
        self.draw_grid(canvas)
        for index, curve in enumerate(self.curves):
            colour = COLOURS[index % len(COLOURS)]
            points = [(self.x(size), self.y(cost)) for size, cost in curve.points if cost > 0]
            canvas.curve(points, colour)
            for point in points:
                canvas.dot(*point, colour)
            canvas.text(self.WIDTH - self.RIGHT + 12, self.top + ROW * (index + 1), curve.name, colour)
        return canvas.svg()


def charts_of_growth(figures, machine):
    """One chart for each kind of thing: what one costs, by their number."""
    kinds = {}
    for curve in growth.curves(figures):
        kinds.setdefault(curve.kind, []).append(curve)
    return {"growth-" + kind: Curves("growth: %s, cost of one by their number" % kind, machine, curves)
            for kind, curves in kinds.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="the benchmarks' build folder")
    parser.add_argument("--output", help="where results.json is and the charts go (default: BUILD/results)")
    args = parser.parse_args()
    output = args.output or os.path.join(args.build, "results")
    path = os.path.join(output, "results.json")
    results = measured.load(path)
    day = datetime.date.fromtimestamp(os.path.getmtime(path)).isoformat()
    figures, machine = results.figures(), "%s, %s" % (results.conditions["machine"], day)
    charts = {"bars": chart_of_bars(figures, machine)}
    for question in sorted({key.question for key in figures} - {"growth"}):
        charts[question] = chart_of_question(question, figures, machine)
    charts.update(charts_of_growth(figures, machine))
    for name, chart in charts.items():
        path = os.path.join(output, name + ".svg")
        with open(path, "w") as file:
            file.write(chart.svg())
        print(path)


if __name__ == "__main__":
    main()
