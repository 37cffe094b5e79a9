#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks and makes the table: every bar with its measured ratio, then every figure.

One process for each measurement; the programs of a question in the order A B B A A B ...; medians with
minimum and maximum over the runs. Writes results.json and table.md into the output folder and prints the
table. Each question's results are written as soon as they are there; where the run is stopped (Ctrl-C, or
SIGTERM), the table is made of what was measured until then.
"""

import argparse
import json
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import time

import bars

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT_SECONDS = 300


class Case:
    """One program with one workload and one number of workers."""

    def __init__(self, program, workload, workers):
        self.program = program
        self.workload = workload
        self.workers = workers

    @property
    def key(self):
        return (self.program["question"], self.program["library"], self.workload, self.workers)

    def __str__(self):
        return "%s/%s %s, workers %d" % self.key


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="the build folder that holds manifest.json")
    parser.add_argument("--output", help="where the results go (default: BUILD/results)")
    parser.add_argument("--only", nargs="+", metavar="QUESTION", help="run these questions only")
    parser.add_argument("--libraries", nargs="+", metavar="LIBRARY", help="run these libraries only")
    parser.add_argument("--runs", type=int, default=5, help="processes per measurement (default: 5)")
    parser.add_argument("--tiny", action="store_true", help="toy sizes, one run: checks the oracles only")
    parser.add_argument("--table", action="store_true", help="make the table from results.json again")
    return parser.parse_args()


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    if done.returncode != 0:
        raise RuntimeError("%s ended with %d: %s" % (" ".join(command), done.returncode, done.stderr.strip()))
    return done.stdout


def google_name(name):
    """Splits Google Benchmark's "what/workers:N/real_time" into workload and workers."""
    name = re.sub(r"/real_time$", "", name)
    match = re.search(r"/workers:(\d+)", name)
    if not match:
        return name, 1
    return name.replace(match.group(0), ""), int(match.group(1))


def list_cases(program):
    kind = program["kind"]
    if kind == "compile":
        return [Case(program, "hello", 1)]
    if kind == "google":
        names = output_of([program["program"], "--benchmark_list_tests=true"]).split()
        return [Case(dict(program, filter="^%s$" % name), *google_name(name)) for name in names]
    lines = output_of([program["program"], "--list"]).splitlines()
    return [Case(program, entry["workload"], entry["workers"]) for entry in map(json.loads, lines)]


def run_google(case, tiny):
    command = [case.program["program"]] + (["--tiny"] if tiny else [])
    result = json.loads(output_of(command + ["--benchmark_filter=" + case.program["filter"]]))
    (entry,) = result["benchmarks"]
    scale = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[entry["time_unit"]]
    return {"ns": entry["real_time"] * scale / entry.get("per_iteration", 1)}


def run_compile(case, manifest):
    command = [manifest["compiler"], "-std=c++20", "-O2", "-pthread", "-I", manifest["include"]]
    begin = time.monotonic()
    output_of(command + ["-c", "-o", os.devnull, case.program["program"]])
    return {"seconds": time.monotonic() - begin}


def run_case(case, manifest, tiny):
    """Returns the metrics of one process, or the reason why this machine cannot run it."""
    if case.program["kind"] == "google":
        return run_google(case, tiny)
    if case.program["kind"] == "compile":
        return run_compile(case, manifest)
    command = [case.program["program"], "--workload", case.workload, "--workers", str(case.workers)]
    record = json.loads(output_of(command + (["--tiny"] if tiny else [])))
    return record.get("skipped") or record["metrics"]


def compile_programs():
    folder = os.path.join(HERE, "compile")
    names = sorted(name for name in os.listdir(folder) if name.endswith(".cpp"))
    return [{"question": "compile", "library": name[:-4], "kind": "compile",
             "program": os.path.join(folder, name)} for name in names]


def select_questions(manifest, args):
    """Returns {question: cases}, with the cases that a question's bars borrow from another one."""
    questions = {}
    for program in manifest["programs"] + compile_programs():
        if args.libraries and program["library"] not in args.libraries:
            continue
        try:
            questions.setdefault(program["question"], []).extend(list_cases(program))
        except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
            print("left out: %s" % error, file=sys.stderr)
    by_key = {case.key: case for cases in questions.values() for case in cases}
    for question, keys in bars.BORROWED.items():
        if question in questions:
            questions[question] += [by_key[key] for key in keys if key in by_key]
    unknown = set(args.only or []) - set(questions)
    if unknown:
        sys.exit("no such question: %s; there are: %s" % (", ".join(unknown), ", ".join(questions)))
    return {name: cases for name, cases in questions.items() if not args.only or name in args.only}


def measure(questions, manifest, args, figures, failures):
    """Fills {key: {metric: [values]}} and the failures; yields after each question."""
    runs = 1 if args.tiny else args.runs
    for question, cases in questions.items():
        begin = time.monotonic()
        for run in range(runs):
            for case in cases if run % 2 == 0 else reversed(cases):
                if case.key in failures:
                    continue
                try:
                    metrics = run_case(case, manifest, args.tiny)
                except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
                    failures[case.key] = str(error)
                    print("FAILED %s: %s" % (case, error), file=sys.stderr)
                    continue
                if isinstance(metrics, str):
                    failures[case.key] = "left out: " + metrics
                    continue
                for name, value in metrics.items():
                    figures.setdefault(case.key, {}).setdefault(name, []).append(value)
        print("%-14s %3d cases, %4.0f s" % (question, len(cases), time.monotonic() - begin), file=sys.stderr)
        yield


def measure_and_save(path, manifest, args):
    """Saves what is there after each question, and where it is stopped. Returns whether it came to the end."""
    figures, failures = {}, {}
    is_complete = False
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for _ in measure(select_questions(manifest, args), manifest, args, figures, failures):
            save(path, manifest, args, figures, failures, is_complete=False)
        is_complete = True
    except KeyboardInterrupt:
        print("stopped: what was measured is kept in %s" % path, file=sys.stderr)
    save(path, manifest, args, figures, failures, is_complete)
    return is_complete


def machine(manifest):
    model = platform.processor() or platform.machine()
    with open("/proc/cpuinfo") as cpuinfo:
        for line in cpuinfo:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    processors = len(os.sched_getaffinity(0))
    return "%s, %d processors, Linux %s, %s, %s" % (
        model, processors, platform.release(), manifest["compiler_name"], manifest["build_type"])


def save(path, manifest, args, figures, failures, is_complete):
    def rows(table):
        return [dict(zip(("question", "library", "workload", "workers"), key), value=value)
                for key, value in table.items()]

    # In one step, so that the file is whole whenever the run ends.
    with open(path + ".new", "w") as file:
        json.dump({"machine": machine(manifest), "runs": 1 if args.tiny else args.runs, "tiny": args.tiny,
                   "complete": is_complete, "figures": rows(figures), "failures": rows(failures)}, file, indent=1)
    os.replace(path + ".new", path)


def load(path):
    """Returns the results with figures and failures as dictionaries."""
    with open(path) as file:
        results = json.load(file)
    for table in ("figures", "failures"):
        results[table] = {(row["question"], row["library"], row["workload"], row["workers"]): row["value"]
                          for row in results[table]}
    return results


def number(value):
    if value == 0:
        return "0"
    digits = 3 if abs(value) < 1000 else 4
    text = "%.*g" % (digits, value)
    return text if "e" not in text else "%.0f" % value


def spread(values):
    return "%s [%s, %s]" % tuple(map(number, (statistics.median(values), min(values), max(values))))


def bar_row(bar, figures, tiny):
    """Returns the table's cells for one bar."""
    value = bars.values_of(bar.value, figures)
    base = bars.values_of(bar.base, figures) if bar.base else None
    ratio = bars.ratio(bar, figures)
    if ratio is None:
        missing = bar.value if value is None else bar.base
        return [bar.question, bar.name, "-", "-", "-", "-", bar.limit_text, "no figure of %s/%s" % missing[:2]]
    if tiny:
        verdict = "toy size"
    elif bar.limit is None:
        verdict = "for comparison"
    else:
        verdict = "met" if ratio <= bar.limit else "NOT MET"
    against = spread(base) if base else "-"
    fastest = number(bars.ratio(bar, figures, min))
    return [bar.question, bar.name, spread(value), against, number(ratio), fastest, bar.limit_text, verdict]


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def make_table(results):
    figures = results["figures"]
    lines = ["# Benchmarks", "", results["machine"] + ".",
             "Medians [minimum, maximum] of %d runs." % results["runs"]]
    if results["tiny"]:
        lines += ["", "**Toy sizes: these figures mean nothing.**"]
    if not results.get("complete", True):
        lines += ["", "**The run was stopped before its end: some questions are missing, or have fewer runs.**"]
    measured = {key[0] for key in list(figures) + list(results["failures"])}
    rows = [bar_row(bar, figures, results["tiny"]) for bar in bars.BARS if bar.question in measured]
    judged = [row for row in rows if row[-1] in ("met", "NOT MET")]
    met = sum(row[-1] == "met" for row in judged)
    lines += ["", "## Bars: %d of %d met" % (met, len(judged)), ""]
    lines += markdown(["question", "bar", "weft", "against", "ratio", "of the fastest", "at most", ""], rows)
    lines += ["", "## Figures", ""]
    rows = [[*key[:3], str(key[3]), metric, spread(values)]
            for key, metrics in figures.items() for metric, values in metrics.items()]
    lines += markdown(["question", "library", "workload", "workers", "metric", "median [min, max]"], rows)
    if results["failures"]:
        lines += ["", "## Failures", ""]
        lines += ["- %s/%s %s, workers %d: %s" % (*key, why) for key, why in results["failures"].items()]
    return "\n".join(lines) + "\n"


def warn_about_conditions(manifest, tiny):
    if tiny:
        return
    if manifest["build_type"] != "Release":
        print("warning: not a Release build but %s" % manifest["build_type"], file=sys.stderr)
    if os.getloadavg()[0] > 0.5:
        print("warning: something else is running (load %.1f)" % os.getloadavg()[0], file=sys.stderr)


def main():
    args = parse_arguments()
    output = args.output or os.path.join(args.build, "results")
    os.makedirs(output, exist_ok=True)
    path = os.path.join(output, "results.json")
    is_complete = True
    if not args.table:
        with open(os.path.join(args.build, "manifest.json")) as file:
            manifest = json.load(file)
        warn_about_conditions(manifest, args.tiny)
        is_complete = measure_and_save(path, manifest, args)
    results = load(path)
    table = make_table(results)
    with open(os.path.join(output, "table.md"), "w") as file:
        file.write(table)
    print(table)
    broken = [why for why in results["failures"].values() if not why.startswith("left out")]
    sys.exit(1 if broken or not is_complete else 0)


if __name__ == "__main__":
    main()
