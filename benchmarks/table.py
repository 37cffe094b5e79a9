# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""The table: every bar with its measured ratio, how costs grow, then every figure."""

import statistics

import bars
import growth
from results import STEADY_LIMIT, spread_of


def number(value):
    if value == 0:
        return "0"
    digits = 3 if abs(value) < 1000 else 4
    text = "%.*g" % (digits, value)
    return text if "e" not in text else "%.0f" % value


def spread(values):
    return "%s [%s, %s]" % tuple(map(number, (statistics.median(values), min(values), max(values))))


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def marks(results, key, values):
    """Returns what is to be said against a figure."""
    said = ["busy"] if results.is_busy(key) else []
    if spread_of(values) > STEADY_LIMIT:
        said.append("unsteady")
    return said


def bar_row(bar, results, figures):
    """Returns the table's cells for one bar."""
    value, base = (bars.values_of(where, figures) if where else None for where in (bar.value, bar.base))
    ratio = bars.ratio(bar, figures)
    if ratio is None:
        missing = bar.value if value is None else bar.base
        return [bar.question, bar.name, "-", "-", "-", "-", "-", bar.limit_text, "no figure of %s/%s" % missing[:2]]
    if results.conditions["tiny"]:
        verdict = "toy size"
    elif bar.limit is None:
        verdict = "for comparison"
    else:
        verdict = "met" if ratio <= bar.limit else "NOT MET"
    said = set(marks(results, bar.value[:4], value) + (marks(results, bar.base[:4], base) if base else []))
    floor = bars.floor_ratio(bar, figures)
    return [bar.question, bar.name, spread(value), spread(base) if base else "-", number(ratio),
            number(bars.ratio(bar, figures, min)), number(floor) if floor else "-", bar.limit_text,
            ", ".join([verdict] + sorted(said))]


def is_judged(row):
    return row[-1].startswith(("met", "NOT MET"))


def bar_lines(results, figures):
    measured = {key.question for key in list(results.runs) + list(results.failures)}
    libraries = {(key.question, key.library) for key in results.runs}
    rows = [bar_row(bar, results, figures) for bar in bars.BARS
            if bar.question in measured and (not bar.is_optional or bar.base[:2] in libraries)]
    if results.conditions["quick"]:
        rows = [row for row in rows if is_judged(row)]
    judged = [row for row in rows if is_judged(row)]
    met = sum(row[-1].startswith("met") for row in judged)
    busy = sum("busy" in row[-1] for row in judged)
    lines = ["## Bars: %d of %d met" % (met, len(judged)) + (", %d taken on a busy machine" % busy if busy else ""), ""]
    head = ["question", "bar", "weft", "against", "ratio", "of the fastest", "by the floor", "at most", ""]
    return lines + markdown(head, rows)


def figure_lines(results, figures):
    rows = [[*key[:3], str(key.workers), metric, spread(values), ", ".join(marks(results, key, values))]
            for key, metrics in figures.items() for metric, values in metrics.items()]
    return ["## Figures", ""] + markdown(
        ["question", "library", "workload", "workers", "metric", "median [min, max]", ""], rows)


def growth_lines(figures):
    rows = [[curve.name, str(len(curve.points)), number(curve.lowest[1]), number(curve.points[-1][1]),
             growth.bend_text(curve)] for curve in growth.curves(figures)]
    return ["## Growth", ""] + markdown(["cost", "sizes", "lowest", "at the largest", "bends upward"], rows)


def make(results):
    figures = results.figures()
    how = results.conditions
    lines = ["# Benchmarks", "", how["machine"] + ".", "Medians [minimum, maximum] of %d runs." % how["runs"]]
    if how["tiny"]:
        lines += ["", "**Toy sizes: these figures mean nothing.**"]
    if how["quick"]:
        lines += ["", "**A quick run: one process for each figure, and only what the bars with a limit need.**"]
    if not results.is_complete:
        lines += ["", "**The run was stopped before its end: some questions are missing, or have fewer runs.**"]
    lines += [""] + bar_lines(results, figures)
    if any(key.question == "growth" for key in figures):
        lines += [""] + growth_lines(figures)
    lines += [""] + figure_lines(results, figures)
    if results.failures:
        lines += ["", "## Failures", ""]
        lines += ["- %s/%s %s, workers %d: %s" % (*key, why) for key, why in results.failures.items()]
    return "\n".join(lines) + "\n"
