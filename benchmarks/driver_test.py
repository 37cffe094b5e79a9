# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the driver: python3 -m unittest driver_test"""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
from types import SimpleNamespace
from unittest import mock

import bars
import charts
import conditions
import growth
import results as measured
import run
import table
from results import Key

QUIET, BUSY = 0.0, 1.0


def cases_of(question, library, workloads):
    program = {"question": question, "library": library, "kind": "run", "program": "-"}
    return [run.Case(program, workload, workers) for workload, workers in workloads]


def empty_results(runs=3, quick=False):
    how = {"machine": "a machine", "runs": runs, "tiny": False, "quick": quick, "built": 1}
    return measured.Results(how)


class DriverTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "results.json")
        self.processes = []

    def measure(self, questions, results, outcomes):
        """Measures with processes that yield these (metrics, busy) in turn, and then the last again and again."""
        outcomes = list(outcomes)

        def run_case(case, *_):
            self.processes.append(case.key)
            outcome = outcomes.pop(0) if len(outcomes) > 1 else outcomes[0]
            if isinstance(outcome, BaseException) or outcome is KeyboardInterrupt:
                raise outcome
            self.busy = outcome[1]
            return outcome[0]

        watch = mock.Mock(others_share=lambda: self.busy)
        with mock.patch.object(run, "run_case", run_case), mock.patch.object(conditions, "Watch", lambda: watch), \
                contextlib.redirect_stderr(io.StringIO()):
            run.measure_and_save(self.path, questions, {}, results)
        return measured.load(self.path)

    def test_programs_run_in_turn_and_back(self):
        cases = cases_of("fib", "weft", [("fib", 1), ("fib", 2)])
        self.measure({"fib": cases}, empty_results(), [({"ms": 1}, QUIET)])
        first, second = (case.key for case in cases)
        self.assertEqual(self.processes, [first, second, second, first, first, second])

    def test_a_stopped_run_resumes_where_it_was(self):
        questions = {"fib": cases_of("fib", "weft", [("fib", 1)]), "sort": cases_of("sort", "weft", [("random", 1)])}
        good = ({"ms": 1}, QUIET)
        results = self.measure(questions, empty_results(), [good] * 4 + [KeyboardInterrupt])
        self.assertFalse(results.is_complete)
        self.assertIn("stopped before its end", table.make(results))
        self.processes.clear()
        results = self.measure(questions, results, [good])
        self.assertTrue(results.is_complete)
        self.assertEqual(self.processes, [("sort", "weft", "random", 1)] * 2)

    def test_only_the_same_run_resumes(self):
        results = empty_results()
        results.save(self.path)
        args = SimpleNamespace(runs=3, tiny=False, quick=False, resume=True)
        with mock.patch.object(run, "machine", lambda _: "another machine"), self.assertRaises(SystemExit) as ended:
            run.begin_results(self.path, {"programs": [{"program": self.path}]}, args)
        self.assertIn("differs in: machine, built", str(ended.exception))

    def test_a_disturbed_process_runs_again_and_does_not_count(self):
        questions = {"fib": cases_of("fib", "weft", [("fib", 1)])}
        good, disturbed = ({"ms": 10}, QUIET), ({"ms": 11}, BUSY)
        results = self.measure(questions, empty_results(), [good, disturbed, good])
        self.assertEqual(len(self.processes), 4)
        self.assertEqual(results.figures()[("fib", "weft", "fib", 1)]["ms"], [10, 10, 10])
        self.assertNotIn("busy", table.make(results))

    def test_what_is_always_disturbed_is_marked(self):
        questions = {"fib": cases_of("fib", "weft", [("fib", 1)])}
        results = self.measure(questions, empty_results(), [({"ms": 10, "peak_rss_kib": 1}, BUSY)])
        self.assertEqual(len(self.processes), 3 + run.EXTRA_RUNS)
        text = table.make(results)
        self.assertIn("met, busy |", text)
        self.assertIn("1 taken on a busy machine", text)
        self.assertIn("| busy |", text)

    def test_what_spreads_too_much_runs_again_some_times(self):
        questions = {"fib": cases_of("fib", "weft", [("fib", 1)])}
        results = self.measure(questions, empty_results(), [({"ms": 10}, QUIET), ({"ms": 16}, QUIET), ({"ms": 10}, QUIET)])
        self.assertEqual(len(self.processes), 3 + run.EXTRA_RUNS)
        self.assertIn("unsteady", table.make(results))

    def test_a_failure_is_not_repeated(self):
        results = self.measure({"fib": cases_of("fib", "weft", [("fib", 1)])}, empty_results(), [RuntimeError("wrong")])
        self.assertEqual(len(self.processes), 1)
        self.assertIn("wrong", table.make(results))

    def test_other_numbers_of_workers_are_for_workloads_that_have_several(self):
        def case(workload, workers):
            return run.Case({"question": "fib", "library": "weft", "kind": "run", "program": "p"}, workload, workers)
        cases = run.with_more_workers([case("fib", 1), case("fib", 2), case("once", 1)], [2, 4])
        self.assertEqual([(case.workload, case.workers) for case in cases],
                         [("fib", 1), ("fib", 2), ("once", 1), ("fib", 4)])

    def test_a_quick_run_needs_one_process_each_and_only_the_bars_with_a_limit(self):
        cases = cases_of("sharedmutex", "weft", [("mixed", 2)]) + cases_of("fib", "weft", [("join", 1)])
        args = SimpleNamespace(only=None, libraries=None, workloads=None, workers=[], quick=True)
        questions = run.select({"sharedmutex": cases[:1], "fib": cases[1:]}, args)
        self.assertEqual(list(questions), ["fib"])
        self.measure(questions, empty_results(runs=1, quick=True), [({"ms": 1}, BUSY)])
        self.assertEqual(len(self.processes), 1)

    def test_only_programs_that_are_asked_for_must_be_there(self):
        manifest = {"programs": [{"question": "fib", "library": library} for library in ("weft", "tbb")]}
        cases = cases_of("fib", "weft", [("join", 1)])

        def list_cases(program):
            if program["library"] == "tbb":
                raise FileNotFoundError("bench_fib_tbb")
            return cases

        with mock.patch.object(run, "list_cases", list_cases), mock.patch.object(run, "compile_programs", list):
            self.assertEqual(run.all_questions(manifest, ["fib"], ["weft"])["fib"], cases)
            for only, libraries in ((["fib"], None), (None, ["weft", "tbb"])):
                with self.assertRaises(SystemExit) as ended:
                    run.all_questions(manifest, only, libraries)
                self.assertIn("fib/tbb is not there", str(ended.exception))

    def test_a_case_that_a_bar_asks_for_and_no_program_has_is_named(self):
        cases = cases_of("sharedmutex", "weft", [("read", 1), ("write", 1), ("mixed", 1)])
        (missing,) = run.missing_cases({"sharedmutex": cases})
        for words in ("shared, mixed", "sharedmutex/weft", '"mixed" with 2 workers'):
            self.assertIn(words, missing)

    def test_a_borrowed_case_does_not_stand_for_a_program(self):
        (origin,) = cases_of("spawn", "tbb", [("task", 1)])
        borrowed = origin.borrowed_as(Key("parallelize", "tbb", "spawn/task", 1))
        missing = run.missing_cases({"parallelize": [borrowed]})
        self.assertEqual([what for what in missing if "parallelize/tbb" in what], [])

    def test_a_library_that_no_question_has_is_named(self):
        wrong = bars.Bar("a bar", ("fib", "wetf", "fib", 1, "ms"))
        with mock.patch.object(bars, "BARS", [wrong]):
            (missing,) = run.missing_cases({})
        self.assertIn("fib/wetf", missing)

    def test_a_figure_that_was_not_measured_is_named(self):
        cases = cases_of("sort", "weft", [("stable", 2)])
        results = self.measure({"sort": cases}, empty_results(), [({"seconds": 1}, QUIET)])
        (missing,) = run.missing_figures({"sort": cases}, results)
        for words in ("stable, 2 workers", "needs ms of sort/weft", '"stable" with 2 workers'):
            self.assertIn(words, missing)

    def test_what_a_question_borrows_is_kept_apart(self):
        (origin,) = cases_of("spawn", "tbb", [("task", 1)])
        borrowed = origin.borrowed_as(Key("ticket", "tbb", "spawn/task", 1))
        self.assertEqual(bars.BORROWED[borrowed.key], origin.key)
        self.measure({"spawn": [origin], "ticket": [borrowed]}, empty_results(), [({"ns_per_task": 1}, QUIET)])
        self.assertEqual(self.processes, [origin.key] * 3 + [borrowed.key] * 3)


class ConditionsTest(unittest.TestCase):
    def test_another_process_disturbs(self):
        watch = conditions.Watch()
        hog = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True)\ninput()"
        with subprocess.Popen([sys.executable, "-c", hog], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            other.stdout.readline()
            self.assertGreater(watch.others_share(), 0)
            other.stdin.write(b"\n")

    def test_children_that_have_ended_do_not(self):
        before = conditions.own_seconds()
        subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.2: pass"], check=True)
        self.assertGreater(conditions.own_seconds() - before, 0.2)


class GrowthTest(unittest.TestCase):
    def curves(self, costs):
        return growth.curves({Key("growth", "weft", "tasks-%d" % size, 1): {"ns": [cost], "peak_rss_kib": [1]}
                              for size, cost in costs.items()})

    def test_says_where_a_curve_bends(self):
        (curve,) = self.curves({1000: 9, 1: 30, 10: 10, 100: 8, 10000: 13})
        self.assertEqual(curve.points, [(1, 30), (10, 10), (100, 8), (1000, 9), (10000, 13)])
        self.assertEqual(curve.bends(), (10000, 13, 8))
        self.assertIn("<polyline", charts.Curves("a title", "a machine", [curve]).svg())

    def test_a_flat_curve_does_not_bend(self):
        (curve,) = self.curves({1: 30, 10: 10, 100: 11})
        self.assertIsNone(curve.bends())

    def test_the_curves_of_other_workloads_are_over_the_workers(self):
        (curve,) = growth.curves({Key("growth", "weft", "fib", n): {"ns": [n]} for n in (4, 1, 2)})
        self.assertEqual(curve.points, [(1, 1), (2, 2), (4, 4)])


if __name__ == "__main__":
    unittest.main()
