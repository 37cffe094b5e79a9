#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests `weft ps`, `weft bt`, `weft top`, `weft trace` and `weft profile` on processes and on core files.

    inspect_test.py WEFT DEBUG STRIPPED STATIC PLUGINS FIRST OTHER [TWO_COPIES LIBRARY]

The first programs are builds of hanging.cpp: with -g, stripped, and linked with -static and -g. PLUGINS is
plugins.cpp, and FIRST and OTHER are its libraries. TWO_COPIES is two_copies.cpp, which contains weft, and
LIBRARY is its library, which contains a weft of its own.
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import pathlib
import pty
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

NUM_MORE = 5  # tasks that wait for an event
MOST_LOOKS = 500  # until the right one; with so many wrong ones something is broken
NANOSLEEP = 230  # the number of clock_nanosleep() on x86-64
LAMBDA = r"(?:\{lambda\(\)#\d+\}|\$_\d+)"  # gcc's name, and clang's
MOST_SECONDS = 60  # until a living program writes something
REFUSED = "Code that computes has no calls, as perf_event_open() is refused"
WAITS = (r"Semaphore 0x\w+", r"mutex 0x\w+", r"Channel::receive 0x\w+", r"Future 0x\w+", r"Event 0x\w+")


def weft(*arguments, **how):
    return subprocess.run([WEFT, *map(str, arguments)], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, **how)


def line_of(text):
    """Returns: the number of the line of hanging.cpp that has the text."""
    source = pathlib.Path(__file__).with_name("hanging.cpp").read_text(encoding="utf-8")
    return source[:source.index(text)].count("\n") + 1


def sleeps(process):
    try:
        call = pathlib.Path("/proc/%d/syscall" % process).read_text(encoding="utf-8")
    except OSError:  # it has ended
        return False
    return call.startswith("%d " % NANOSLEEP)


@contextlib.contextmanager
def running(program, *arguments, **how):
    """A process that has said that it is ready. It ends with its input, and has to end well."""
    with subprocess.Popen([program, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True, **how) as process:
        assert process.stdout.readline() == "ready\n"
        yield process
        process.stdin.close()
        assert process.stdout.read() == "ended\n", process.wait()
    assert process.returncode == 0, process.returncode


def core(program, folder, *arguments, end=None, **how):
    """Returns: the core file of a process that ends by `end`, or by itself; None if there is none."""
    with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as file:
        pattern = file.read().strip()
    if "/" in pattern or pattern.startswith("|"):
        return None
    limit = resource.RLIM_INFINITY
    with subprocess.Popen([program, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True, cwd=folder,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (limit, limit)),
                          **how) as process:
        if end is not None:
            assert process.stdout.readline() == "ready\n"
            process.send_signal(end)
        process.wait()
    return next(iter(pathlib.Path(folder).iterdir()), None)


def look_until(isRight, look):
    """Returns: what `look` tells, once that is right."""
    for _ in range(MOST_LOOKS):
        text = look()
        if isRight(text):
            return text
    raise AssertionError("%d looks did not tell what was expected. The last one told:\n%s" % (MOST_LOOKS, text))


def whole(look):
    """Returns: what `look` tells while the fiber waits that waits for a mutex. It looks at the mutex again now
    and then, and is ready meanwhile."""
    return look_until(re.compile(r"1 fiber waits for mutex 0x\w+, (for [\d.]+ \w+, )?in ").search, look)


def stripped(program, folder):
    """Returns: a copy of the program that was stripped; None, if there is no `strip`."""
    copy = shutil.copy(program, folder)
    if shutil.which("strip") is None:
        return None
    subprocess.run(["strip", copy], check=True)
    return copy


class LiveTest(unittest.TestCase):
    def ps(self, *arguments):
        done = weft("ps", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def check(self, text, hasNames):
        self.assertRegex(text, r"1 scheduler, 2 worker threads, 1 bound thread, 1\d fibers in use")
        # Without names weft's own frames count, and a fiber on whose stack a worker sleeps has more of them.
        for what, count in ((r"Semaphore 0x\w+, ", 3),
                            (r"Event 0x\w+ \(not signalled, Mode::Manual\), ", NUM_MORE)):
            alike = "%d fibers wait" % count if hasNames else r"\d fibers? waits?"
            self.assertRegex(text, alike + r" for " + what)
        self.assertRegex(text, r"1 fiber waits for mutex 0x\w+, .*; held by task .*, which waits for Event")
        self.assertIn("1 fiber sleeps, ", text)
        for each in WAITS:
            self.assertRegex(text, each)
        for name in (r"serve\(weft::Semaphore const&\)\+0x\w+ \(", r"takeMutex\(weft::mutex&\)\+0x\w+ \(",
                     r"task \(anonymous namespace\)::Tasks::start<\(anonymous namespace\)::hang\(int\)::"):
            (self.assertRegex if hasNames else self.assertNotRegex)(text, name)

    def test_ps_tells_what_is_awaited(self):
        for program in (DEBUG, STRIPPED, STATIC):
            with self.subTest(program), running(program, NUM_MORE) as process:
                self.check(whole(lambda: self.ps(process.pid)), program != STRIPPED)

    def test_ps_tells_since_when(self):
        with running(DEBUG) as process:
            # At first it has slept for less than what the coarse clock can tell.
            look_until(re.compile(r"1 fiber sleeps, for \d").search, lambda: self.ps(process.pid))

    def test_ps_lists_all_fibers(self):
        with running(DEBUG, NUM_MORE) as process:
            lines = self.ps("--all", process.pid).splitlines()
        self.assertRegex(lines[0], r"^WORKER +FIBER +STATE +SINCE +WAITS FOR +TASK$")
        self.assertEqual(len([line for line in lines if re.search(r" waits +\d", line)]),
                         len([line for line in lines if line.startswith("worker ")]))
        self.assertEqual(len([line for line in lines if " Event 0x" in line]), NUM_MORE + 1 + 1)
        self.assertRegex("\n".join(lines), r"\nmain thread %d +0 +runs" % process.pid)

    def test_bt_has_lines_of_the_source(self):
        with running(DEBUG, NUM_MORE) as process:
            fiber = re.search(r"1 fiber waits for Channel::receive.*?: worker (\d), fiber (\d+),",
                              self.ps(process.pid))
            name = ":".join(fiber.groups())
            text = weft("bt", process.pid, name).stdout
            self.assertRegex(text, r"^task .*\(worker %s, fiber %s\) waits for Channel::receive 0x" % fiber.groups())
            self.assertRegex(text, r"\n  #\d+ .*::hang\(int\)::.*\+0x\w+ \(hanging_debug\+0x\w+\) .*\n")
            self.assertRegex(text, r"\n  #\d+ .*\bweft_fiber_base\+0x")
            self.assertRegex(text, r"hanging\.cpp:\d+")
            plain = weft("bt", "--no-lines", process.pid, name).stdout
            self.assertNotIn("hanging.cpp", plain)
            self.assertRegex(plain, r"\n  #\d+ +weft_fiber_base\+0x\w+ \(hanging_debug\+0x\w+\)\n$")
            self.assertRegex(weft("bt", process.pid).stdout, r"serve[^\n]* \S*hanging\.cpp:\d+")

    def test_a_fiber_has_several_names(self):
        with running(DEBUG, NUM_MORE) as process:
            fiber = re.search(r"1 fiber waits for Channel::receive.*?: worker (\d), fiber (\d+),",
                              self.ps(process.pid))
            worker, number = fiber.groups()
            thread = re.search(r"worker %s, thread (\d+)" % worker, self.ps(process.pid)).group(1)
            texts = [weft("bt", "--no-lines", process.pid, name + ":" + number).stdout.splitlines()[0]
                     for name in (worker, thread)]
            self.assertEqual(*(re.sub(r"for [\d.]+ m?s", "", text) for text in texts))
            for name, message in (("99999", "there is no fiber 99999: `weft ps --all` lists them"),
                                  ("0x10", "there is no fiber 0x10:"), ("0:x", '"0:x" names no fiber')):
                done = weft("bt", process.pid, name)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(message, done.stderr)

    def test_without_addr2line_bt_has_no_lines(self):
        with running(DEBUG) as process, tempfile.TemporaryDirectory() as empty:
            done = weft("bt", process.pid, env={"PATH": empty})
            self.assertRegex(done.stderr, r"^weft: there is no addr2line, .*\n$")
            self.assertIn("serve(weft::Semaphore const&)", done.stdout)

    def test_a_name_of_addr2line_is_cut_as_one_of_a_dump(self):
        with running(DEBUG) as process, tempfile.TemporaryDirectory() as folder:
            fake = pathlib.Path(folder, "addr2line")
            fake.write_text("#!%s\nimport sys\nfor line in iter(sys.stdin.readline, ''):\n"
                            "    print(line.strip(), 'n' * 5000, '/a.cpp:1', sep='\\n', flush=True)\n"
                            % sys.executable, encoding="utf-8")
            fake.chmod(0o755)
            text = weft("bt", process.pid, env={"PATH": folder}).stdout
            self.assertRegex(text, r" n{2048}\.\.\. /a\.cpp:1\n")
            self.assertNotIn("n" * 2049, text)

    def test_another_file_gives_names_to_a_stripped_program(self):
        with tempfile.TemporaryDirectory() as folder:
            program = stripped(DEBUG, folder)
            if program is None:
                self.skipTest("there is no strip")
            with running(program, NUM_MORE) as process:
                self.check(whole(lambda: self.ps(process.pid)), False)
                self.check(whole(lambda: self.ps("--binary", DEBUG, process.pid)), True)
                self.assertRegex(weft("bt", "--binary", DEBUG, process.pid).stdout,
                                 r"serve[^\n]* \S*hanging\.cpp:\d+")
                os.remove(program)
                self.check(whole(lambda: self.ps("--binary", DEBUG, process.pid)), True)
                for file, message in ((STATIC, "is another build than "), (__file__, "is no program or shared ")):
                    done = weft("bt", "--binary", file, process.pid)
                    self.assertEqual((done.returncode, done.stdout), (1, ""))
                    self.assertRegex(done.stderr, r"^weft: %s %s.*\n$" % (re.escape(file), message))

    def test_a_file_that_is_cut_short_gives_no_names(self):
        with tempfile.TemporaryDirectory() as folder, running(DEBUG) as process:
            program = pathlib.Path(DEBUG).read_bytes()
            for size in (8192, len(program) - 1):
                cut = pathlib.Path(folder, "cut")
                cut.write_bytes(program[:size])
                for command in ("ps", "bt"):
                    done = weft(command, "--binary", cut, process.pid)
                    self.assertEqual((done.returncode, done.stdout), (1, ""))
                    self.assertRegex(done.stderr, r"^weft: \S+/cut is cut short: .*\n$")

    def test_the_observed_goes_on_unharmed(self):
        with running(DEBUG, "busy") as process:
            for _ in range(50):
                self.assertIn("1 scheduler", self.ps(process.pid))

    def test_a_stopped_process_is_told_of(self):
        with running(DEBUG, NUM_MORE) as process:
            def ps():
                process.send_signal(signal.SIGSTOP)
                os.waitid(os.P_PID, process.pid, os.WSTOPPED)
                text = self.ps(process.pid)
                process.send_signal(signal.SIGCONT)
                return text

            text = whole(ps)
        self.assertRegex(text, r"^process %d is stopped " % process.pid)
        self.check(text, True)

    def test_a_process_may_end_while_it_is_looked_at(self):
        for _ in range(20):
            with subprocess.Popen([DEBUG, "busy"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True) as process:
                process.stdout.readline()
                with subprocess.Popen([WEFT, "ps", str(process.pid)], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True) as looker:
                    process.kill()
                    _, errors = looker.communicate()
                self.assertRegex(errors, r"^(weft: process %d .*\n)?$" % process.pid)
                self.assertEqual(looker.returncode, 1 if errors else 0)

    def test_errors_are_one_sentence(self):
        for status, message, arguments in (
                (1, "there is no process 2147483647", ["ps", 2147483647]),
                (1, "is a program or a library, and no core file", ["bt", DEBUG]),
                (1, "is no core file: give a core file, or the number", ["ps", __file__]),
                (2, "ps needs the number of a process or a core file: see `weft help ps`", ["ps"]),
                (2, "ps needs the number of a process or a core file, and nothing else", ["ps", 1, 2]),
                (2, 'bt needs .* behind its options: "4711" is the value of --binary:', ["bt", "--binary", 4711]),
                (2, "ps has no option --what", ["ps", "--what", 1]),
                (2, "bt has no option --what", ["bt", "--what", 1]),
                (2, "bt needs the number of a process", ["bt"])):
            done = weft(*arguments)
            self.assertEqual((done.returncode, done.stdout), (status, ""), arguments)
            self.assertRegex(done.stderr, r"^weft: .*" + message + r".*\n$")


class Terminal:
    """A `weft top` on a terminal of its own."""

    def __init__(self, lines, columns, *arguments):
        self.end, other = pty.openpty()
        self.resize(lines, columns)
        self.process = subprocess.Popen([WEFT, "top", *map(str, arguments)], stdin=other, stdout=other,
                                        stderr=other, preexec_fn=self.take, start_new_session=True)
        os.close(other)
        self.text = ""

    @staticmethod
    def take():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def resize(self, lines, columns):
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("4H", lines, columns, 0, 0))

    def read(self):
        """Returns: whether there was more."""
        isThere, _, _ = select.select([self.end], [], [], MOST_SECONDS)
        assert isThere, "`weft top` has written nothing for %d s. Before, it wrote:\n%s" % (MOST_SECONDS, self.text)
        try:
            more = os.read(self.end, 65536).decode()
        except OSError as error:  # of the terminal's other end: nobody has it open any more
            if error.errno != errno.EIO:
                raise
            more = ""
        self.text += more
        return more != ""

    def views(self):
        """Returns: the lines of each view that is whole."""
        return [view.replace("\x1b[K", "").split("\r\n")[:-1] for view in
                re.findall(r"\x1b\[H(.*?)\x1b\[J", self.text, re.S)]

    def await_view(self, condition):
        for _ in range(MOST_LOOKS):
            views = self.views()
            if views and condition(views[-1]):
                return views[-1]
            assert self.read(), "`weft top` has ended. It wrote:\n" + self.text
        raise AssertionError("`weft top` did not show the expected view. It wrote:\n" + self.text)

    def await_end(self):
        for _ in range(MOST_LOOKS):
            if not self.read():
                os.close(self.end)
                return self.process.wait(MOST_SECONDS)
        raise AssertionError("`weft top` did not end. It wrote:\n" + self.text)


class CommandTest(unittest.TestCase):
    """What tests of one command share, which `command` names."""

    def expect_error(self, message, status, *arguments):
        done = weft(self.command, *arguments)
        self.assertEqual((done.returncode, done.stdout), (status, ""), arguments)
        self.assertRegex(done.stderr, r"^weft: " + message + r".*\n$")


class TopTest(CommandTest):
    command = "top"

    def top(self, *arguments):
        done = weft("top", "--interval", 0.02, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_a_busy_program_ends_tasks(self):
        with running(DEBUG, "busy") as process:
            # A look may find its threads between their turns.
            text = look_until(re.compile(r"\n(?!0 )(\d+|\d\.\d)[kM]? tasks/s; ").search,
                              lambda: self.top("--once", process.pid))
            self.assertRegex(text, r"^\S+ process %d, /\S+/hanging_debug: 1 scheduler, 2 worker threads, "
                                   r"1 bound thread\n" % process.pid)

    def test_a_hanging_program_ends_none(self):
        for program in (DEBUG, STRIPPED, STATIC):
            with self.subTest(program), running(program, NUM_MORE) as process:
                text = self.top("--once", process.pid)
                self.assertRegex(text, r"\n0 tasks/s; 1\d fibers in use: 0 run a task, 0 ready, 1\d wait; ")
                self.assertRegex(text, r"\nworker 0 +(\d+%|-) +0 +0 +\S+ +0 +0 +\d+  (sleeps|looks for work)\n")
                self.assertRegex(text, r"\nmain thread %d +\S+ +0 +0 +0 +0 +0 +0  runs its own code\n"
                                 % process.pid)
                self.assertRegex(text, r"\n +%s wait for Semaphore 0x\w+, for "
                                 % ("[23]" if program == STRIPPED else "3"))
                self.assertRegex(text, r"\n +1 waits for Channel::receive 0x\w+.*, for .*; task ")
                self.assertEqual("in (anonymous namespace)::serve(" in text, program != STRIPPED)

    def test_looks_follow_each_other(self):
        with running(DEBUG, NUM_MORE) as process:
            blocks = self.top("--count", 3, process.pid).split("\n\n")
            self.assertEqual(len(blocks), 3)
            for block in blocks:
                self.assertRegex(block, r"^\d\d:\d\d:\d\d process %d, .*\n0 tasks/s; " % process.pid)

    def test_very_many_fibers_have_no_frames(self):
        with running(DEBUG, 10_500) as process:
            text = self.top("--once", process.pid)
            self.assertRegex(text, r"\n +10,500 wait for Event 0x\w+, for [^,;]*; task ")
            self.assertRegex(text, r"\ntoo many fibers .*: `weft ps %d` tells in which calls they wait\n$"
                             % process.pid)

    def test_the_process_ends(self):
        with subprocess.Popen([DEBUG, "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as process:
            process.stdout.readline()
            with subprocess.Popen([WEFT, "top", "--interval", "0.01", str(process.pid)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as looker:
                looker.stdout.readline()
                process.kill()
                text, errors = looker.communicate()
            self.assertRegex(text, r"process %d has ended\n$" % process.pid)
            self.assertEqual((looker.returncode, errors), (0, ""))

    def test_a_terminal_shows_one_view(self):
        with running(DEBUG, NUM_MORE) as process:
            terminal = Terminal(9, 60, "--interval", 0.02, process.pid)
            first = terminal.await_view(lambda view: True)
            self.assertRegex(first[1], "^- tasks/s; ")
            view = terminal.await_view(lambda view: view[1].startswith("0 tasks/s; "))
            self.assertLessEqual(len(view), 8)
            self.assertEqual(max(map(len, view)), 60)
            self.assertRegex(view[-1], r"^ +\d+ in \d more groups$")
            terminal.resize(40, 200)
            view = terminal.await_view(lambda view: len(view) > 8)
            self.assertIn("serve(weft::Semaphore const&)", "\n".join(view))
            self.assertNotIn("more group", view[-1])
            os.write(terminal.end, b"\x03")  # Ctrl-C
            self.assertEqual(terminal.await_end(), 0)

    def test_errors_are_one_sentence(self):
        for message, arguments in (
                ("top needs the number of a process", []), ("top has no option --what", ["--what", 1]),
                ('--interval needs a number from 0.01 to 86400, which "0" is not', ["--interval", 0, 1]),
                ('--count needs a number of looks, which "x" is not', ["--count", "x", 1])):
            self.expect_error(message, 2, *arguments)


def recording(folder):
    """Returns: the environment of a program that records. When it ends it writes into the folder."""
    return {**os.environ, "WEFT_TRACE": str(pathlib.Path(folder, "of_itself.json"))}


class TraceTest(CommandTest):
    command = "trace"
    TASK = r"Tasks::start<.*hang\(int\)::"

    def trace(self, file, *arguments):
        """Returns: the events that `weft trace` writes to the file, which is JSON."""
        done = weft("trace", "-o", file, *arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return self.events(file)

    def events(self, file):
        text = file.read_text(encoding="utf-8")
        whole = json.loads(text)
        events = whole["traceEvents"] if isinstance(whole, dict) else whole
        self.assertGreater(len(events), 2 * NUM_MORE)
        return text

    def test_a_process_goes_on_while_its_events_are_written(self):
        for program in (DEBUG, STRIPPED, STATIC):
            with self.subTest(program), tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, "a.json")
                with running(program, NUM_MORE, env=recording(folder)) as process:
                    text = self.trace(file, process.pid)
                    self.assertIn("Channel::receive", text)
                    (self.assertNotRegex if program == STRIPPED else self.assertRegex)(text, self.TASK)
                self.events(pathlib.Path(folder, "of_itself.json"))

    def test_the_file_has_a_name_without_an_option(self):
        with tempfile.TemporaryDirectory() as folder, running(DEBUG, env=recording(folder)) as process:
            done = weft("trace", process.pid, cwd=folder)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            self.assertEqual(pathlib.Path(folder, "weft.pftrace").read_bytes()[:1], b"\n")  # field 1, of bytes

    def test_another_file_gives_names_to_tasks(self):
        with tempfile.TemporaryDirectory() as folder:
            program = stripped(DEBUG, folder)
            if program is None:
                self.skipTest("there is no strip")
            file = pathlib.Path(folder, "a.json")
            with running(program, NUM_MORE, env=recording(folder)) as process:
                self.assertNotRegex(self.trace(file, process.pid), self.TASK)
                self.assertRegex(self.trace(file, "--binary", DEBUG, process.pid), self.TASK)

    def test_a_core_file_has_the_last_events(self):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as place:
            file = core(DEBUG, folder, NUM_MORE, end=signal.SIGQUIT, env=recording(place))
            if file is None:
                self.skipTest("the system writes no core file into the current folder")
            self.assertRegex(self.trace(pathlib.Path(place, "a.json"), file), self.TASK)

    def test_errors_are_one_sentence(self):
        expect = self.expect_error
        expect("trace needs the number of a process or a core file", 2)
        expect("trace has no option --what", 2, "--what", 1)
        with running(DEBUG) as process:
            expect(r"process %d has recorded nothing: have it call weft::trace::start\(\), or start it with "
                   "WEFT_TRACE=PATH" % process.pid, 1, process.pid)
        with tempfile.TemporaryDirectory() as folder, running(DEBUG, env=recording(folder)) as process:
            for path, why in (("/nonexistent/a.json", "No such file or directory"),
                              ("/dev/full", "No space left on device")):
                expect(r"%s cannot be written \(%s\): choose another path" % (path, why), 1, "-o", path,
                       process.pid)


class ProfileTest(CommandTest):
    """Samples that are some milliseconds apart, so that a test has many of them."""

    command = "profile"
    TASK = r"\(anonymous namespace\)::Tasks::start<\(anonymous namespace\)::%s\(.*?\)::" + LAMBDA + ">.*?"

    def profile(self, *arguments, rate=200, seconds=0.2):
        """Returns: the time of each stack, in microseconds, and what was told."""
        done = weft("profile", "--rate", rate, "--seconds", seconds, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.times(done.stdout), done.stderr

    def times(self, text):
        lines = [re.fullmatch(r"([^\n]+) (\d+)", line) for line in text.splitlines()]
        self.assertTrue(all(lines), text)
        self.assertEqual(len({line[1] for line in lines}), len(lines))
        return {line[1]: int(line[2]) for line in lines}

    def time_of(self, times, pattern):
        found = [time for stack, time in times.items() if re.fullmatch(pattern, stack)]
        self.assertTrue(found, "none is like %s:\n%s" % (pattern, "\n".join(times)))
        return sum(found)

    def test_tells_where_fibers_wait(self):
        for program in (DEBUG, STATIC):
            with self.subTest(program), running(program, NUM_MORE) as process:
                times, told = self.profile(process.pid)
                begin = r"waits;" + self.TASK % "hang"
                one = self.time_of(times, begin + ";Channel::receive")
                self.assertGreater(one, 0)
                waiters = self.time_of(times, begin + r";\(anonymous namespace\)::serve\(weft::Semaphore const&\)"
                                                      ";Semaphore")
                self.time_of(times, begin + ";sleep")
                self.assertAlmostEqual(waiters / one, 3, delta=0.01)
                self.time_of(times, r"outside of tasks, in a call;main thread;.*main;"
                                    r".*waitForEndOfInput\(\);.*read")
                self.assertRegex(told, r"^process %d: \d+ samples in [\d.]+ s: computed \S+ s, blocked threads "
                                       r"\S+ s, was ready \S+ s, waited \S+ s\. Looking took \S+ %% of a "
                                       r"processor\.\n(So few samples say little: .*\n)?$" % process.pid)

    def test_a_stripped_program_has_its_stacks(self):
        with running(STRIPPED, NUM_MORE) as process:
            times, _ = self.profile(process.pid)
            self.time_of(times, r"waits;\(hanging_stripped\);.*")
            self.assertNotIn("serve", "".join(times))

    def test_tells_where_tasks_compute(self):
        for program in (DEBUG, STATIC):
            with self.subTest(program), running(program, "compute") as process:
                times, told = self.profile(process.pid)
                calls = r";\(anonymous namespace\)::computeUntil\([^;]*\)(;.*)?"
                self.time_of(times, r"computes;" + self.TASK % "compute" + ("" if REFUSED in told else calls))

    def test_a_task_computes_far_from_its_first_call(self):
        task = r"computes;" + self.TASK % "compute"
        for how, calls in (("far", r"\(anonymous namespace\)::computeBehind\(.*computeBelow<20480ul>\([^;]*"),
                           ("farther", r"\(anonymous namespace\)::computeBelow<102400ul>\([^;]*")):
            with self.subTest(how), running(DEBUG, how) as process:
                times, told = self.profile(process.pid)
                self.assertEqual([stack for stack in times if "looks for what to run" in stack], [])
                stack = r";\.\.\.;" + calls + r";\(anonymous namespace\)::computeUntil\([^;]*\)"
                self.time_of(times, task + ("" if REFUSED in told else stack))

    def test_a_call_of_the_system_goes_on(self):
        for program in (DEBUG, STRIPPED, STATIC):
            with self.subTest(program), running(program, "calls") as process:
                times, _ = self.profile(process.pid)
                if program != STRIPPED:
                    begin = r"blocks its thread;" + self.TASK % "callSystem"
                    for function in ("awaitEvents", "readByte"):
                        self.time_of(times, begin + r";\(anonymous namespace\)::%s\(int\);.*syscall" % function)

    def test_very_many_fibers_stand_for_each_other(self):
        with running(DEBUG, 10_000) as process:
            times, _ = self.profile(process.pid)
            event = self.time_of(times, r"waits;" + self.TASK % "hang" + ";Event")
            main = self.time_of(times, r"outside of tasks, in a call;main thread;.*")
            self.assertAlmostEqual(event / main, 10_000, delta=500)

    def test_the_observed_goes_on_unharmed(self):
        with running(DEBUG, "busy") as process:
            kinds, num_profiles = set(), 0
            # Where others keep the processors busy, the program may not compute during a profile.
            while num_profiles < 5 or "computes" not in kinds:
                times, _ = self.profile(process.pid, rate=1000)
                kinds |= {stack.split(";")[0] for stack in times}
                num_profiles += 1
                # A fiber that has begun to wait since the workers were looked at does not compute.
                self.assertEqual([stack for stack in times if "Idler::waitForWork" in stack and stack[0] in "cb"], [])

    def test_signals_that_come_meanwhile_arrive(self):
        with running(DEBUG, "signals") as process:
            self.profile(process.pid, rate=1000)

    def test_the_process_ends(self):
        with subprocess.Popen([DEBUG, "compute"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as process:
            process.stdout.readline()
            with self.looker(process, "--rate", 1000) as looker:
                process.send_signal(signal.SIGUSR1)
                self.assertEqual(process.wait(), -signal.SIGUSR1)
                text, told = looker.communicate()
            self.assertEqual(looker.returncode, 0)
            self.times(text)
            self.assertIn("It has ended meanwhile.\n", told)

    def test_the_process_begins_another_program(self):
        for program in (DEBUG, STATIC):
            with self.subTest(program), running(program, "exec") as process:
                with self.looker(process, "--rate", 1000) as looker:
                    process.stdin.write("\n")
                    process.stdin.flush()
                    self.assertEqual(process.stdout.readline(), "ready\n")
                    try:
                        text, told = looker.communicate(timeout=MOST_SECONDS)
                    except subprocess.TimeoutExpired:
                        looker.kill()
                        raise
                self.assertEqual(looker.returncode, 0, told)
                self.assertIn("It has begun another program meanwhile: these samples are of the one before.\n", told)
                times = self.times(text)
                self.time_of(times, r"waits;" + self.TASK % "beginAnew" + ";Event")
                self.assertEqual([stack for stack in times if "hang(int)" in stack], [])

    def looker(self, process, *arguments):
        """Begins a profile. Returns once it has taken a sample or two."""
        looker = subprocess.Popen([WEFT, "profile", "--seconds", "3600", *map(str, arguments), str(process.pid)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.await_samples(looker, 4)
        return looker

    def await_samples(self, looker, count):
        """Returns once the profile has slept so many times more: before each sample, and seldom else."""
        status = pathlib.Path("/proc/%d/status" % looker.pid)
        first = None
        while first is None or self.num_sleeps(status) < first + count:
            self.assertIsNone(looker.poll())
            first = self.num_sleeps(status) if first is None else first

    @staticmethod
    def num_sleeps(status):
        return int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", status.read_text(encoding="utf-8"))[1])

    def test_libraries_are_loaded_and_unloaded_meanwhile(self):
        with running(*PLUGINS) as process, self.looker(process, "--rate", 1000) as looker:
            for _ in PLUGINS[1:]:
                process.stdin.write("\n")
                process.stdin.flush()
                self.assertEqual(process.stdout.readline(), "ready\n")
                self.await_samples(looker, 200)
            looker.send_signal(signal.SIGINT)
            times = self.times(looker.communicate()[0])
        task = "waits;main::" + LAMBDA
        for function in ("waitInFirst", "waitInOther"):
            self.time_of(times, task + ";begin;%s;.*wait.*;Event" % function)

    def test_the_observed_goes_on_when_the_looker_is_killed(self):
        with running(DEBUG, "signals") as process:
            for _ in range(5):
                with self.looker(process, "--rate", 1000) as looker:
                    looker.kill()

    def test_an_interrupt_ends_it_early(self):
        with tempfile.TemporaryDirectory() as folder, running(DEBUG, NUM_MORE) as process:
            file = pathlib.Path(folder, "a.folded")
            with self.looker(process, "--rate", 100, "-o", file) as looker:
                looker.send_signal(signal.SIGINT)
                text, told = looker.communicate()
            self.assertEqual((looker.returncode, text), (0, ""))
            self.assertRegex(told, r"^process \d+: \d+ samples? in ")
            self.assertIn("waits;", file.read_text(encoding="utf-8"))

    def test_where_perf_events_are_refused_tasks_have_no_calls(self):
        with running(DEBUG, "compute") as process:
            done = weft("profile", "--rate", 200, "--seconds", 0.2, process.pid, preexec_fn=without_perf_events)
            self.assertIn(REFUSED + " (Operation not permitted): run this as root, or set ", done.stderr)
            self.time_of(self.times(done.stdout), r"computes;" + self.TASK % "compute")

    def test_all_copies_of_weft_are_told_of(self):
        if not COPIES:
            self.skipTest("the library is a shared one, of which a process has one copy")
        with running(*COPIES) as process:
            times, told = self.profile(process.pid, seconds=1)
            waited = self.time_of(times, "waits;.*;Event") * 1e-6  # the copies' tasks have the same name
            self.assertAlmostEqual(waited / float(re.search(r"in ([\d.]+) s:", told)[1]), 2, delta=0.2)

    def test_errors_are_one_sentence(self):
        expect = self.expect_error
        expect("profile needs the number of a process", 2)
        expect('profile needs the number of a process behind its options: "4711" is the value of --binary: see '
               "`weft help profile`", 2, "--binary", 4711)
        expect("profile has no option --what", 2, "--what", 1)
        expect('--seconds needs a number from 0.01 to 1000000, which "x" is not', 2, "--seconds", "x", 1)
        expect('--rate needs a number from 0.01 to 1000, which "0" is not', 2, "--rate", 0, 1)
        with running(DEBUG) as process:
            for path, why in (("/nonexistent/a", "No such file or directory"), ("/dev/full", "No space left on device")):
                expect(r"%s cannot be written \(%s\): choose another path with `weft profile -o PATH`" % (path, why),
                       1, "--seconds", 0.01, "-o", path, process.pid)
            process.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, process.pid, os.WSTOPPED)
            expect(r"process %d is stopped by a signal or a debugger: have it go on first" % process.pid, 1, process.pid)
            process.send_signal(signal.SIGCONT)
        with running(DEBUG, "none") as process:
            expect(r"process %d uses weft, and had no task and no bound thread meanwhile" % process.pid, 1,
                   "--seconds", 0.01, process.pid)


def without_perf_events():
    """For a process that starts: perf_event_open() fails with EPERM, as in a container."""
    number, load, jump, answer = 298, 0x20, 0x15, 0x06
    filters = (load, 0, 0, 0), (jump, 0, 1, number), (answer, 0, 0, 0x00050000 | errno.EPERM), \
        (answer, 0, 0, 0x7fff0000)
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in filters))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(filters), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program)


def without(file):
    return lambda: os.close(file)


class ClosedFilesTest(unittest.TestCase):
    """A standard file is closed. A file that `weft` opens must not take its place."""

    def test_a_closed_output_is_an_error(self):
        with running(DEBUG) as process:
            for arguments in (["--version"], ["help"], ["help", "ps"], ["ps", process.pid], ["bt", process.pid],
                              ["top", "--once", "--interval", 0.01, process.pid],
                              ["profile", "--seconds", 0.01, process.pid], ["symbolize", __file__]):
                done = weft(*arguments, preexec_fn=without(1))
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (1, "", "weft: the output cannot be written: the standard output is closed\n"),
                                 arguments)

    def test_a_full_output_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for arguments in (["--version"], ["help"], ["symbolize", __file__]):
                done = subprocess.run([WEFT, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr),
                                 (1, "weft: the output cannot be written: No space left on device\n"), arguments)

    def test_what_needs_no_output_goes_on(self):
        with running(DEBUG) as process, tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "a.folded")
            done = weft("profile", "--rate", 200, "--seconds", 0.1, "-o", file, process.pid, preexec_fn=without(1))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, r"^process %d: \d+ samples? in " % process.pid)
            self.assertIn("waits;", file.read_text(encoding="utf-8"))

    def test_messages_and_input_go_to_no_other_file(self):
        with running(DEBUG) as process:
            done = weft("profile", "--rate", 200, "--seconds", 0.1, process.pid, preexec_fn=without(2))
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stdout, r"^([^\n]+ \d+\n)+$")
        done = weft("symbolize", preexec_fn=without(0))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^weft: the standard input cannot be read: .*\n$")


class OtherProcessTest(unittest.TestCase):
    def test_a_process_may_just_have_begun(self):
        for _ in range(30):
            with subprocess.Popen([DEBUG, "1"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
                self.assertNotIn("whose layout this program does not know", weft("ps", process.pid).stderr)

    def expect_failure(self, command, process, message):
        done = weft(command, process.pid)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^weft: process %d %s\n$" % (process.pid, message))

    def test_all_copies_of_weft_are_told_of(self):
        if not COPIES:
            self.skipTest("the library is a shared one, of which a process has one copy")
        with running(*COPIES) as process:
            text = weft("ps", process.pid).stdout
            self.assertRegex(text, r"^weft: process %d, \S+/two_copies: 2 schedulers, 2 worker threads, "
                                   r"2 fibers in use, of which 2 wait; " % process.pid)
            self.assertEqual(len(set(re.findall(r"\nscheduler (0x\w+)", text))), 2)
            self.assertRegex(text, r"\(two_copies\+0x")
            self.assertRegex(text, r"\(libtwo_copies_library\.so\+0x")
            # Both have a worker 0 with a fiber 1.
            done = weft("bt", process.pid, "0:1")
            self.assertRegex(done.stderr, r"^weft: there are 2 fibers 0:1: choose one of 0x\w+, 0x\w+\n$")
            for address in re.findall(r"0x\w+", done.stderr):
                self.assertIn("waits for Event", weft("bt", "--no-lines", process.pid, address).stdout)
            self.assertIn(": 2 schedulers, ", weft("top", "--once", "--interval", 0.02, process.pid).stdout)

    def test_a_process_may_have_no_scheduler(self):
        for program in (DEBUG, STRIPPED, STATIC):
            with self.subTest(program), running(program, "none") as process:
                for command in ("ps", "bt"):
                    self.expect_failure(command, process, "uses weft, and has no scheduler now")
                done = weft("top", "--once", "--interval", 0.02, process.pid)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertRegex(done.stdout, r"\nno scheduler now\n$")

    def test_a_process_may_not_have_become_its_program_yet(self):
        def look():
            """Has a process begin its program once the looker sleeps, unless the process is too old by then."""
            with subprocess.Popen(["sh", "-c", 'read line; exec "$0" 1', DEBUG], stdin=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL) as process, \
                 subprocess.Popen([WEFT, "ps", str(process.pid)], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True) as looker:
                while looker.poll() is None and not sleeps(looker.pid):
                    pass
                process.stdin.write(b"\n")
                process.stdin.flush()
                told = looker.communicate()[1]
                process.stdin.close()
                return told

        look_until(lambda told: "does not use weft" not in told, look)

    def test_a_thread_is_no_process(self):
        with running(DEBUG) as process:
            thread = next(name for name in os.listdir("/proc/%d/task" % process.pid) if name != str(process.pid))
            for command in ("ps", "bt", "top", "trace", "profile", "symbolize --pid"):
                done = weft(*command.split(), thread)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (
                    1, "", "weft: %s is a thread of process %d: give that number\n" % (thread, process.pid)))

    def test_a_process_may_be_without_weft(self):
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            process.stdin.write(b"x")
            process.stdin.flush()
            process.stdout.read(1)  # so that it is no copy of this program any more
            for command in ("ps", "bt", "top", "trace", "profile"):
                self.expect_failure(command, process,
                                    "does not use weft, or a release that is too old to be looked at")

    def test_a_process_may_be_of_32_bits(self):
        code = bytes((0xb8, 4, 0, 0, 0, 0xbb, 1, 0, 0, 0, 0xb9)) + struct.pack("<I", 0x10000) + bytes((
            0xba, 1, 0, 0, 0, 0xcd, 0x80,                # write(1, its first byte, 1)
            0xb8, 29, 0, 0, 0, 0xcd, 0x80, 0xeb, 0xf7))  # pause(), again and again
        header = struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\1\1\1", 2, 3, 1, 0x10000 + 84, 52, 0, 0, 52, 32,
                             1, 0, 0, 0)
        segment = struct.pack("<IIIIIIII", 1, 0, 0x10000, 0x10000, 84 + len(code), 84 + len(code), 5, 4096)
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program"
            program.write_bytes(header + segment + code)
            program.chmod(0o755)
            try:
                process = subprocess.Popen([program], stdout=subprocess.PIPE)
            except OSError as error:
                self.skipTest("the system runs no programs of 32 bits: %s" % error)
            with process:
                if process.stdout.read(1) != b"\x7f":
                    self.skipTest("the system runs no programs of 32 bits")
                for command in ("ps", "bt", "top", "trace", "profile"):
                    self.expect_failure(command, process, "is a 32-bit process, for which there is no weft")
                process.kill()


class CoreTest(unittest.TestCase):
    check = LiveTest.check

    def core(self, program, folder, *arguments, end=None):
        file = core(program, folder, *arguments, end=end)
        if file is None:
            self.skipTest("the system writes no core file into the current folder")
        return file

    def test_a_core_file_tells_what_a_process_does(self):
        for program in (DEBUG, STRIPPED, STATIC):
            with self.subTest(program), tempfile.TemporaryDirectory() as folder:
                def ps():
                    for old in pathlib.Path(folder).iterdir():
                        old.unlink()
                    done = weft("ps", self.core(program, folder, NUM_MORE, end=signal.SIGQUIT))
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    return done.stdout

                text = whole(ps)
                self.assertRegex(text, r"^ended by SIGQUIT in thread \d+, which is main thread \d+")
                self.check(text, program != STRIPPED)
                file = next(pathlib.Path(folder).iterdir())
                done = weft("top", file)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, r"^weft: .* is a core file, and top needs a process .*\n$")
                done = weft("profile", file)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, r"^weft: .* is a core file, and profile needs a process .*\n$")

    def test_a_core_file_is_read_without_its_program(self):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as place:
            program = shutil.copy(DEBUG, place)
            file = self.core(program, folder, NUM_MORE, end=signal.SIGQUIT)
            os.remove(program)
            done = weft("ps", file)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(program + " has changed since then, or is gone", done.stdout)
            self.assertRegex(done.stdout, r"\n\d fibers? waits? for \(unknown\) 0x\w+, ")

    def test_another_build_gives_no_names_to_a_core_file(self):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as place:
            program = shutil.copy(DEBUG, place)
            file = self.core(program, folder, "crash")
            os.remove(program)
            shutil.copy(STATIC, program)
            for command in ("ps", "bt"):
                done = weft(command, file)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                text = done.stdout
                self.assertIn(program + " has changed since then, or is gone", text)
                self.assertRegex(text, r"\n +\(hanging_debug\+0x\w+\)\n")
                self.assertNotRegex(text, r"\w+\+0x\w+ \(hanging_debug\+|\.cpp:|hanging_debug\+0x\w+\) \w+::")

    def test_another_file_stands_for_the_program_of_a_core_file(self):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as place:
            program = stripped(DEBUG, place)
            if program is None:
                self.skipTest("there is no strip")
            file = self.core(program, folder, "crash")
            for _ in range(2):
                for command in ("ps", "bt"):
                    done = weft(command, "--binary", DEBUG, file)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertNotIn("has changed", done.stdout)
                    self.assertRegex(done.stdout, r"\n    \(anonymous namespace\)::fault\(\)\+0x\w+ \(hanging_debug")
                self.assertIn("hanging.cpp:%d" % line_of("*nowhere = 1;"), done.stdout)
                if os.path.exists(program):
                    os.remove(program)

    def test_a_core_file_tells_where_a_task_has_failed(self):
        with tempfile.TemporaryDirectory() as folder:
            file = self.core(DEBUG, folder, "crash")
            text = weft("ps", file).stdout
            self.assertRegex(text, r"^ended by SIGSEGV in thread \d+, which is worker \d, on fiber \d+, "
                                   r"task main::" + LAMBDA + r".*\n"
                                   r"    \(anonymous namespace\)::fault\(\)\+0x\w+ \(hanging_debug\+0x\w+\)\n"
                                   r"    main::" + LAMBDA)
            crashed = re.search(r"which is worker (\d), on fiber (\d+),", text)
            name = ":".join(crashed.groups())
            stack = weft("bt", file, name).stdout
            self.assertRegex(stack, r"\n  #0  \(anonymous namespace\)::fault\(\)\+0x\w+ .*hanging\.cpp:%d\n"
                             % line_of("*nowhere = 1;"))
            self.assertRegex(stack, r"\n  #\d+ .*\bweft_fiber_base\+0x")
            self.assertRegex(weft("bt", "--no-lines", file).stdout,
                             r"\nthe code of main thread \d+ ran\n(    .*\n)*    main\+0x")
            self.assertRegex(weft("bt", file).stdout, r"hanging\.cpp:\d+")

    def test_a_core_file_tells_of_a_deep_recursion_to_its_begin(self):
        with tempfile.TemporaryDirectory() as folder:
            file = self.core(DEBUG, folder, "deep")
            text = weft("bt", "--no-lines", file).stdout
            fiber = ":".join(re.search(r"which is worker (\d), on fiber (\d+),", text).groups())
            stack = weft("bt", "--no-lines", file, fiber).stdout
            for each, before, next in ((text, "    ", "    "), (stack, "  #2  ", "  #1001 ")):
                self.assertRegex(each, "\n" + before + r"\S.*::descend\(int\)\S+ \(\S+\), 999 times\n"
                                 + next + "main::" + LAMBDA)
            self.assertRegex(stack, r"\n  #\d+ .*\bweft_fiber_base\+0x\w+ .*\n$")

    def test_a_core_file_tells_who_has_called_what_is_no_code(self):
        for program in (DEBUG, STATIC):
            with self.subTest(program), tempfile.TemporaryDirectory() as folder:
                text = weft("ps", self.core(program, folder, "data")).stdout
                self.assertRegex(text, r"\n    .*\n    \(anonymous namespace\)::callData\(\)\+0x\w+ \(hanging_")

    def test_a_core_file_tells_of_an_overflow_of_the_main_stack(self):
        with tempfile.TemporaryDirectory() as folder:
            file = self.core(DEBUG, folder, "overflow")
            call = r"\(anonymous namespace\)::recurse\(int\)\+0x\w+ \(hanging_debug\+0x\w+\)"
            self.assertRegex(weft("ps", file).stdout, r"\n    " + call + r"\n    " + call + r", [\d,]+ times\n")


if __name__ == "__main__":
    WEFT, DEBUG, STRIPPED, STATIC = map(os.path.abspath, sys.argv[1:5])
    PLUGINS = sys.argv[5:8]
    COPIES = sys.argv[8:10] if len(sys.argv) == 10 else []
    unittest.main(argv=sys.argv[:1])
