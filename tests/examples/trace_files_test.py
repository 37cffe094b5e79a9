#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs programs with WEFT_TRACE, and checks what their pictures say.

    trace_files_test.py MANDELBROT LONG_TASK SLOW_LOCK [ECHO_SERVER]
"""

import collections
import decimal
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

NUM_WORKERS = 2
LABEL = r"(?:worker|bound thread) \d+"
THREAD = re.compile(r"(?:(\w+) \()?(%s)(, has ended)?\)?" % LABEL)
FIBER = re.compile(r"(%s), fiber (\d+)" % LABEL)
IN_THREAD = {"idle", "looks for work", "asleep", "wakes a fiber", "own code"}
PROGRAMS = {}


def lambdaOf(function):
    """Returns: a pattern of the name of a task that is a lambda of that function; compilers differ in it."""
    return re.escape(function) + r"::(\{lambda\(\)#\d+\}|\$_\d+)"


class Slice:
    def __init__(self, event, depth):
        self.name, self.category, self.arguments = event["name"], event["cat"], event.get("args", {})
        self.begin, self.end, self.depth = event["ts"], event["ts"] + event["dur"], depth

    @property
    def task(self):
        """Returns: the name without its place in the program."""
        return re.sub(r" \([^ ]+\+0x[0-9a-f]+\)$", "", self.name)

    def overlaps(self, other):
        return self.begin < other.end and other.begin < self.end


class Picture:
    """The slices and arrows of a file. Reading fails where slices do not nest."""

    def __init__(self, path):
        nanoseconds = lambda text: int(decimal.Decimal(text) * 1000)
        self.file = json.loads(path.read_text(encoding="utf-8"), parse_float=nanoseconds)
        self.rows, self.slices = {}, collections.defaultdict(list)
        self.wakes, self.arrivals, self.instants = {}, {}, []
        self.open = collections.defaultdict(list)
        # In the order of time, and where times are equal in that of the file, as viewers take them.
        for event in sorted(self.file["traceEvents"], key=lambda event: event.get("ts", 0)):
            self.take(event, event["ph"], event["tid"])

    def take(self, event, phase, row):
        if phase == "M":
            if event["name"] == "thread_name":
                assert row not in self.rows, "a row has two names"
                self.rows[row] = event["args"]["name"]
            return
        assert row in self.rows, "a row has no name"
        stack = self.open[row]
        if phase == "X":
            while stack and stack[-1].end <= event["ts"]:
                stack.pop()
            stack.append(Slice(event, len(stack)))
            self.slices[row].append(stack[-1])
            assert len(stack) == 1 or stack[-1].end <= stack[-2].end, "a slice does not nest: %s" % event
        elif phase in "sf":
            ends = self.wakes if phase == "s" else self.arrivals
            assert stack and stack[-1].begin == event["ts"], "an arrow has no slice: %s" % event
            assert event["id"] not in ends, "two arrows have one number"
            ends[event["id"]] = stack[-1]
        else:
            assert phase == "i", event
            self.instants.append(event)

    def threads(self):
        """Returns: the rows of threads by their labels, as "worker 0"."""
        return {THREAD.fullmatch(name)[2]: row for row, name in self.rows.items() if THREAD.fullmatch(name)}

    def fibers(self):
        """Returns: the rows of fibers by the labels of their threads and their numbers."""
        matches = {row: FIBER.fullmatch(name) for row, name in self.rows.items()}
        return {(match[1], int(match[2])): row for row, match in matches.items() if match}

    def of_fibers(self, category):
        return [part for row in self.fibers().values() for part in self.slices[row] if part.category == category]

    def waits_in(self, pattern):
        """Returns: for what tasks of that name wait."""
        waits = set()
        for row in self.fibers().values():
            tasks = [part for part in self.slices[row]
                     if part.category == "task" and re.fullmatch(pattern, part.task)]
            waits |= {part.name for part in self.slices[row] if part.category == "wait"
                      and any(task.begin <= part.begin and part.end <= task.end for task in tasks)}
        return waits


def record(program, folder, *arguments, talk=None):
    """Runs a program, and meanwhile the function `talk` with its process. Returns: its picture."""
    path = pathlib.Path(folder) / "trace.json"
    environment = {**os.environ, "WEFT_TRACE": str(path), "WEFT_NUM_THREADS": str(NUM_WORKERS)}
    with subprocess.Popen([program, *arguments], cwd=folder, env=environment, stdout=subprocess.PIPE,
                          text=True) as process:
        try:
            if talk:
                talk(process)
            process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0, process.returncode
    picture = Picture(path)
    picture.process = process.pid
    return picture


class PictureTest(unittest.TestCase):
    """What holds in any picture. Each class below has a picture of one program."""
    numWorkers = NUM_WORKERS

    @classmethod
    def setUpClass(cls):
        if cls is PictureTest:
            raise unittest.SkipTest("it has no program")
        with tempfile.TemporaryDirectory() as folder:
            cls.picture = cls.make(folder)

    def test_names_its_rows(self):
        rows, threads, fibers = self.picture.rows.values(), self.picture.threads(), self.picture.fibers()
        self.assertEqual(len(rows), len(threads) + len(fibers), sorted(rows))
        main = "bound thread %d" % self.picture.process
        self.assertEqual(sorted(threads), sorted([main] + ["worker %d" % i for i in range(self.numWorkers)]))
        self.assertEqual(THREAD.fullmatch(self.picture.rows[threads[main]])[1], self.program)
        for label, _ in fibers:
            self.assertIn(label, threads)
        self.assertEqual({event["pid"] for event in self.picture.file["traceEvents"]}, {self.picture.process})

    def test_is_whole(self):
        self.assertEqual(self.picture.file["otherData"], {})
        for part in self.picture.of_fibers("task") + self.picture.of_fibers("wait"):
            self.assertNotIn("earlier", part.name)

    def test_has_on_a_thread_what_its_fibers_do(self):
        fibers = self.picture.fibers()
        for label, row in self.picture.threads().items():
            for part in self.picture.slices[row]:
                if part.name in IN_THREAD:
                    continue
                fiber = self.picture.slices[fibers[label, part.arguments["fiber"]]]
                self.assertEqual(part.depth, 0)
                self.assertEqual([task.name for task in fiber if task.category == "task"
                                  and task.begin <= part.begin and part.end <= task.end], [part.name])
                self.assertEqual([wait.name for wait in fiber if wait.category in ("wait", "ready") and wait.overlaps(part)], [])

    def test_has_fibers_that_are_ready_from_the_end_of_a_wait_to_where_they_run(self):
        for row in self.picture.fibers().values():
            slices = self.picture.slices[row]
            for i, ready in enumerate(slices):
                if ready.name == "ready":
                    self.assertTrue(slices[i - 1].name.startswith("waits: "), slices[i - 1].name)
                    self.assertIn(ready.begin - slices[i - 1].end, (0, 1))
                    self.assertEqual(slices[i - 1].depth, ready.depth)
                    self.assertGreaterEqual(ready.end - ready.begin, 1000)

    def test_has_arrows_from_a_wake_to_what_goes_on(self):
        wakes, arrivals = self.picture.wakes, self.picture.arrivals
        self.assertEqual(sorted(wakes), sorted(arrivals))
        for number, wake in wakes.items():
            arrival = arrivals[number]
            self.assertEqual(wake.name, "wakes a fiber")
            self.assertEqual(arrival.category, "task")
            self.assertEqual(wake.arguments["fiber"], arrival.arguments["fiber"])
            self.assertLessEqual(wake.begin, arrival.begin)
            self.assertEqual(arrival.begin - wake.begin, arrival.arguments["ns from wake to run"])


class MandelbrotTest(PictureTest):
    program = "mandelbrot"

    @staticmethod
    def make(folder):
        return record(PROGRAMS["mandelbrot"], folder, "picture")

    def test_has_a_task_of_each_row_of_the_picture(self):
        tasks = self.picture.of_fibers("task")
        self.assertEqual(len(tasks), 768)
        for task in tasks:
            self.assertRegex(task.task, lambdaOf("(anonymous namespace)::draw()"))
            self.assertRegex(task.name, r" \(mandelbrot\+0x[0-9a-f]+\)$")

    def test_has_the_wait_for_the_end(self):
        main = self.picture.fibers()["bound thread %d" % self.picture.process, 0]
        self.assertEqual({part.name for part in self.picture.slices[main]} - {"ready"}, {"waits: Event"})
        self.assertLessEqual({event["name"] for event in self.picture.instants}, {"stole a task", "timer"})


class LongTaskTest(PictureTest):
    program, numWorkers = "long_task", 1

    @staticmethod
    def make(folder):
        return record(PROGRAMS["long_task"], folder)

    def test_has_the_tasks_with_their_answers_and_waits(self):
        tasks = collections.Counter(task.task for task in self.picture.of_fibers("task"))
        self.assertEqual(tasks, {"Session": 4, "BuildIndex": 1})
        self.assertEqual([part.name for part in self.picture.of_fibers("scope")], ["answer"] * 30)
        self.assertEqual(self.picture.waits_in("Session"), {"waits: Channel::receive"})
        self.assertEqual(self.picture.waits_in("BuildIndex"), set())

    def test_shows_that_nobody_runs_beside_the_long_task(self):
        worker = [part for part in self.picture.slices[self.picture.threads()["worker 0"]] if part.depth == 0]
        index, = [part for part in worker if part.task == "BuildIndex"]
        self.assertEqual([part.name for part in worker if part.overlaps(index)], [index.name])

    def test_shows_that_sessions_are_ready_that_are_woken_beside_the_long_task(self):
        index, = [part for part in self.picture.of_fibers("task") if part.task == "BuildIndex"]
        woken = [(wake, run) for number, wake in self.picture.wakes.items()
                 for run in [self.picture.arrivals[number]]
                 if index.begin < wake.begin and wake.begin + 1000 <= index.end <= run.begin
                 and run.task == "Session"]
        if not woken:
            self.skipTest("no session was woken beside the long task in this run")
        for wake, run in woken:
            fiber = self.picture.slices[self.picture.fibers()["worker 0", run.arguments["fiber"]]]
            self.assertIn(("ready", wake.begin, run.begin),
                          [(part.name, part.begin, part.end) for part in fiber])


class SlowLockTest(PictureTest):
    program = "slow_lock"

    @staticmethod
    def make(folder):
        return record(PROGRAMS["slow_lock"], folder)

    def test_has_the_tasks_with_their_waits(self):
        self.assertEqual([task.task for task in self.picture.of_fibers("task")], ["Request"] * 8)
        self.assertEqual(self.picture.waits_in("Request"), {"waits: mutex", "waits: sleep"})
        self.assertGreater(len(self.picture.wakes), 0)

    def test_shows_that_the_database_is_asked_one_by_one(self):
        asked = sorted(self.picture.of_fibers("scope"), key=lambda part: part.begin)
        self.assertEqual([part.name for part in asked], ["askDatabase"] * 8)
        for one, next_ in zip(asked, asked[1:]):
            self.assertLessEqual(one.end, next_.begin)


class EchoServerTest(PictureTest):
    program = "echo_server"

    @classmethod
    def setUpClass(cls):
        if "echo_server" not in PROGRAMS:
            raise unittest.SkipTest("there is no weft::io")
        super().setUpClass()

    @staticmethod
    def make(folder):
        def talk(process):
            port = int(process.stdout.readline().rsplit(":", 1)[1])
            for _ in range(3):
                with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
                    for _ in range(4):
                        client.sendall(b"hello")
                        assert client.recv(100) == b"hello"
            process.send_signal(signal.SIGINT)
        return record(PROGRAMS["echo_server"], folder, "0", talk=talk)

    def test_has_the_tasks_with_their_waits(self):
        watcher, connection = lambdaOf("main"), r"connection of io::serve\(\)"
        tasks = [task.task for task in self.picture.of_fibers("task")]
        self.assertEqual(len([task for task in tasks if re.fullmatch(watcher, task)]), 1, tasks)
        self.assertEqual(len([task for task in tasks if re.fullmatch(connection, task)]), 3, tasks)
        waits = self.picture.waits_in(connection)
        self.assertIn("waits: io::recv", waits)
        # Now and then a close has to wait.
        self.assertLessEqual(waits, {"waits: io::recv", "waits: io::send", "waits: io::close"})
        self.assertEqual(self.picture.waits_in(watcher), {"waits: io::Signals::next"})
        main = self.picture.fibers()["bound thread %d" % self.picture.process, 0]
        self.assertLessEqual({part.name for part in self.picture.slices[main]},
                             {"waits: io::accept", "waits: WaitGroup", "ready"})
        self.assertGreater(len(self.picture.wakes), 0)


if __name__ == "__main__":
    PROGRAMS = {pathlib.Path(path).name: pathlib.Path(path).resolve() for path in sys.argv[1:]}
    unittest.main(argv=sys.argv[:1])
