#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Fails where a document or a comment names what the tree does not have.

    docs_facts.py ROOT [--tests BUILD]

Checked are paths, links and their anchors, commands (presets, parts of .ci/run, labels and names of tests,
options of scripts and of the build), numbers that stand for a constant (the table NUMBERS) or count something
(COUNTS, OCCURRENCES), the functions and members that a page names beside a file, those that comments name,
those of docs/llms.txt, and the examples. With --tests, the names of tests are those of the build folder BUILD.
"""

import argparse
import json
import pathlib
import posixpath
import re
import sys

FOLDERS = (".ci", "benchmarks", "docs", "examples", "include", "src", "tests")

# (page, the number's place, source, constant): "61 dequeues" must be what the constant says.
FAIRNESS = "src/scheduler/policy/fairness_interval.h"
SEARCH = "src/scheduler/policy/search_budget.h"
THROTTLE = "src/scheduler/policy/throttle.h"
PACER = "src/fair/look_pacer.h"
GRAIN = "include/weft/detail/parallel/grain_estimator.h"
NUMBERS = [
    ("docs/scheduler.md", r"Every ([\d,]+) dequeues", FAIRNESS, "kInterval"),
    ("docs/scheduler.md", r"every ([\d,]+)st time", FAIRNESS, "kInterval"),
    ("docs/scheduler.md", r"every ([\d,]+)th time while fibers wait", FAIRNESS, "kReactorInterval"),
    ("docs/scheduler.md", r"at most ([\d,]+) at once", FAIRNESS, "kInterval"),
    ("docs/scheduler.md", r"some ([\d,]+) us too", FAIRNESS, "kSlice"),
    ("docs/scheduler.md", r"waits for \| ([\d,]+) dequeues, with an `AsioContext`",
     FAIRNESS, "kReactorInterval"),
    ("docs/io.md", r"otherwise after each\s+([\d,]+) dequeues", FAIRNESS, "kReactorInterval"),
    ("docs/scheduler.md", r"dequeues only, 61 and ([\d,]+),",
     "src/scheduler/policy/oldest_watch.h", "kDequeues"),
    ("docs/scheduler.md", r"is ([\d,]+) dequeues there",
     "src/scheduler/worker/worker.cpp", "kDequeuesInWindow"),
    ("docs/scheduler.md", r"bounded deque, ([\d,]+) slots",
     "include/weft/detail/queue/stealing_deque.h", "Capacity"),
    ("docs/scheduler.md", r"the time falls to ([\d,]+)\s+us", SEARCH, "kShortest"),
    ("docs/scheduler.md", r"search for at most ([\d,]+) us by", SEARCH, "kUsual"),
    ("docs/scheduler.md", r"costs the waker some ([\d,]+) us", SEARCH, "kSaved"),
    ("docs/scheduler.md", r"two looks were ([\d,]+) us", SEARCH, "kTakenAway"),
    ("docs/scheduler.md", r"up to ([\d,]+) times\. Beside", SEARCH, "kLongestRest"),
    ("docs/scheduler.md", r"more than ([\d,]+) blocked fibers", THROTTLE, "kBlockedFreely"),
    ("docs/scheduler.md", r"it starts ([\d,]+), which", THROTTLE, "kStartsPerVainHold"),
    ("docs/scheduler.md", r"may add ([\d,]+) fibers", THROTTLE, "kStartsPerVainHold"),
    ("docs/scheduler.md", r"within ([\d,]+) us of each other", "src/scheduler/worker/stealer.cpp", "kQuick"),
    ("docs/scheduler.md", r"taken ([\d,]+) tasks\s+of its own",
     "include/weft/detail/queue/steal_gate.h", "kLeaveAfter"),
    ("docs/scheduler.md", r"up to ([\d,]+) tasks\. After a batch",
     "include/weft/detail/base/task_batch.h", "kMost"),
    ("docs/scheduler.md", r"longer than\s+([\d,]+) us to make",
     "include/weft/detail/base/task_batch.h", "kMostMicroseconds"),
    ("docs/parallel.md", r"After each ([\d,]+) pieces", FAIRNESS, "kInterval"),
    ("docs/parallel.md", r"after every ([\d,]+) of its iterations", GRAIN, "kStride"),
    ("docs/parallel.md", r"every\s+([\d,]+) while a timer", GRAIN, "kTimedStride"),
    ("docs/parallel.md", r"look for news after every ([\d,]+) elements",
     "include/weft/detail/parallel/find.h", "kUnseen"),
    ("docs/parallel.md", r"last piece: ([\d,]+) us", GRAIN, "kWorthStealing"),
    ("docs/parallel.md", r"([\d,]+) us if a worker must be woken",
     GRAIN, "kWorthWaking"),
    ("docs/fair.md", r"After ([\d,]+) due tasks", "src/fair/dispatcher.h", "kDueInARow"),
    ("docs/fair.md", r"after about ([\d,]+) us", PACER, "kLookAfterNs / 1000"),
    ("docs/fair.md", r"after ([\d,]+) steps at most", PACER, "kLookAfterSteps"),
    ("docs/fair.md", r"less than ([\d,]+) us ago", PACER, "kIntakePause / 1000"),
    ("docs/fair.md", r"It sleeps for ([\d,]+) us, then", "src/fair/idle_threads.cpp", "kFirstTick"),
    ("docs/fair.md", r"up to ([\d,]+) us beside work", "src/fair/idle_threads.cpp", "kLongestTickBesideWork"),
    ("docs/fair.md", r"up to ([\d,]+) ms, and looks", "src/fair/idle_threads.cpp", "kLongestTick / 1000"),
    ("docs/fair.md", r"steps of less than ([\d,]+) ns", PACER, "kFineStepNs"),
    ("docs/fair.md", r"gets at most ([\d,]+) tasks", "src/fair/dispatcher.cpp", "kRefill"),
    ("docs/stacks.md", r"slabs of up to\s+([\d,]+) stacks", "src/os/stack_pool.h", "kStacksPerSlab"),
    ("docs/stacks.md", r"stacks \(([\d,]+) in the first", "src/os/stack_pool.cpp", "kFirstSlab"),
    ("docs/stacks.md", r"keeps up to ([\d,]+) in advance",
     "src/scheduler/fibers/fiber_factory.h", "kStackBatch"),
    ("docs/stacks.md", r"of a worker \| ([\d,]+) \|", "src/scheduler/fibers/fiber_pool.cpp", "kIdleKept"),
    ("docs/stacks.md", r"needed them for ([\d,]+) milliseconds",
     "src/scheduler/fibers/fiber_pool.cpp", "kTrimAfter"),
    ("docs/stacks.md", r"back ([\d,]+) at a time", "src/scheduler/fibers/fiber_pool.cpp", "kTrimmedAtOnce"),
    ("docs/io.md", r"at most ([\d,]+) threads for each worker", "src/io/uring_system.cpp", "kMostThreads"),
    ("docs/io.md", r"After (\w+) tries in a row", "src/io/io_retry.h", "kMostInVain"),
    ("docs/io.md", r"so on up to ([\d,]+) ms", "src/io/io_retry.h", "kLongest"),
    ("docs/io.md", r"about ([\d,]+) million descriptors",
     "src/io/descriptor_table.cpp", "kNumChunks * kSlotsPerChunk // 1000000"),
    ("docs/io.md", r"flag once in ([\d,]+) calls", "src/io/descriptor_table.cpp", "kMostRecalls + 1"),
    ("docs/futures.md", r"limit of (\w+) also", "src/async/future.cpp", "kNestedLoops + 1"),
    ("docs/channels.md", r"at most ([\d,]+) values", "src/sync/channel.cpp", "kBatch"),
    ("docs/marl_compatibility.md", r"unchecked \| ([\d,]+), checked",
     "include/weft/scheduler.h", "kMaxWorkerThreads"),
    ("docs/waiting.md", r"while others read: ([\d,]+) of them",
     "include/weft/detail/wait/shared_word.h", "kMaxPasses"),
    ("docs/scheduler.md", r"closely, (\w+) or more within", "src/scheduler/worker/stealer.cpp", "kManyQuick"),
    ("docs/reliability.md", r"up to ([\d,]+) operations", "tests/fuzz/program.h", "kMaxOps"),
    ("docs/reliability.md", r"in up to ([\d,]+) scripts", "tests/fuzz/program.h", "kMaxScripts"),
    ("docs/glossary.md", r"depot \| ([\d,]+) free", "src/os/node_pool.cpp", "kMagazine"),
    ("docs/waiting.md", r"every ([\d,]+) seconds \(`kBetween",
     "include/weft/detail/base/deadline.h", "kBetweenLooksAtClock"),
]
# (page, the number's place, the tests that it counts)
COUNTS = [
    ("docs/reliability.md", r"([\d,]+) bugs are put into the code", r"model_(?!scheduler_)\w+_finds_\w+"),
    ("docs/reliability.md", r"([\d,]+) bugs put into these sources", r"model_scheduler_finds_\w+"),
    ("docs/reliability.md", r"models` runs ([\d,]+) programs", r"model_(?!scheduler_)\w+_briefly"),
    ("docs/reliability.md", r"([\d,]+) small programs", r"model_scheduler_(?!finds_)[\w-]+_briefly"),
]
# (page, the number's place, files, what is counted in them)
OCCURRENCES = [
    ("docs/reliability.md", r"programs with ([\d,]+) suites", r"tests/model/\w+_model\.cpp",
     r"\bexplore(?:Finite)?<"),
    ("docs/reliability.md", r"models, with ([\d,]+) suites, are also searched", r"tests/model/\w+_model\.cpp",
     r"\bexploreFinite<"),
    ("docs/reliability.md", r"There are ([\d,]+) operations", r"tests/fuzz/ops_\w+\.cpp",
     r"(?m)^    \{\.name"),
    ("docs/reliability.md", r"threads in ([\d,]+) scenarios", r"tests/model/fair_scheduler\.pml",
     r"(?m)^#\w+ SCENARIO == \d+"),
]
WORDS = {"three": 3, "four": 4, "five": 5, "eight": 8, "sixteen": 16}

# What pages and comments name that is no file of this tree: the system's, another project's, or written by
# a program.
FOREIGN = re.compile(r"^(/|sys/|linux/|bits/|windows\.h|complex\.h|build/|.*NAME|"
                     r"weft\.cpp$|weft_io\.(?:h|cpp)$|"
                     r"results\.json$|table\.md$|build_all\.sh|CPM\.cmake|(\./)?build_and_bench_all\.py)")
IN_MANY_FOLDERS = {"problem.h"}
ENDING = r"\.(?:h|cpp|S|md|py|txt|cmake|pml|svg|sh|json|in)"
PATH = re.compile(r"(?<![\w./<*-])((?:[\w.+-]+/)*[A-Za-z0-9][\w+-]*" + ENDING + r")(?![\w/])")
FOLDER = re.compile(r"(?<![\w./<-])((?:src|include|tests|docs|benchmarks|examples)/[\w./-]*\w)")
TEST = re.compile(r"`((?:model|spin|memcheck|consumer|package|coverage|mutants)_[\w*]+|\w+_test)`")
CONSTANT = re.compile(r"\b(?:\w+::)*(k?[A-Z]\w*)\b")
TYPE = re.compile(r"\b(?:class|struct)\s+(?:\w+\([^)]*\)\s+)?(?:WEFT_\w+\s+)?(\w+)")
NAME = re.compile(r"`(\w+)(?:\(\))?`(?! or )")
NAMED = re.compile(r"\b(k[A-Z]\w+)|\b[Ss]ee ([A-Z]\w*)\b(?! and [A-Z]|, )")  # but for authors
IN_FILE = re.compile(r"`(?:\w+::)*(\w+)\(\)`\s+\(`((?:src|include)/[\w/.]+)`")
MEMBER = re.compile(r"`(?:\w+::)*?([A-Z]\w+)::(\w+)(?:\(\))?`")

# The page for programs that write programs: what stands for the reader's own, and headers that it leaves out.
LLMS = "docs/llms.txt"
PLACEHOLDERS = set("address args body buffer c cases capacity d data endpoint event executor f "
                   "futures g init map n out parents path port pred range service stages statement t "
                   "task time token tokens v worker host listener lock scheduler".split())
UNLISTED = {name + ".h" for name in (
    "asio", "containers", "debug", "export", "fiberhooks", "histogram", "memory", "mpi", "sanitizers", "signal",
    "thread", "tracy", "tsa", "version", "waithandler", "weft")}


class Facts:
    def __init__(self, root, build):
        self.root = root
        self.wrong = self.count = 0
        paths = [path for folder in FOLDERS for path in (root / folder).rglob("*")] + list(root.iterdir())
        self.files = sorted(path.relative_to(root).as_posix() for path in paths
                            if path.is_file() and "__pycache__" not in path.parts)
        self.folders = {str(parent) for name in self.files for parent in pathlib.PurePath(name).parents}
        self.text = {}
        for name in self.files:
            try:
                self.text[name] = (root / name).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                self.text[name] = ""
        self.pages = [name for name in self.files if name.endswith(".md") or name == LLMS]
        self.presets = json.loads(self.text["CMakePresets.json"])
        self.parts = self.readParts()
        self.labels = self.readLabels()
        self.tests = self.readTests(build)
        self.code = "\n".join(text for name, text in self.text.items()
                              if name not in self.pages and name != "tests/docs_facts.py")

    def expect(self, holds, place, message):
        self.count += 1
        if not holds:
            self.wrong += 1
            print("%s: %s" % (place, message))

    def readParts(self):
        parts = {"all", "nightly", "owed", "test"}
        for name in ("choices", "whole", "watched", "nightly"):
            for word in re.search(r"^%s=\((.*)\)$" % name, self.text[".ci/run"], re.M).group(1).split():
                many = re.fullmatch(r"(.*)\{(\d+)\.\.(\d+)\}", word)
                parts |= {many[1] + str(i) for i in range(int(many[2]), int(many[3]) + 1)} if many else {word}
        return parts

    def readLabels(self):
        labels = set()
        for name, text in self.text.items():
            if name.endswith((".cmake", "CMakeLists.txt")):
                labels |= set(re.findall(r"\bLABELS?\s+\"?(\w+)", text))
        return labels

    def readTests(self, build):
        # As CMake has written them: another ctest would overwrite the log of the one that runs this.
        tests = set()
        for path in build.rglob("CTestTestfile.cmake") if build else []:
            text = path.read_text(encoding="utf-8")
            tests.update(re.findall(r"^ *add_test\((?:\[=*\[)?([\w.-]+)", text, re.M))
        return tests if "model_parker" in tests else None  # a build without the models knows some names only

    def find(self, path, page):
        """The files of the tree that `path` names on a page or in a source."""
        here = str(pathlib.PurePath(page).parent)
        for folder in ("", here, "include", "include/weft", "include/weft/detail", "tests", "src"):
            name = posixpath.normpath(posixpath.join(folder, path))
            if name in self.text or name in self.folders:
                return [name]
        return [name for name in self.files if name.endswith("/" + path)]

    # Paths, links and anchors.

    def checkPaths(self):
        for page in self.pages + [".ci/run"]:
            for number, line in enumerate(self.text[page].split("\n"), 1):
                self.checkLine(page, "%s:%d" % (page, number), line, isPage=page != ".ci/run")
            self.checkLinks(page)
        for name in self.files:
            hasSlashes = name.endswith((".h", ".cpp", ".S", ".pml"))
            if (hasSlashes or name.endswith((".cmake", "CMakeLists.txt"))) and "/corpus/" not in name:
                mark = r"//+ ?(.*)" if hasSlashes else r"# ?(.*)"
                for number, line in enumerate(self.text[name].split("\n"), 1):
                    comment = re.search(r"(?:^|\s)" + mark, line)
                    if comment and "Copyright" not in line:
                        self.checkLine(name, "%s:%d" % (name, number), comment.group(1), isPage=False)

    def checkLine(self, name, place, line, isPage):
        line = re.sub(r"https?://\S+|<[\w/+.]+>|\]\([^)]*\)", " ", line)
        texts = re.findall(r"`([^`]+)`", line) if isPage else [line]
        for text in texts:
            for path in PATH.findall(text) + FOLDER.findall(text):
                if FOREIGN.match(path) or "*" in path or "CMakeFiles" in path:
                    continue
                found = self.find(path, name)
                self.expect(found, place, "there is no %s" % path)
                if isPage and len(found) > 1 and "/" not in path and path not in IN_MANY_FOLDERS:
                    beside = self.besideOthers(line, found)
                    self.expect(beside, place, "%s may be each of %s" % (path, ", ".join(found)))

    def besideOthers(self, line, found):
        """Whether one of `found` lies in a folder that the line names."""
        folders = {str(pathlib.PurePath(self.find(path, "")[0]).parent)
                   for path in PATH.findall(line) if "/" in path and self.find(path, "")}
        return any(str(pathlib.PurePath(name).parent) in folders for name in found)

    def checkLinks(self, page):
        folder = self.root / pathlib.PurePath(page).parent
        text = re.sub(r"^```.*?^```", "", self.text[page], flags=re.M | re.S)
        for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", text):
            path = (folder / target).resolve() if target else self.root.resolve() / page
            self.expect(path.exists(), page, "there is no %s" % target)
            if anchor and path.is_file():
                headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
                slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
                self.expect(anchor in slugs, page, "there is no heading for %s#%s" % (target, anchor))

    # Commands.

    def namesOf(self, kind):
        return {preset["name"] for preset in self.presets[kind]} | {"NAME"}

    def checkCommands(self):
        for page in self.pages + [".ci/run"]:
            for number, line in enumerate(self.text[page].split("\n"), 1):
                place = "%s:%d" % (page, number)
                self.checkPresets(place, line)
                self.checkTests(place, line)
                self.checkScripts(place, line)
                if page != ".ci/run":
                    for part in re.findall(r"\.ci/run ([a-z][\w-]*)", line):
                        self.expect(part in self.parts, place, "there is no part %s of .ci/run" % part)
                for option in set(re.findall(r"\bWEFT_[A-Z0-9_]+\b", line)):
                    self.expect(re.search(r"\b%s\b" % option, self.code), place, "nothing reads %s" % option)

    def checkPresets(self, place, line):
        for command, name in re.findall(r"(cmake --workflow|cmake|ctest)\b[^`&|]*? --preset ([\w-]+)", line):
            kinds = {"cmake --workflow": "workflowPresets", "ctest": "testPresets"}
            kind = kinds.get(command, "configurePresets")
            self.expect(name in self.namesOf(kind), place, "%s has no preset %s" % (kind, name))
        for kind, names in re.findall(r"([Ww]orkflow )?[Pp]resets? ((?:`[\w-]+`(?:, | and )?)+)", line):
            for name in re.findall(r"`([\w-]+)`", names):
                kinds = "workflowPresets" if kind else "configurePresets"
                self.expect(name in self.namesOf(kinds), place, "%s has no preset %s" % (kinds, name))

    def checkTests(self, place, line):
        for label in re.findall(r"\bctest\b[^`&|]*? -LE? '?\^?\(?([\w]+)", line):
            self.expect(label in self.labels, place, "no test has the label %s" % label)
        if self.tests is None:
            return
        patterns = re.findall(r"\bctest\b[^`&]*? -R (?:'([^']+)'|([\w.^$*]+))", line)
        for pattern in (quoted or bare for quoted, bare in patterns):
            inCMake = re.search(r"add_test\(NAME \S*(?:%s)" % pattern, self.code)  # of a further preset
            found = pattern == "NAME" or inCMake or any(re.search(pattern, test) for test in self.tests)
            self.expect(found, place, "no test is called %s" % pattern)
        if place.startswith("docs/"):
            for name in TEST.findall(line):
                pattern = re.escape(name).replace(r"\*", ".*") + "(_epoll|_uring|_late)?"
                isTarget = "(%s " % name in self.code
                self.expect(isTarget or any(re.fullmatch(pattern, test) for test in self.tests), place,
                            "no test is called %s" % name)

    def checkScripts(self, place, line):
        for path, options in re.findall(r"([\w/]+\.py)((?: [\w./:=-]+?)*? --[\w-]+(?: [\w./:=-]+)*)", line):
            for name in self.find(path, ""):
                for option in re.findall(r" (--[\w-]+)", options):
                    self.expect(option in self.text[name], place, "%s has no option %s" % (name, option))

    # Numbers.

    def valueOf(self, expression, source):
        # microseconds(4), size_t{64} and {20} are the number within.
        expression = re.sub(r"(?:\b(?:\w+::)*[a-z]\w*)?[({]([\w' ]+)[)}]", r"(\1)", expression)
        expression = re.sub(r"(?<=\d)'(?=\d)|(?<=\d)(?:u|ull|ll|f)\b", "", expression)
        expression = CONSTANT.sub(lambda name: "(%s)" % self.constant(name.group(1), source), expression)
        return eval(expression.strip(), {"__builtins__": {}})  # pylint: disable=eval-used

    def constant(self, name, source):
        places = [source] + [other for other in self.files if other.startswith(("src/", "include/"))]
        for place in places:
            value = r"\s*(?:=\s*([^;,>]+)|(\{[^}]*\}|\([^)]*\)))\s*[;,>]"
            found = re.search(r"\b%s%s" % (name, value), self.text.get(place, ""))
            if found:
                return self.valueOf(found.group(1) or found.group(2), place)
        raise KeyError(name)

    def expectNumber(self, page, pattern, value, what):
        """Expects that the page, whose lines may break at each space of `pattern`, says that number."""
        found = re.findall(pattern.replace(" ", r"\s+"), self.text[page])
        self.expect(found, page, "nothing matches \"%s\"" % pattern)
        for number in found:
            said = WORDS.get(number) or int(number.replace(",", ""))
            self.expect(said == value, page, "says %s where %s is %s" % (number, what, value))

    def checkNumbers(self):
        for page, pattern, source, expression in NUMBERS:
            name = CONSTANT.search(expression).group(1)
            isThere = re.search(r"\b%s\b" % name, self.text.get(source, ""))
            self.expect(isThere, source, "there is no %s" % name)
            try:
                value = self.valueOf(expression, source)
            except KeyError as name:
                self.expect(False, source, "there is no constant %s" % name)
                continue
            self.expectNumber(page, pattern, value, "%s of %s" % (expression, source))

    def checkCounts(self):
        for page, pattern, tests in COUNTS if self.tests is not None else []:
            value = sum(re.fullmatch(tests, test) is not None for test in self.tests)
            self.expectNumber(page, pattern, value, "the number of tests " + tests)

    def checkOccurrences(self):
        for page, pattern, files, what in OCCURRENCES:
            sources = [text for name, text in self.text.items() if re.fullmatch(files, name)]
            value = sum(len(re.findall(what, text)) for text in sources)
            self.expectNumber(page, pattern, value, "the number of " + what)

    # Functions with the file behind them: `f()` (`path`).

    def checkFunctionsInProse(self):
        for page in self.pages:
            for function, path in IN_FILE.findall(self.text[page]):
                stem = path.rsplit(".", 1)[0]
                self.expect(function in self.words.get(stem, ()), page, "%s has no %s()" % (path, function))

    # Members of classes, beside files.

    def readCode(self):
        self.words = {}  # of a header and the sources of its name, by the path without its ending
        self.types = set()
        for name in self.files:
            if name.startswith(("src/", "include/")):
                code = re.sub(r"//.*", "", self.text[name])
                self.words.setdefault(name.rsplit(".", 1)[0], set()).update(re.findall(r"\w+", code))
                self.types.update(TYPE.findall(code))
        self.allWords = set().union(*self.words.values())

    def checkMembers(self):
        words, types = self.words, self.types
        for page in ("docs/architecture.md", "docs/glossary.md", "docs/scheduler.md"):
            for number, line in enumerate(self.text[page].split("\n"), 1):
                named = [name for path in PATH.findall(line) for name in self.find(path, "")]
                stems = {name.rsplit(".", 1)[0] for name in named}
                # Where no file stands beside it, a member may be anywhere.
                places = line.startswith("|") and stems & words.keys() or words.keys()
                for owner, member in MEMBER.findall(line):
                    holds = owner in types and any({owner, member} <= words[stem] for stem in places)
                    self.expect(holds, "%s:%d" % (page, number),
                                "no source that is named there has %s::%s" % (owner, member))
                isRow = line.startswith("|") and re.search(r"`(src|include)/", line) and stems & words.keys()
                for name in NAME.findall(line.split("|", 2)[-1]) if isRow else []:
                    self.expect(any(name in words[stem] for stem in places), "%s:%d" % (page, number),
                                "no source that is named there has %s" % name)

    # Names in the comments of sources, but for those of examples, which are indented.

    def checkNamesInComments(self):
        for name in self.files:
            for number, line in enumerate(self.text[name].split("\n"), 1):
                comment = re.search(r"//(?!   ) ?(.*)", line)
                if not comment or not name.startswith(("src/", "include/")):
                    continue
                place = "%s:%d" % (name, number)
                for owner, member in re.findall(r"\b([A-Z]\w+)::(\w+)", comment.group(1)):
                    isThere = any({owner, member} <= each for each in self.words.values())
                    holds = owner not in self.types or isThere
                    self.expect(holds, place, "there is no %s::%s" % (owner, member))
                for constant, other in NAMED.findall(comment.group(1)):
                    word = constant or other
                    self.expect(word in self.allWords, place, "there is no %s" % word)

    # The list of examples.

    def checkExamples(self):
        page = "examples/README.md"
        for name in sorted({name.split("/")[1] for name in self.files if re.match(r"examples/.*\.cpp$", name)}):
            self.expect("](%s)" % name in self.text[page], page, "does not list " + name)

    # The page for programs that write programs.

    def wordsOfHeader(self, header):
        """Those of a public header's code, and of the parts that it includes."""
        path = "include/weft/" + header
        parts = [name for name in self.files if name.startswith(path[:-len(".h")] + "/")]
        return set().union(*(self.words.get(part[:-len(".h")], set()) for part in [path] + parts))

    def checkLlms(self):
        lines = self.text[LLMS].splitlines()
        self.expect(len(lines) <= 160, LLMS, "has %d lines, more than 160" % len(lines))
        for header in re.findall(r"(?:#include <|`)weft/([\w/]+\.h)", self.text[LLMS]):
            self.expect("include/weft/" + header in self.files, LLMS, "there is no header weft/%s" % header)
        page = re.sub(r"^```.*?^```$", "", self.text[LLMS], flags=re.M | re.S)
        rules, listed = re.search(r"^## Rules.*?\n(.*)^## Headers\n(.*?)^## ", page, re.M | re.S).groups()
        named = set()
        for item in re.split(r"^- ", listed, flags=re.M)[1:]:
            item = " ".join(item.split())
            headers, calls = re.match(r"((?:`[\w/]+\.h` ?)+)(.*)", item).groups()
            headers = re.findall(r"`([\w/]+\.h)`", headers)
            named.update(headers)
            words = set().union(*(self.wordsOfHeader(header) for header in headers))
            self.checkNamesOfLlms(calls, words | PLACEHOLDERS, " ".join(headers))
        for name in self.files:
            header = re.fullmatch(r"include/weft/(\w+\.h)", name)
            self.expect(not header or header[1] in named | UNLISTED, LLMS, "does not list " + name)
        self.checkNamesOfLlms(rules, self.allWords | PLACEHOLDERS, "include")

    def checkNamesOfLlms(self, text, words, where):
        for code in re.findall(r"`([^`]+)`", text):
            code = re.sub(r"std::\w+|-[\w-]+|\bWEFT_\w+=\w+|weft: fatal", "", code)
            for word in re.findall(r"[A-Za-z_]\w*", code):
                self.expect(word in words, LLMS, "names %s, which is not in %s" % (word, where))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--tests", type=pathlib.Path, metavar="BUILD")
    arguments = parser.parse_args()
    facts = Facts(arguments.root, arguments.tests)
    facts.checkPaths()
    facts.checkCommands()
    facts.checkNumbers()
    facts.checkCounts()
    facts.checkOccurrences()
    facts.readCode()
    facts.checkFunctionsInProse()
    facts.checkMembers()
    facts.checkNamesInComments()
    facts.checkExamples()
    facts.checkLlms()
    print("%d facts of documents and comments" % facts.count)
    return 1 if facts.wrong or not facts.count else 0


if __name__ == "__main__":
    sys.exit(main())
