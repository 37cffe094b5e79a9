#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Puts small bugs into weft's lock-free headers, one at a time, and lists those that no test finds.

    mutants.py [--jobs N] [--work FOLDER] [--only orders|text] [HEADER...]     builds and runs
    mutants.py --list [HEADER...]                                              prints the mutants, and checks explained.txt

HEADER is a file below include/weft/detail, such as park/parker.h; without any, all of PROGRAMS.

Orders: each numbered note of a header, with its order weakened, its fence left out, its read-modify-write split, by the option
--seed of the models (tests/model/explore.h). Text: a condition is true or false, a comparison or a number is another, && is ||,
a call or an assignment is left out. All mutants of text are compiled into one copy of the sources, and the environment variable
WEFT_MUTANT chooses one at run time; so the whole is built once.

A mutant is killed if a model or a unit test of the header fails, crashes or does not end; the quickest runs first. One that survives
must stand in explained.txt with the reason; one that stands there and is killed, or is no more, must go. Exits 1 otherwise. FOLDER
(build/mutants) remembers what was killed until the header changes, and what survived until the header or a test of it changes.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
DETAIL = "include/weft/detail/"
EXPLAINED = pathlib.Path(__file__).with_name("explained.txt")

# The unit tests of each header. Its models are found by their includes.
PROGRAMS = {
    "park/parker.h": "parker_test",
    "park/permit.h": "fiber_test waiter_test",
    "park/idle.h": "idle_test",
    "park/quiescence.h": "shutdown_test",
    "queue/inbox.h": "inbox_test",
    "queue/queue_segment.h": "segmented_queue_test",
    "queue/segmented_queue.h": "segmented_queue_test",
    "queue/segmented_queue_consumer.h": "segmented_queue_test fair_order_test",
    "queue/steal_gate.h": "stealing_deque_test join_test",
    "queue/stealing_deque.h": "stealing_deque_test",
    "wait/barrier_phase.h": "barrier_test",
    "wait/condition_core.h": "conditionvariable_test",
    "wait/rundown_protection.h": "shutdown_test",
    "wait/event_core.h": "event_test select_test",
    "wait/latch_core.h": "latch_test",
    "wait/mutex_core.h": "mutex_core_test mutex_test recursivemutex_test",
    "wait/once_core.h": "once_test",
    "wait/select_node.h": "select_test",
    "wait/semaphore_core.h": "semaphore_test select_semaphore_test",
    "wait/shared_lock.h": "shared_lock_test sharedmutex_test",
    "wait/shared_word.h": "shared_lock_test sharedmutex_test",
    "wait/wait_group_core.h": "waitgroup_test",
    "wait/wait_word.h": "event_test waitgroup_test latch_test",
    "channel/core.h": "channel_core_test channel_test select_test",
    "channel/select_core.h": "select_test select_semaphore_test",
    "channel/side.h": "channel_core_test channel_test",
    "forkjoin/completion.h": "join_test",
    "forkjoin/group_count.h": "taskgroup_test",
    "forkjoin/ticket_node.h": "ticket_test",
    "fair/dispatcher_lock.h": "dispatcher_lock_test fair_task_scheduler_test",
    "fair/state.h": "fair_state_test fair_wakeup_test",
    "future/word.h": "future_word_test future_test continuation_test",
}

# ---------------------------------------------------------------------------------------------------- the mutants

# What is there for speed or for messages alone.
IDLE_CALL = re.compile(r"prefetch|\bpause\(|\brelax\(|\bbackOff\(|\bassert|trace|fatal|static_cast<void>|WEFT_")
NOT_A_STATEMENT = re.compile(r"(return|throw|using|typedef|friend|template|static_assert|static|constexpr|public|private|else|do|"
                             r"goto|break|continue|delete|while|if|for|switch|case|default)\b")
SWAPS = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&"}
OPERATOR = re.compile(r"(?<=\s)(==|!=|<=|>=|<|>|&&|\|\|)(?=\s)|(?<=[\w\])] )([+-] 1)(?!\w)|\bfetch_(add|sub)\(|\b(true|false)\b")


class Mutant:
    def __init__(self, header, line, code, change):
        self.header, self.line, self.code, self.change = header, line, code, change
        self.name = f"{header}: {code} => {change}"
        self.number = 0


def blank(text):
    """Returns: the text with comments, literals and directives as spaces, so that each place stays where it is."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^[ \t]*#[^\n]*', re.S | re.M)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def closing(code, at):
    """Returns: the place of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] in "([{") - (code[i] in ")]}")
        if depth == 0:
            return i
    raise ValueError("a bracket is not closed")


def split(code, begin, end):
    """Returns: the parts of [begin, end) between semicolons, as pairs of places."""
    parts, depth = [begin], 0
    for i in range(begin, end):
        depth += (code[i] in "([{") - (code[i] in ")]}")
        if code[i] == ";" and depth == 0:
            parts.append(i + 1)
    return [(a, b - 1) for a, b in zip(parts, parts[1:])] + [(parts[-1], end)]


class Source:
    """A header, its mutants, and what to insert into it so that one can be chosen."""

    def __init__(self, header):
        self.header = header
        self.text = (ROOT / DETAIL / header).read_text(encoding="utf-8")
        self.code = blank(self.text)
        self.mutants, self.numSame = [], collections.Counter()
        self.sites = []  # (begin, text before with the marks @0@, @1@, ... for its mutants, end, text after, mutants)
        self.scan()

    def flat(self, begin, end):
        # Comments go; literals stay.
        kept = re.sub(r"//[^\n]*", "", self.text[begin:end])
        return " ".join(kept.split())

    def add(self, begin, code, change):
        line = self.text.count("\n", 0, begin) + 1
        self.numSame[code, change] += 1
        number = self.numSame[code, change]
        self.mutants.append(Mutant(self.header, line, code, change if number == 1 else f"{change}, place {number}"))
        return self.mutants[-1]

    def alternatives(self, begin, end, isCondition):
        """The expression at [begin, end)."""
        while begin < end and self.code[begin].isspace():
            begin += 1
        while end > begin and self.code[end - 1].isspace():
            end -= 1
        if begin == end or "{" in self.code[begin:end]:
            return
        flat = self.flat(begin, end)
        declared = re.match(r"[\w:<>]+ ?\*(?: const)? ?\w+ = ", flat)
        if declared:  # while (T* x = ...)
            begin = self.code.index("=", begin) + 1
            rest = self.flat(begin, end)
            self.site(begin, end, [("nullptr", self.add(begin, flat, "nullptr"))], "")
            return
        variants = []
        if isCondition:
            variants += [(word, self.add(begin, flat, word)) for word in ("true", "false")
                         if flat != word]
        seen = collections.Counter()
        for found in OPERATOR.finditer(flat):
            op = found.group(1) or found.group(2) or found.group(3) or found.group(4)
            if found.group(1):
                other = SWAPS[op]
            elif found.group(2):
                other = op[0] + " 0"
            elif found.group(3):
                other = "sub" if op == "add" else "add"
            else:
                other = "false" if op == "true" else "true"
            seen[op] += 1
            begins = found.start() if not found.group(3) else found.start() + len("fetch_")
            changed = flat[:begins] + other + flat[begins + len(op):]
            count = "" if seen[op] == 1 else f" ({seen[op]})"
            if isCondition and flat == op:
                continue
            variants.append((changed, self.add(begin, flat, f"{op} becomes {other}{count}")))
        if variants:
            self.site(begin, end, variants, "static_cast<bool>" if isCondition else "")

    def site(self, begin, end, variants, cast):
        opened = "".join(f"@{mutant_index}@ ? {cast}({text}) : " for mutant_index, (text, _) in enumerate(variants))
        self.sites.append((begin, f"({opened}{cast}(", end, "))", [mutant for _, mutant in variants]))

    def statement(self, begin, end, hasBlock):
        """The statement at [begin, end), without its semicolon."""
        label = re.match(r"\s*(?:case [^:]+(?:::[^:]+)*|default):(?!:)", self.code[begin:end])
        if label:
            begin += label.end()
        while begin < end and self.code[begin].isspace():
            begin += 1
        code = self.code[begin:end]
        if not code or IDLE_CALL.search(code[:code.find("{")] if hasBlock else code):
            return
        returned = re.match(r"return\b(?!\s*\{)", code)
        if returned:
            if not hasBlock:
                self.alternatives(begin + returned.end(), end, False)
            return
        if NOT_A_STATEMENT.match(code):
            return
        isCall = re.match(r"[^\s()={]+\(", code) or re.match(r"\(\*?[\w.]+\)", code)
        assigned = re.match(r"(\*?[^\s()=]+(?:\([^\s]*\))?[^\s()=]*) [-+|&^]?= ", code)
        if isCall or assigned or re.match(r"(\+\+|--)?[\w.\->\[\]]+(\+\+|--)?$", code):
            mutant = self.add(begin, self.flat(begin, end), "removed")
            self.sites.append((begin, "if (!@0@) { ", end + 1, " }", [mutant]))
        if hasBlock:
            return
        equals = re.search(r"(?<=\s)[-+|&]?=(?=\s)", code)
        if equals and not re.match(r"constexpr|static|using|template", code):
            self.alternatives(begin + equals.end(), end, False)
        elif isCall:
            self.alternatives(begin, end, False)

    def scan(self):
        code = self.code
        stack = [["other", 0, 0, False, 0]]  # kind, begin of the statement, depth of parentheses, has a block, -
        i = 0
        while i < len(code):
            kind, begin, depth, hasBlock, _ = top = stack[-1]
            c = code[i]
            if c in "([":
                top[2] += 1
            elif c in ")]":
                top[2] -= 1
            elif c == "{":
                head = re.sub(r"template <[^;{]*?>\s*(?=\w|\n)", "", code[begin:i]).strip()
                if depth == 0 and re.search(r"\b(struct|class|namespace|union|enum)\b", head) and not re.search(r"\)\s*(const)?$", head):
                    inner = "other"
                elif re.search(r"(\)|\]|\bconst|\bnoexcept|\boverride|\belse|\bdo|\btry|\bmutable|\brequires \w+|\[\[\w+\]\]|-> [\w:*&<> ]+|[;{}])$", head) or head == "":
                    inner = "code"
                else:
                    inner = "init"
                stack.append([inner, i + 1, 0, False, 0])
            elif c == "}":
                ended = stack.pop()
                if ended[0] != "init":
                    stack[-1][3] = True
                    if stack[-1][2] == 0 and not re.match(r"\s*[;,)]", code[i + 1:]):
                        stack[-1][1], stack[-1][3] = i + 1, False
            elif c == ";" and depth == 0:
                if kind == "code":
                    self.statement(begin, i, hasBlock)
                top[1], top[3] = i + 1, False
            elif kind == "code" and c.isalpha() and not (code[i - 1].isalnum() or code[i - 1] == "_"):
                head = re.match(r"(if|while|for) (\()", code[i:])
                if head:
                    opened = i + head.start(2)
                    parts = split(code, opened + 1, closing(code, opened))
                    if head.group(1) != "for":
                        self.alternatives(*parts[-1], True)
                    elif len(parts) == 3:
                        self.alternatives(*parts[1], False)
            i += 1

    def number(self, first):
        for index, mutant in enumerate(self.mutants):
            mutant.number = first + index

    def mutated(self, left_out):
        """Returns: the text with all mutants in it but those of `left_out`."""
        inserts = []
        for begin, before, end, after, mutants in self.sites:
            if any(mutant.name in left_out for mutant in mutants):
                continue
            for index, mutant in enumerate(mutants):
                before = before.replace(f"@{index}@", f"weftMutant({mutant.number})")
            inserts.append((begin, 1, before))
            inserts.append((end, 0, after))
        pieces, at = [], 0
        for place, _, text in sorted(inserts, key=lambda insert: insert[:2]):
            pieces += [self.text[at:place], text]
            at = place
        text = "".join(pieces) + self.text[at:]
        return text.replace("#pragma once\n\n", '#pragma once\n#include "weft_mutant.h"\n', 1)


CHOICE = """#pragma once
#include <cstdlib>
#include <type_traits>
inline const int weftMutantChosen = std::getenv("WEFT_MUTANT") ? std::atoi(std::getenv("WEFT_MUTANT")) : 0;
constexpr bool weftMutant(int number) { return !std::is_constant_evaluated() && weftMutantChosen == number; }
"""


def orders(header):
    """Returns: the mutants of the notes."""
    lines = (ROOT / DETAIL / header).read_text(encoding="utf-8").split("\n")
    mutants = []
    for at, line in enumerate(lines):
        note = re.search(r"// \((\d+)\)", line)
        if not note:
            continue
        statement = ""
        for later in lines[at:]:
            code = later.split("//")[0].rstrip()
            statement += code + " "
            if code.endswith((";", "{", "}")):
                break
        kinds = ["relaxed"] if re.search(r"memory_order_(?!relaxed)|lightFence|heavyFence", statement) else []
        if "seq_cst" in statement:
            kinds.append("acq_rel")
        if re.search(r"memory_order_(acq_rel|seq_cst)", statement) and re.search(r"xchange|fetch|fence", statement):
            kinds += ["acquire", "release"]
        if re.search(r"\b(exchange|fetch_\w+|compare_exchange_\w+)\(", statement):
            kinds.append("split")
        mutants += [Mutant(header, at + 1, f"({note.group(1)})", kind) for kind in kinds]
    return mutants


# ------------------------------------------------------------------------------------------------ building and running

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)


def models():
    """Returns: for each header the models that include it, those that name it first."""
    reached = {}

    def includes(path):
        if path not in reached:
            reached[path] = {}
            for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
                for found in (path.parent / name, ROOT / "include" / name):
                    if found.is_file():
                        reached[path][found] = 1
                        for further, distance in includes(found).items():
                            reached[path][further] = min(distance + 1, reached[path].get(further, 99))
                        break
        return reached[path]

    result = collections.defaultdict(list)
    for model in sorted((ROOT / "tests/model").glob("*_model.cpp")):
        for header, distance in includes(model).items():
            name = str(header.relative_to(ROOT))
            if name.startswith(DETAIL):
                isOwn = header.stem.split("_")[0] == model.stem.split("_")[0]
                result[name[len(DETAIL):]].append((distance - 9 * isOwn, model.stem))
    return {header: [model for _, model in sorted(found)] for header, found in result.items()}


def write(path, text):
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def goes_on(pid):
    """Returns: whether a thread of the process runs, or would if there were a processor for it."""
    for _ in range(20):
        for stat in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"):
            try:
                if stat.read_text(encoding="ascii").rsplit(")", 1)[1].split()[0] == "R":
                    return True
            except OSError:
                pass  # it has ended
        time.sleep(0.05)
    return False


class Build:
    def __init__(self, work, jobs):
        self.work, self.jobs = work, jobs
        self.tree, self.folder = work / "tree", work / "build"
        self.usual = {}

    def prepare(self, sources, programs):
        """Builds the programs. Returns: the names of the mutants that do not compile."""
        for name in subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                                   capture_output=True, text=True).stdout.split():
            isMutated = name.startswith(DETAIL) and name[len(DETAIL):] in sources
            if not isMutated and (ROOT / name).is_file() and not name.endswith((".png", ".svg")):
                write(self.tree / name, (ROOT / name).read_text(encoding="utf-8", errors="replace"))
        write(self.tree / "include/weft_mutant.h", CHOICE)
        left_out_file = self.work / "uncompiled.json"
        left_out = set(json.loads(left_out_file.read_text())) if left_out_file.is_file() else set()
        left_out &= {mutant.name for source in sources.values() for mutant in source.mutants}
        for _ in range(30):
            for header, source in sources.items():
                write(self.tree / DETAIL / header, source.mutated(left_out))
            if not (self.folder / "build.ninja").is_file():
                subprocess.run(["cmake", "-S", self.tree, "-B", self.folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None",
                                "-DCMAKE_CXX_FLAGS=-O1 -w", "-DWEFT_BUILD_EXAMPLES=OFF", "-DWEFT_BUILD_BENCHMARKS=OFF",
                                "-DWEFT_TEST_PARTS=units;models", *os.environ.get("WEFT_MUTANTS_CMAKE", "").split()], check=True)
            made = subprocess.run(["ninja", "-C", self.folder, "-k0", f"-j{self.jobs}", *programs], text=True, capture_output=True)
            if made.returncode == 0:
                left_out_file.write_text(json.dumps(sorted(left_out)))
                return left_out
            places = {(header, int(line)) for header, line in re.findall(DETAIL + r"([\w/]+\.h):(\d+):", made.stdout)}
            errors = {(header, int(line)) for header, line in re.findall(DETAIL + r"([\w/]+\.h):(\d+):\d+: (?:fatal )?error", made.stdout)}
            wrong = set()
            for chosen in (errors, places):
                for source in sources.values():
                    for begin, _, end, _, mutants in source.sites:
                        lines = range(source.text.count("\n", 0, begin) + 1, source.text.count("\n", 0, end) + 2)
                        if any((source.header, line) in chosen for line in lines):
                            wrong |= {mutant.name for mutant in mutants}
                wrong -= left_out
                if wrong:
                    break
            if not wrong:
                sys.exit("the copy does not compile:\n" + made.stdout[-4000:])
            print(f"{len(wrong)} mutants do not compile", flush=True)
            left_out |= wrong
        sys.exit("the copy does not compile, whichever mutants are left out")

    def program(self, name):
        return self.folder / "tests" / ("model" if name.endswith("_model") else "") / name

    def run(self, name, arguments=(), mutant=0, limits=None):
        """Returns: "passed", "failed", "crashed" or "hung", and the seconds of processor time and of the clock."""
        cpu, clock = limits or (600, 600)

        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (int(cpu) + 1, int(cpu) + 2))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if name.endswith("_model"):
                resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
            with open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
                score.write("1000")

        began, used = time.monotonic(), 0
        with subprocess.Popen([self.program(name), *arguments], cwd=self.tree, env={**os.environ, "WEFT_MUTANT": str(mutant)},
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limit,
                              start_new_session=True) as process:
            try:
                # wait4 rather than wait, for the processor time
                while True:
                    pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                    if pid:
                        process.returncode = os.waitstatus_to_exitcode(status)
                        used = usage.ru_utime + usage.ru_stime
                        break
                    passed = time.monotonic() - began
                    if passed > clock and goes_on(process.pid):
                        clock += 10  # on a machine that has much else to do; the processor time is limited, too
                    elif passed > clock:
                        raise subprocess.TimeoutExpired(name, clock)
                    time.sleep(0.01)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return "hung", 0, clock
            finally:
                try:
                    os.killpg(process.pid, signal.SIGKILL)  # children of death tests
                except ProcessLookupError:
                    pass
        code = process.returncode
        result = "passed" if code == 0 else "hung" if code in (-signal.SIGXCPU, -signal.SIGKILL) else "crashed" if code < 0 else "failed"
        return result, used, time.monotonic() - began

    def measure(self, name):
        """How long the program takes without a mutant; it must pass. A result is remembered as long as the program is the same."""
        arguments = LONG if name.endswith("_model") else ()
        file = self.work / "usual" / (name + "".join(arguments) + ".json")
        built = self.program(name).stat().st_mtime
        if file.is_file() and json.loads(file.read_text())[0] == built:
            self.usual[name] = json.loads(file.read_text())[1:]
            return
        result, cpu, clock = self.run(name, arguments)
        if result != "passed":
            raise RuntimeError(f"{name} {' '.join(arguments)}: {result} without a mutant")
        self.usual[name] = (5 + 4 * cpu, 20 + 10 * clock)
        write(file, json.dumps([built, *self.usual[name]]))


QUICK, LONG = ("--iterations", "5000"), ("--iterations", "60000")


def judge(build, mutant, modelNames, unitNames):
    """Returns: who kills the mutant, and how; or None."""
    seed = ("--seed", str(ROOT / DETAIL / mutant.header) + f":{mutant.code.strip('()')}:{mutant.change}") if mutant.number == 0 else ()

    def limits(name, arguments):
        cpu, clock = build.usual[name]
        return (5 + (cpu - 5) / 6, 20 + (clock - 20) / 6) if arguments == QUICK else (cpu, clock)

    # Most are found at once, by one program or another: so those that take the least time come first.
    steps = [(name, QUICK) for name in modelNames]
    if not seed:
        steps += [(name, ()) for name in unitNames]
    steps.sort(key=lambda step: limits(*step))
    steps += [(name, LONG) for name in modelNames[:1]]
    for name, arguments in steps:
        result, _, _ = build.run(name, (*arguments, *seed), mutant.number, limits(name, arguments))
        if result != "passed":
            return [name, result]
    return None


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def explanations():
    """Returns: the reason of each survivor, by its name."""
    reasons, names = {}, []
    if not EXPLAINED.is_file():
        return reasons
    isReason = True
    for line in EXPLAINED.read_text(encoding="utf-8").split("\n"):
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            if isReason:
                names, isReason = [], False
            names.append(line.strip())
            reasons[line.strip()] = ""
        else:
            isReason = True
            for name in names:
                reasons[name] = (reasons[name] + " " + line.strip()).strip()
    return reasons


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/mutants")
    parser.add_argument("--only", choices=("orders", "text"))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("headers", nargs="*")
    options = parser.parse_args()
    headers = [header.removeprefix(DETAIL) for header in options.headers] or list(PROGRAMS)
    for header in headers:
        if header not in PROGRAMS:
            sys.exit(f"{header}: not in PROGRAMS of mutants.py")

    # All headers are in the copy, so that it stays as it is from one choice of headers to the next.
    sources = {header: Source(header) for header in PROGRAMS}
    for index, source in enumerate(sources.values()):
        source.number(1 + 1000 * index)
    mutants = [mutant for header in headers
               for mutant in (orders(header) if options.only != "text" else [])
               + (sources[header].mutants if options.only != "orders" else [])]
    reasons = explanations()
    known = {mutant.name for header in PROGRAMS for mutant in orders(header) + sources[header].mutants}
    problems = [f"explained.txt: there is no such mutant: {name}" for name in reasons if name not in known]
    problems += [f"explained.txt: no reason: {name}" for name, reason in reasons.items() if not reason]
    if options.list:
        for mutant in mutants:
            print(f"{mutant.header}:{mutant.line}: {mutant.number} {mutant.code} => {mutant.change}")
        print(f"{len(mutants)} mutants, {len(reasons)} explained")
        print("\n".join(problems))
        return 1 if problems else 0

    covering = models()
    options.work.mkdir(parents=True, exist_ok=True)
    build = Build(options.work.resolve(), options.jobs)
    units = {header: PROGRAMS[header].split() for header in headers}
    programs = sorted({name for header in headers for name in covering.get(header, []) + units[header]})
    uncompiled = build.prepare(sources, programs)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(build.measure, programs))

    results_file = options.work / "results.json"
    results = json.loads(results_file.read_text()) if results_file.is_file() else {}
    texts = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.cpp")}
    stamp = {header: digest(sources[header].text) for header in headers}
    survival = {header: stamp[header] + digest("".join(texts[name] for name in covering.get(header, []) + units[header]))
                for header in headers}
    outcome, todo = {}, []
    for mutant in mutants:
        old = results.get(mutant.name)
        if mutant.name in uncompiled:
            outcome[mutant.name] = ["", "uncompiled"]
        elif old and old[0] in (stamp[mutant.header], survival[mutant.header]):
            outcome[mutant.name] = old[1:]
        else:
            todo.append(mutant)
    print(f"{len(mutants)} mutants, {len(todo)} to run", flush=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = {pool.submit(judge, build, mutant, covering.get(mutant.header, []), units[mutant.header]): mutant for mutant in todo}
        for future in concurrent.futures.as_completed(futures):
            mutant, killer = futures[future], future.result()
            outcome[mutant.name] = killer or ["", "survived"]
            results[mutant.name] = [(stamp if killer else survival)[mutant.header], *outcome[mutant.name]]
            results_file.write_text(json.dumps(results, indent=0))
            if not killer:
                print(f"{DETAIL}{mutant.header}:{mutant.line}: survived: {mutant.name}", flush=True)

    return report(headers, mutants, outcome, reasons, problems)


def report(headers, mutants, outcome, reasons, problems):
    columns = ["mutants", "by a model", "by a unit test", "does not end", "does not compile", "survived"]
    print("\n| file | " + " | ".join(columns) + " |\n|---" * 1 + "|---" * len(columns) + "|")
    sums = collections.Counter()
    for header in headers:
        counts = collections.Counter()
        for mutant in (mutant for mutant in mutants if mutant.header == header):
            killer, how = outcome[mutant.name]
            counts["mutants"] += 1
            if how in ("survived", "uncompiled"):
                counts["survived" if how == "survived" else "does not compile"] += 1
            else:
                counts["does not end" if how == "hung" else "by a model" if killer.endswith("_model") else "by a unit test"] += 1
        sums += counts
        print(f"| `{header}` | " + " | ".join(str(counts[column]) for column in columns) + " |")
    print("| all | " + " | ".join(str(sums[column]) for column in columns) + " |\n")
    for mutant in mutants:
        survived = outcome[mutant.name][1] == "survived"
        if survived and mutant.name not in reasons:
            problems.append(f"{DETAIL}{mutant.header}:{mutant.line}: survived, and is not explained:\n{mutant.name}")
        if not survived and mutant.name in reasons:
            problems.append(f"explained.txt: {outcome[mutant.name]}: {mutant.name}")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
