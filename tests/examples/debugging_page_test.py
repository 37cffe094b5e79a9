#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a page, and compares what they print with what the page says.

    debugging_page_test.py PAGE PROGRAMS WEFT [--update]

Each line `$ COMMAND` in a block ```console is given to a shell, and the lines below it are its output. The
blocks below one heading `##` share a shell. PROGRAMS is the folder of the programs, WEFT the program `weft`.
What differs from run to run is not compared (VARYING), nor are lines that the system and the C library make
(FOREIGN). --update writes the output into the page.
"""

import os
import pathlib
import re
import selectors
import subprocess
import sys
import tempfile
import time

# What the page shows in a way that does not depend on where the programs were built.
CANONICAL = [
    (r"^((weft:|\d\d:\d\d:\d\d) process \d+), /\S*/(\w+): ", r"\1, /home/me/\3: "),
    (r"(?<![\w/])/\S*/examples/debugging/", ""),
    (r"(?<![\w/])/\S*/(include/weft/|src/)", r"weft/\1"),
    (r"bash: line \d+: +\d+ (Segmentation fault).*", r"\1"),
]
VARYING = [
    (r"^\d\d:\d\d:\d\d process \d+, /\S*/", "TIME process N, "),
    (r" +\d+%", " N%"),
    (r"\bwaits  [\d.]+ (us|ms|s|min) +", "waits  T "),
    (r"(WORKER|thread \d+) +", r"\1 "),
    (r"\b\d{4}-\d\d-\d\dT[\d:]{8}Z", "TIME"),
    (r"0x[0-9a-f]+", "0xN"),
    (r"\b(process|thread) \d+", r"\1 N"),
    (r"\bfor ([\d.]+( (us|ms|s|min))? to )?[\d.]+ (us|ms|s|min)\b", "for T"),
    (r"\bfor at least [\d.]+ (us|ms|s)\b", "for at least T"),
    (r"(weft/(include|src)/\S+):\d+", r"\1:N"),
    (r"\b\d+ kB", "N kB"),
    (r"#\d{4,}", "#N"),
    (r"^((?:computes|ready|waits);.*) \d+$", r"\1 N"),
    (r"^(process \w+: )\d+ samples in .*", r"\1samples"),
    (r"\b\d{8,}\b|\b[\d,]+ (?:times )?more\b", "N"),
]
FOREIGN = re.compile(r"\(libc\.so|\b(__libc_start_main|_start)\+0x|Segmentation fault")
HEADLINE = re.compile(r"^weft: process \d+[:,] ?", re.M)
PATIENCE = 60  # seconds until a command counts as failed
SETTLED = 0.3  # seconds without output until a dump is asked for again


def canonical(text):
    for pattern, replacement in CANONICAL:
        text = re.sub(pattern, replacement, text, flags=re.M)
    return text


def last_dump(text):
    """Returns: of several dumps, as a file may have from former runs, the last one."""
    headlines = [match.start() for match in HEADLINE.finditer(text)]
    return text[headlines[-1]:] if len(headlines) > 1 else text


def comparable(text):
    """Returns: the lines of `text` as they are compared.

    The paragraphs of a dump are sorted: they come by time, which varies.
    """
    isDump = HEADLINE.search(text) is not None
    text = canonical(text)
    for pattern, replacement in VARYING:
        text = re.sub(pattern, replacement, text, flags=re.M)
    text = "".join(line + "\n" for line in text.splitlines() if not FOREIGN.search(line))
    if isDump:
        text = "".join(sorted(re.findall(r"^\S.*\n(?: .*\n)*", text, re.M)))
    return text.splitlines()


def agrees(printed, expected):
    return comparable(last_dump(printed)) == comparable(expected)


class Shell:
    def __init__(self, folder, path):
        # The shell tells by a pipe of its own that a command has ended: a dump of a program in the background
        # may have written half a line.
        self.ended, self.tell = os.pipe()
        self.process = subprocess.Popen(
            ["bash", "-c", "ulimit -c 0; exec bash"], cwd=folder, pass_fds=[self.tell],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": path + ":" + os.environ["PATH"], "LC_ALL": "C"})
        self.events = selectors.DefaultSelector()
        os.set_blocking(self.process.stdout.fileno(), False)
        self.events.register(self.process.stdout, selectors.EVENT_READ)
        self.events.register(self.ended, selectors.EVENT_READ)
        self.lastKill, self.truncation = None, ""

    def send(self, command):
        self.process.stdin.write(("%s\nprintf x >&%d\n" % (command, self.tell)).encode())
        self.process.stdin.flush()

    def receive(self, seconds):
        """Waits for output or the end of a command. Returns: the output, how many commands ended."""
        ready = [key.fileobj for key, _ in self.events.select(seconds)]
        numEnded = len(os.read(self.ended, 99)) if self.ended in ready else 0
        return self.process.stdout.read() or b"", numEnded  # with all that the commands have printed

    def run(self, command, expected):
        """Returns: what the command prints, as soon as that agrees with `expected` or nothing more comes."""
        report = re.search(r"2>> (\S+) &$", command)
        if report:
            self.truncation = ": > %s; " % report.group(1)  # so that it has the last dump alone
        if command.startswith("kill -"):
            self.lastKill = command
        self.send(command)
        printed, numRunning, numTries, deadline = b"", 1, 0, time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            more, numEnded = self.receive(SETTLED if expected is not None else 2)
            printed += more
            numRunning -= numEnded
            text = printed.decode(errors="replace")
            if numRunning != 0:
                continue
            if expected is not None and agrees(text, expected):
                break
            if more or numEnded:
                continue
            if expected is None:
                break
            if command.startswith("weft ") and "$!" in command:
                self.send(command)  # the program had not come so far
                numRunning, printed = 1, b""
                continue
            # The program had not come so far, or the report was not written to its end. Each dump is awaited
            # before the next one: the output of a later command is to have none of it.
            if self.lastKill and (command != self.lastKill or HEADLINE.search(text)):
                numTries += 1
                isAsked = command == self.lastKill or numTries % 2 == 0
                again = [self.truncation + self.lastKill] if isAsked else []
                again += [command] if command != self.lastKill else []
                for each in again:
                    self.send(each)
                numRunning, printed = len(again), b""
        return printed.decode(errors="replace")

    def end(self):
        self.process.stdin.write(b"kill -9 $(jobs -p)\n")
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        for end in (self.ended, self.tell):
            os.close(end)


class Page:
    def __init__(self, path, folder, weft, update):
        self.path, self.folder, self.weft, self.update = path, folder, weft, update
        self.out, self.failures, self.numCommands = [], [], 0
        self.shell = None

    def endShell(self):
        if self.shell is not None:
            self.shell.end()
        self.shell = None

    def runCommand(self, command, expected):
        self.numCommands += 1
        if self.shell is None:
            self.shell = Shell(self.folder, self.weft)
        printed = self.shell.run(command, None if self.update else expected)
        doAgree = agrees(printed, expected)
        if doAgree and not self.update:
            return expected
        if not doAgree:
            self.failures.append("$ %s\nprints\n%sand not what the page says:\n%s"
                                 % (command, canonical(printed), expected))
        return canonical(last_dump(printed))

    def runBlock(self, lines):
        while lines:
            assert lines[0].startswith("$ "), lines[0]
            command = lines.pop(0)
            end = next((i for i, line in enumerate(lines) if line.startswith("$ ")), len(lines))
            expected = "".join(line + "\n" for line in lines[:end])
            self.out.append(command)
            self.out += self.runCommand(command[2:], expected).splitlines()
            lines = lines[end:]

    def run(self):
        lines = self.path.read_text(encoding="utf-8").splitlines()
        at = 0
        while at < len(lines):
            line = lines[at]
            self.out.append(line)
            at += 1
            if line.startswith("## "):
                self.endShell()
            if line == "```console":
                end = lines.index("```", at)
                self.runBlock(lines[at:end])
                at = end
        self.endShell()


def main():
    page, programs, weft = map(pathlib.Path, sys.argv[1:4])
    with tempfile.TemporaryDirectory() as folder:
        for program in programs.resolve().iterdir():
            os.symlink(program, os.path.join(folder, program.name))
        run = Page(page, folder, str(weft.resolve().parent), sys.argv[4:] == ["--update"])
        run.run()
    if run.update:
        page.write_text("\n".join(run.out) + "\n", encoding="utf-8")
    print("\n".join(run.failures))
    print("%d commands, %d of them print something else" % (run.numCommands, len(run.failures)))
    return 0 if run.update or run.numCommands and not run.failures else 1


if __name__ == "__main__":
    sys.exit(main())
