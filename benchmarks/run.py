#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks and makes the table: every bar with its measured ratio, then every figure.

One process for each measurement; the programs of a question in the order A B B A A B ...; medians with
minimum and maximum over the runs. A process during which others took much of the processors, and a figure
that spreads too much, are measured again, some times. Writes results.json and table.md into the output folder
and prints the table. Each question's results are written as soon as they are there; a run that is stopped
(Ctrl-C, or SIGTERM) leaves the table of what it has measured, and --resume goes on with it.
"""

import argparse
import json
import os
import platform
import re
import signal
import subprocess
import sys
import time

import bars
import conditions
import results as measured
import table
from results import Key

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT_SECONDS = 300
# How often a case is measured again that was disturbed, or whose figures spread too much.
EXTRA_RUNS = 4


class Case:
    """One program with one workload and one number of workers."""

    def __init__(self, program, workload, workers):
        self.program = program
        self.workload = workload
        self.workers = workers
        self.key = Key(program["question"], program["library"], workload, workers)

    def borrowed_as(self, key):
        """Returns the same for another question, whose bars need it at their own time."""
        other = Case(self.program, self.workload, self.workers)
        other.key = key
        return other

    def __str__(self):
        return "%s/%s %s, workers %d" % self.key


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="the build folder that holds manifest.json")
    parser.add_argument("--output", help="where the results go (default: BUILD/results)")
    parser.add_argument("--only", nargs="+", metavar="QUESTION", help="run these questions only")
    parser.add_argument("--libraries", nargs="+", metavar="LIBRARY", help="run these libraries only")
    parser.add_argument("--runs", type=int, default=5, help="processes per measurement (default: 5)")
    parser.add_argument("--workloads", nargs="+", metavar="WORKLOAD", help="run these workloads only")
    parser.add_argument("--workers", type=int, nargs="+", default=[], metavar="N",
                        help="beside the numbers of workers that a program lists, these, where it lists several")
    parser.add_argument("--quick", action="store_true", help="one process for each figure that a bar with a limit needs")
    parser.add_argument("--resume", action="store_true", help="go on with the run that was stopped")
    parser.add_argument("--tiny", action="store_true", help="toy sizes, one run: checks the oracles only")
    parser.add_argument("--table", action="store_true", help="make the table from results.json again")
    parser.add_argument("--check", action="store_true", help="run nothing: are there the cases that the bars ask for?")
    args = parser.parse_args()
    if args.tiny or args.quick:
        args.runs = 1
    return args


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
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


def all_questions(manifest, only, libraries):
    """Returns {question: cases} of all programs, with the cases that a question's bars borrow from another one.

    A program that says nothing ends the run, unless it is of a question or library that is not asked for.
    """
    questions = {}
    for program in manifest["programs"] + compile_programs():
        cases = questions.setdefault(program["question"], [])
        try:
            cases.extend(list_cases(program))
        except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
            if (not only or program["question"] in only) and (not libraries or program["library"] in libraries):
                sys.exit("%s/%s is not there: %s" % (program["question"], program["library"], error))
    by_key = {case.key: case for cases in questions.values() for case in cases}
    for key, origin in bars.BORROWED.items():
        if key[0] in questions and origin in by_key:
            questions[key[0]].append(by_key[origin].borrowed_as(Key(*key)))
    return questions


def with_more_workers(cases, counts):
    """Returns the cases, and workloads with several numbers of workers once more with each of `counts`."""
    of_workload = {}
    for case in cases:
        if case.key not in bars.BORROWED:
            of_workload.setdefault((case.program["program"], case.workload), []).append(case)
    more = [Case(same[0].program, same[0].workload, count) for same in of_workload.values() if len(same) > 1
            for count in counts if count not in [case.workers for case in same]]
    return cases + [case for case in more if case.program["kind"] == "run"]


def select(questions, args):
    """Returns the cases of the questions and libraries that were asked for."""
    unknown = set(args.only or []) - set(questions)
    if unknown:
        sys.exit("no such question: %s; there are: %s" % (", ".join(unknown), ", ".join(questions)))
    needed = bars.keys_of_limits() if args.quick else None
    chosen = {}
    for name, cases in questions.items():
        cases = with_more_workers(cases, args.workers)
        cases = [case for case in cases if (not args.libraries or case.program["library"] in args.libraries)
                 and (not args.workloads or case.workload in args.workloads)
                 and (needed is None or case.key in needed)]
        if cases and (not args.only or name in args.only):
            chosen[name] = cases
    return chosen


def missing_cases(questions):
    """Returns what bars ask for and programs do not have, though they are there."""
    keys = {case.key for cases in questions.values() for case in cases}
    installed = {key[:2] for key in keys - set(bars.BORROWED)}
    said = []
    for bar in bars.BARS:
        for where in filter(None, (bar.value, bar.base, bar.floor)):
            key = tuple(bars.BORROWED.get(where[:4], where[:4]))
            source = any(os.path.exists(os.path.join(HERE, key[0], key[1] + ending)) for ending in (".cpp", ".go"))
            if not source or (key[:2] in installed and key not in keys):
                said.append("the bar \"%s: %s\" asks %s/%s for the workload \"%s\" with %s, which it does not have"
                            % (bar.question, bar.name, key[0], key[1], key[2], bars.count(key[3])))
    return said


def missing_figures(questions, results):
    """Returns what bars ask for and no process has measured, though it was to."""
    ran = {case.key for cases in questions.values() for case in cases} - set(results.failures)
    figures = results.figures()
    return ["the bar \"%s: %s\" needs %s of %s/%s, workload \"%s\" with %s, which was not measured"
            % (bar.question, bar.name, where[4], where[0], where[1], where[2], bars.count(where[3]))
            for bar in bars.BARS for where in filter(None, (bar.value, bar.base, bar.floor))
            if where[:4] in ran and bars.values_of(where, figures) is None]


def report_missing(missing):
    for what in missing:
        print("MISSING: " + what, file=sys.stderr)


def needs_another(case, results, extra):
    """Returns whether a case has too few runs, or too few good ones."""
    if case.key in results.failures:
        return False
    wanted, runs = results.conditions["runs"], results.runs.get(case.key, [])
    if len(runs) < wanted or len(runs) >= wanted + extra:
        return len(runs) < wanted
    metrics = bars.METRICS.get(case.key) or results.metrics(case.key)[:1]
    spreads = [measured.spread_of(results.values(case.key, metric) or [0]) for metric in metrics]
    return len(results.quiet_runs(case.key)) < wanted or max(spreads) > measured.STEADY_LIMIT


def measure_once(case, manifest, results):
    watch = conditions.Watch()
    try:
        metrics = run_case(case, manifest, results.conditions["tiny"])
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        results.failures[case.key] = str(error)
        print("FAILED %s: %s" % (case, error), file=sys.stderr)
        return
    if isinstance(metrics, str):
        results.failures[case.key] = "left out: " + metrics
    else:
        results.add(case.key, measured.Run(metrics, watch.others_share()))


def measure(questions, manifest, results):
    """Fills the results; yields after each question."""
    extra = 0 if results.conditions["runs"] == 1 else EXTRA_RUNS
    for question, cases in questions.items():
        begin, processes = time.monotonic(), 0
        for turn in range(results.conditions["runs"] + extra):
            due = [case for case in cases if needs_another(case, results, extra)]
            for case in due if turn % 2 == 0 else reversed(due):
                measure_once(case, manifest, results)
            processes += len(due)
        print("%-14s %3d cases, %4d processes, %4.0f s" % (
            question, len(cases), processes, time.monotonic() - begin), file=sys.stderr)
        yield


def measure_and_save(path, questions, manifest, results):
    """Saves what is there after each question, and where it is stopped."""
    results.is_complete = False
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for _ in measure(questions, manifest, results):
            results.save(path)
        results.is_complete = True
    except KeyboardInterrupt:
        print("stopped: what was measured is kept in %s; --resume goes on" % path, file=sys.stderr)
    results.save(path)


def machine(manifest):
    model = platform.processor() or platform.machine()
    with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
        for line in cpuinfo:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    processors = len(os.sched_getaffinity(0))
    return "%s, %d processors, Linux %s, %s, %s" % (
        model, processors, platform.release(), manifest["compiler_name"], manifest["build_type"])


def begin_results(path, manifest, args):
    """Returns what was measured by the run that is resumed, or nothing yet."""
    built = max(os.path.getmtime(program["program"]) for program in manifest["programs"]
                if os.path.exists(program["program"]))
    how = {"machine": machine(manifest), "runs": args.runs, "tiny": args.tiny, "quick": args.quick, "built": built}
    if not args.resume:
        return measured.Results(how)
    results = measured.load(path)
    other = [name for name in how if results.conditions.get(name) != how[name]]
    if other:
        sys.exit("%s is of a run that differs in: %s. Only the same run goes on." % (path, ", ".join(other)))
    return results


def warn_about_conditions(manifest, tiny):
    if tiny:
        return
    if manifest["build_type"] != "Release":
        print("warning: not a Release build but %s" % manifest["build_type"], file=sys.stderr)
    if os.getloadavg()[0] > 0.5:
        print("warning: something else is running (load %.1f)" % os.getloadavg()[0], file=sys.stderr)


def run_all(path, args):
    """Measures, and returns what bars need and was not measured. Ends the program where it cannot be."""
    with open(os.path.join(args.build, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    questions = all_questions(manifest, args.only, args.libraries)
    missing = missing_cases(questions)
    if args.check:
        print("".join("no floor: %s: %s\n" % (bar.question, bar.name) for bar in bars.BARS if not bar.floor), end="")
    if missing or args.check:
        report_missing(missing)
        sys.exit(1 if missing else 0)
    questions = select(questions, args)
    warn_about_conditions(manifest, args.tiny)
    results = begin_results(path, manifest, args)
    measure_and_save(path, questions, manifest, results)
    return missing_figures(questions, results) if results.is_complete else []


def main():
    args = parse_arguments()
    output = args.output or os.path.join(args.build, "results")
    os.makedirs(output, exist_ok=True)
    path = os.path.join(output, "results.json")
    missing = [] if args.table else run_all(path, args)
    results = measured.load(path)
    text = table.make(results)
    with open(os.path.join(output, "table.md"), "w", encoding="utf-8") as file:
        file.write(text)
    print(text)
    report_missing(missing)
    broken = [why for why in results.failures.values() if not why.startswith("left out")]
    sys.exit(1 if broken or missing or not (results.is_complete or args.table) else 0)


if __name__ == "__main__":
    main()
