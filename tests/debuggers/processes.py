# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes and core files of debugged.cpp, for the tests of the debuggers' commands."""

import contextlib
import pathlib
import re
import resource
import subprocess
import sys
import unittest

# What the commands say of debugged.cpp.
FIBERS = """\
FIBER  STATE  SINCE  WAITS FOR  TASK
0:1  waits  X s  Event X (not signalled, Mode::Manual)  LAMBDA
0:2  waits  X s  Event X (not signalled, Mode::Manual)  debugged::HoldAndWait
0:3  waits  X s  mutex X  debugged::TakeLock; held by fiber 0:2, task debugged::HoldAndWait
0:4  waits  X s  Channel::receive X (0 of 2 values; no fiber waits to send)  debugged::Receive
0:5  waits  X s  WaitGroup X (count 3)  debugged::WaitForGroup
0:6  waits  X s  sleep  debugged::Sleep
1:1  runs  -  -  debugged::BlockThread
"""
# Of `debugged kinds`, what the fibers beyond those wait for.
KINDS = [
    "Event X (not signalled, Mode::Auto)",
    "Latch X (count 2)",
    "Barrier X (2 still to arrive)",
    "SharedMutex X (held by 1 reader)",
    "Channel::send X (1 of 1 value; no fiber waits to receive)",
    "Channel::send X (no buffer; no fiber waits to receive)",
]
# Of `debugged locks`, the beginning.
DEADLOCK = """\
deadlock: 2 fibers wait for locks of each other, and only a time limit or a stop could end that:
  fiber 0:7, task debugged::LockFirst, holds mutex X and waits for mutex X, for X s
  fiber 0:8, task debugged::LockSecond, holds mutex X and waits for mutex X, for X s
FIBER  STATE"""
WORKERS = """\
scheduler X
  worker 0, thread X: sleeps
  worker 1, thread X: runs task debugged::BlockThread on fiber 1:1
"""

# What the debuggers say of debugged::objects.
OBJECTS = {
    "event": "Event not signalled, 2 waiters",
    "mayRun": "Event signalled",
    "lock": "mutex, held by fiber 0:2, task debugged::HoldAndWait, 1 waiter",
    "freeLock": "mutex, free",
    "task": "Task debugged::HoldAndWait",
    "emptyTask": "an empty Task",
    "channel": "Channel with 0 of 2, 1 receiver waits",
    "closed": "Channel with 1 of 4, closed",
    "group": "WaitGroup at 3, 1 waiter",
    "promise": "Promise, not kept",
    "kept": "Promise, kept",
    "gonePromise": "a Promise without a state",
    "pending": "Future, not ready",
    "ready": "Future, ready with 7",
    "failed": "Future, ready with an exception",
    "done": "Future, ready",
    "shared": "SharedFuture, ready with 8",
    "none": "a Future without a state",
    "unshared": "a SharedFuture without a state",
    "goneFuture": "a Future without a state",
    "goneShared": "a SharedFuture without a state",
    "goneTask": "an empty Task",
    "gone": "an Event that was moved from",
    "goneGroup": "a WaitGroup that was moved from",
    "goneChannel": "a Channel that was moved from",
}


@contextlib.contextmanager
def hanging(program, *arguments):
    """A process in which all is at rest."""
    pipe = subprocess.PIPE
    with subprocess.Popen([program, *arguments], stdin=pipe, stdout=pipe, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def core_of(program, folder):
    """Returns: the core file of a process that has ended by abort()."""
    with subprocess.Popen(
        [program, "abort"],
        stdin=subprocess.PIPE,
        cwd=folder,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2),
    ) as process:
        process.wait()
        process.stdin.close()
    cores = list(pathlib.Path(folder).glob("core*"))
    if not cores:
        pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text(encoding="utf-8").strip()
        raise unittest.SkipTest("the system writes no core file into the folder of the process: " + pattern)
    return str(cores[0])


def at_rest(answer, part):
    """Returns: what answer() gives while worker 0 sleeps. Now and then the mutex has it awake.

    Raises AssertionError if it never sleeps. part(text, command) is what the debugger has printed for a command, of which one is `weft workers`."""
    for _ in range(10):
        out = answer()
        if re.search(r"worker 0, thread \d+ \(LWP \d+\): sleeps", part(out, "weft workers")):
            return out
    raise AssertionError("worker 0 did not sleep in any of ten tries, of which this is the last:\n" + out)


def plain(text):
    """Returns: the text with X in place of what differs from run to run: addresses, times, threads."""
    text = re.sub(r"\b0x[0-9a-f]+\b", "X", text)
    text = re.sub(r"\b\d+(\.\d)? (us|ms|s|min|h)\b", "X s", text)
    text = re.sub(r"thread \d+ \(LWP \d+\)", "thread X", text)
    text = re.sub(r"main::(\{lambda\(\)#1\}|\$_0)", "LAMBDA", text)
    return re.sub(r" {2,}", "  ", text)


class CommandTests:
    """Tests that are alike for each debugger.

    A test case has attached(*commands) and of_core(*commands), what the debugger prints about a process and a
    core file; part(text, command); functions(backtrace), their names; and check_backtrace(text, is_of_core),
    for that of fiber 0:1."""

    def test_lists_the_fibers_of_a_process_that_hangs(self):
        out = at_rest(lambda: self.attached("weft fibers", "weft workers"), self.part)
        self.assertEqual(plain(self.part(out, "weft fibers")), FIBERS)
        workers = plain(self.part(out, "weft workers"))
        workers = re.sub("; has not looked after other fibers for X s", "", workers)
        self.assertEqual(workers, WORKERS)

    def test_lists_many_fibers_in_groups(self):
        out = self.attached("weft fibers", "weft fibers all", arguments=["many"])
        lines = plain(self.part(out, "weft fibers")).splitlines()
        self.assertEqual(lines[0], "FIBERS  STATE  SINCE  WAIT FOR  FOR EXAMPLE  TASK")
        event = "Event X (not signalled, Mode::Manual)"
        self.assertEqual(lines[1], "100  waits  X s  %s  0:6  debugged::WaitForEvent" % event)
        self.assertEqual(lines[-1], "`weft fibers all` lists each fiber.")
        self.assertEqual(self.part(out, "weft fibers all").count("debugged::WaitForEvent"), 100)

    def test_prints_the_backtrace_of_a_fiber(self):
        out = self.attached("weft bt 0:1", "bt", "weft bt 0:2 3")
        first, *_ = plain(self.part(out, "weft bt 0:1")).splitlines()
        event = "Event X (not signalled, Mode::Manual)"
        self.assertEqual(first, "fiber 0:1, task LAMBDA, waits for %s, for X s" % event)
        self.check_backtrace(self.part(out, "weft bt 0:1"))
        # The backtrace of the selected thread is as it was.
        self.assertIn("main", self.functions(self.part(out, "bt")))
        self.assertEqual(len(self.functions(self.part(out, "weft bt 0:2 3"))), 3)

    def test_prints_the_backtrace_of_the_fiber_on_which_its_worker_sleeps(self):
        out = at_rest(lambda: self.attached("weft workers", "weft bt 0:3", "weft bt 0:6"), self.part)
        for fiber, task in (("0:3", "TakeLock"), ("0:6", "Sleep")):
            names = self.functions(self.part(out, "weft bt " + fiber))
            # lldb's names end before the first parenthesis.
            self.assertIn("debugged::%s::operator" % task, [name.removesuffix("()") for name in names])
            self.assertEqual(names[-1], "weft_fiber_base")

    def test_reads_a_core_file(self):
        out = at_rest(lambda: self.of_core("weft fibers", "weft workers", "weft bt 0:1"), self.part)
        self.assertEqual(plain(self.part(out, "weft fibers")), FIBERS)
        self.assertEqual(plain(self.part(out, "weft workers")), WORKERS)
        self.check_backtrace(self.part(out, "weft bt 0:1"), is_of_core=True)

    def test_says_what_an_object_holds(self):
        out = at_rest(
            lambda: self.attached("weft fibers", "weft bt 0:8 1", "weft workers", arguments=["kinds"]), self.part
        )
        rows = (line.split("  ") for line in plain(self.part(out, "weft fibers")).splitlines())
        self.assertEqual([row[3] for row in rows if row[-1] == "debugged::Wait"], KINDS)
        line = "fiber 0:8, task debugged::Wait, waits for Latch X (count 2), for X s"
        self.assertEqual(plain(self.part(out, "weft bt 0:8 1")).splitlines()[0], line)

    def test_tells_a_deadlock(self):
        # The first fiber of the cycle waits for its lock once it has had its turn.
        commands = ["weft fibers", "weft workers"]
        out = at_rest(lambda: self.attached(*commands, arguments=["locks"]), self.part)
        out = self.part(out, "weft fibers")
        first, second = re.findall(r"holds mutex (0x\w+) and waits for mutex (0x\w+)", out)
        self.assertEqual(first, second[::-1])
        self.assertTrue(plain(out).startswith(DEADLOCK), out)

    def test_lists_the_code_of_threads_last(self):
        commands = ["weft fibers", "weft fibers all"]
        out = self.attached(*commands, arguments=["bound"])
        groups, each = (self.part(out, command).splitlines() for command in commands)
        for lines, count in ((groups[1:-1], 1), (each[1:], 2)):
            is_own = [line.endswith("  (own code)") for line in lines]
            self.assertEqual(is_own, [False] * (len(lines) - count) + [True] * count, lines)

    def test_lists_the_queues(self):
        out = at_rest(lambda: self.attached("weft workers", "weft queues"), self.part)
        out = plain(self.part(out, "weft queues")).splitlines()
        self.assertEqual(out[0], "scheduler X: 0 tasks queued for any worker")
        self.assertEqual(out[1], "  WORKER  READY  QUEUED  BLOCKED  IDLE  TIMERS  NEXT TIMER")
        # The waiter of the mutex has a timer now and then.
        self.assertRegex(out[2], r"^  worker 0  0  0  6  0  [12]  (in X s|due)$")
        self.assertEqual(out[3], "  worker 1  0  0  0  0  0  -")

    def test_counts_the_tasks_that_others_have_placed_on_a_worker(self):
        out = plain(self.part(self.attached("weft queues", arguments=["placed"]), "weft queues")).splitlines()
        self.assertRegex(out[3], r"^  worker 1  \d  2  ")

    def test_tells_that_a_fiber_was_woken_before_tasks_were_placed_on_its_worker(self):
        out = self.attached("weft fibers", "weft queues", arguments=["placed"])
        self.assertIn("1:1  ready  -  -  debugged::Wait\n", plain(self.part(out, "weft fibers")))
        self.assertRegex(plain(self.part(out, "weft queues")), r"\n  worker 1  1  2  0  ")

    def test_explains_the_commands(self):
        out = self.attached("help weft fibers", "help weft queues")
        self.assertIn("List the fibers: weft fibers [all]", self.part(out, "help weft fibers"))
        self.assertIn("One line a fiber: WORKER:NUMBER", self.part(out, "help weft fibers"))
        self.assertIn("List how much the workers have to do", self.part(out, "help weft queues"))
        for command, message in (
            ("weft fibers some", "usage: weft fibers [all]\n"),
            ("weft workers 1", "this command takes no arguments\n"),
            ("weft bt", "usage: weft bt FIBER"),
        ):
            self.assertIn("weft: " + message, self.attached(command))

    def test_says_why_it_cannot_show_a_fiber(self):
        for fiber, message in (
            ("1", r"weft: 2 fibers are called 1: 0:1 \(0x\w+\), 1:1 \(0x\w+\)"),
            ("1:1", r"weft: fiber 1:1 runs on thread \d \(LWP \d+\), whose own backtrace shows it"),
            ("9", "weft: there is no fiber 9"),
            ("x", "weft: x is no fiber: give a number, WORKER:NUMBER, or an address"),
        ):
            self.assertRegex(self.attached("weft bt " + fiber), message + "\n")


def python_of(debugger, *command):
    """Returns: why the debugger has no Python, or "". The command has it print "has Python"."""
    if not debugger:
        return "no such debugger is installed"
    done = subprocess.run([debugger, *command], capture_output=True, text=True, check=False, timeout=120)
    return "" if "has Python" in done.stdout else "%s has no Python: %s" % (debugger, done.stderr.strip())


def run(reason_to_skip):
    """Runs the tests of the program. Exits with 77, as ctest has it, if not one of them could run."""
    if reason_to_skip:
        print("skipped:", reason_to_skip)
        sys.exit(77)
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    if len(result.skipped) == result.testsRun:
        print("skipped:", result.skipped[0][1])
        sys.exit(77)
