# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""The command `weft` for gdb: docs/howto/gdb.md. Load it by `source PATH/weft-gdb.py`."""

import os
import re
import sys
import time

import gdb
import gdb.printing
import gdb.unwinder
from gdb.FrameDecorator import FrameDecorator

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import weft_common  # noqa: E402

sys.path.pop(0)

NOTE_SECTION = re.compile(r"^\s*(0x[0-9a-f]+) - (0x[0-9a-f]+) is \.note\.weft(?: in .*)?$", re.M)


class GdbTarget(weft_common.Target):
    def __init__(self):
        self.inferior = gdb.selected_inferior()
        if not self.inferior.threads():
            raise weft_common.Error("there is no process and no core file")

    def read(self, address, size):
        try:
            return bytes(self.inferior.read_memory(address, size))
        except gdb.error as error:
            raise weft_common.Error(str(error)) from None

    def notes(self):
        # gdb tells by this alone where the sections of files lie, also of stripped ones.
        for begin, end in NOTE_SECTION.findall(gdb.execute("info files", to_string=True)):
            yield int(begin, 16), int(end, 16) - int(begin, 16)

    def symbol(self, address):
        text = gdb.execute("info symbol %#x" % address, to_string=True)
        return "" if text.startswith("No symbol") else re.sub(r"( \+ \d+)? in section .*\n$", "", text)

    def now(self):
        connection = self.inferior.connection
        # A process of this machine: its clock is this one.
        return time.monotonic_ns() if connection is not None and connection.type == "native" else None

    def thread(self, thread_id):
        for thread in self.inferior.threads():
            if thread.ptid[1] == thread_id:
                return thread.num
        return None


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class Choice:
    """A fiber whose frames stand in place of those of a thread."""

    def __init__(self, name, registers):
        self.name, self.registers = name, registers
        self.thread = gdb.selected_thread().ptid
        newest = gdb.newest_frame()
        self.sp, self.pc = int(newest.read_register("rsp")), newest.pc()

    def is_innermost(self, frame):
        """Whether a frame of the selected thread is the one above which the fiber's frames are shown."""
        return (
            gdb.selected_thread().ptid == self.thread
            and int(frame.read_register("rip")) == self.pc
            and int(frame.read_register("rsp")) == self.sp
        )


class FiberUnwinder(gdb.unwinder.Unwinder):
    """Says that a fiber has called the innermost frame of a thread. Writes no register."""

    def __init__(self):
        super().__init__("weft")
        self.choice = None

    def choose(self, choice):
        self.choice = choice
        fiber_filter.enabled = choice is not None
        gdb.invalidate_cached_frames()

    def __call__(self, pending):
        choice = self.choice
        if choice is None or not choice.is_innermost(pending):
            return None
        # The frame belongs to the fiber's stack: gdb refuses stacks that go backwards.
        sp, pc = pending.read_register("rsp"), pending.read_register("rip")
        below = gdb.Value(choice.registers["rsp"] - 64).cast(sp.type)
        info = pending.create_unwind_info(FrameId(below, pc))
        for name, value in choice.registers.items():
            info.add_saved_register(name, gdb.Value(value).cast(pending.read_register(name).type))
        return info


class FiberFrame(FrameDecorator):
    """A frame with its name as in backtraces without filters: without the types of the arguments."""

    def function(self):
        return self.inferior_frame().name() or "??"


class FiberFilter:
    """Leaves the thread's own frame out of the fiber's backtrace."""

    def __init__(self):
        self.name, self.priority, self.enabled = "weft", 1000, False

    def filter(self, frames):
        for frame in frames:
            choice = unwinder.choice
            is_chosen = choice is not None and gdb.selected_thread().ptid == choice.thread
            if not is_chosen or frame.inferior_frame().level() != 0:
                yield FiberFrame(frame)


def select_innermost_of_fiber():
    frame = gdb.newest_frame().older()
    if frame is None:
        raise weft_common.Error("no frame of the fiber can be read")
    frame.select()


class Command(gdb.Command):
    """A command whose errors are gdb's. Its class says what it prints: `lines`."""

    def __init__(self, name):
        super().__init__(name, gdb.COMMAND_STACK)

    def invoke(self, argument, _):
        try:
            self.run(gdb.string_to_argv(argument))
        except weft_common.Error as error:
            raise gdb.GdbError("weft: %s" % error) from None

    def run(self, arguments):
        if arguments:
            raise weft_common.Error("this command takes no arguments")
        print("\n".join(self.lines(weft_common.Snapshot(GdbTarget()))))


class Weft(gdb.Command):
    """Commands for the fibers of weft."""

    def __init__(self):
        super().__init__("weft", gdb.COMMAND_STACK, prefix=True)


class Fibers(Command):
    """List the fibers: weft fibers [all]

    One line a fiber: WORKER:NUMBER (in place of a worker's number, that of a bound thread), what it does,
    since when, what it waits for, its task. More than 50 fibers are listed in groups, without `all`."""

    def run(self, arguments):
        if arguments not in ([], ["all"]):
            raise weft_common.Error("usage: weft fibers [all]")
        print("\n".join(weft_common.fibers(weft_common.Snapshot(GdbTarget()), bool(arguments))))


class Workers(Command):
    """List the workers, their threads, and what they run: weft workers"""

    def lines(self, snapshot):
        return weft_common.workers(snapshot)


class Queues(Command):
    """List how much the workers have to do: weft queues"""

    def lines(self, snapshot):
        return weft_common.queues(snapshot)


def show(text):
    """Makes the fiber's frames those of the selected thread."""
    unwinder.choose(None)
    snapshot = weft_common.Snapshot(GdbTarget())
    fiber = snapshot.find(text)
    registers = weft_common.saved_registers(snapshot, fiber)
    print(weft_common.headline(snapshot, fiber))
    unwinder.choose(Choice(fiber.name, registers))


class Backtrace(Command):
    """Print the backtrace of a fiber: weft bt FIBER [ARGUMENTS OF bt]

    FIBER is its number, WORKER:NUMBER, or the address of its control block."""

    def run(self, arguments):
        if not arguments:
            raise weft_common.Error("usage: weft bt FIBER [ARGUMENTS OF bt]")
        before = unwinder.choice
        level = gdb.selected_frame().level()
        try:
            show(arguments[0])
            gdb.execute(" ".join(["bt", *arguments[1:]]))
        finally:
            unwinder.choose(before)
            if level:
                gdb.execute("frame level %d" % level, to_string=True)


class Switch(Command):
    """Look at a fiber: weft switch [FIBER]

    From now on `bt`, `frame`, `up` and `info locals` show that fiber in place of the selected thread. Its
    frames begin with #1; #0 is still the thread's. Without a fiber, or when the process goes on, they show
    the thread again."""

    def run(self, arguments):
        if len(arguments) > 1:
            raise weft_common.Error("usage: weft switch [FIBER]")
        if arguments:
            show(arguments[0])
            select_innermost_of_fiber()
        else:
            unwinder.choose(None)
        gdb.execute("frame")


fiber_filter = FiberFilter()
unwinder = FiberUnwinder()
gdb.unwinder.register_unwinder(None, unwinder, replace=True)
gdb.frame_filters[fiber_filter.name] = fiber_filter
gdb.events.cont.connect(lambda _: unwinder.choose(None) if unwinder.choice else None)
Weft()
Fibers("weft fibers")
Workers("weft workers")
Queues("weft queues")
Backtrace("weft bt")
Switch("weft switch")


# Pretty-printers. Unlike the commands they need debug information.


def bare(value):
    """Returns: the number or pointer in a std::atomic, of libstdc++ or libc++."""
    while value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        for member in ("_M_i", "_M_b", "_M_p", "__a_", "__a_value", "value_"):
            try:
                value = value[member]
                break
            except gdb.error:
                continue
        else:
            raise gdb.error("no std::atomic that is known")
    return value


def num_waiters(wait_list):
    count, waiter = 0, wait_list["first_"]
    while int(waiter) and count < 1000000:
        count, waiter = count + 1, waiter["next"]
    return count


def waiters(count):
    return ", %s" % weft_common.counted(count, "waiter") if count else ""


def state_of(handle):
    """Returns: what the handle refers to, or None if it was moved from."""
    state = handle["state_"]["state_"]
    symbol = gdb.execute("info symbol %#x" % int(state), to_string=True)
    return None if "::movedFrom" in symbol else state.dereference()


class Printer:
    """Prints a value as one line: text(value)."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        try:
            return self.text(self.value)
        except gdb.error as error:
            return "<%s>" % error


class TaskPrinter(Printer):
    def text(self, value):
        node = value["node_"]
        if not int(node):
            return "an empty Task"
        name = GdbTarget().symbol(int(node["invoke"]))
        return "Task %s" % (weft_common.shorten(name) or "%#x" % int(node["invoke"]))


class EventPrinter(Printer):
    def text(self, value):
        state = state_of(value)
        if state is None:
            return "an Event that was moved from"
        word = state["core"]["word_"]
        bits = int(bare(word["bits"]))
        count = 1 if bits > 7 else num_waiters(word["list"])
        is_signalled = bits <= 7 and bits & 4
        return "Event %s%s" % ("signalled" if is_signalled else "not signalled", waiters(count))


class WaitGroupPrinter(Printer):
    def text(self, value):
        state = state_of(value)
        if state is None:
            return "a WaitGroup that was moved from"
        core = state["core"]
        count = num_waiters(core["word_"]["list"]) + (1 if int(bare(core["first_"])) else 0)
        return "WaitGroup at %d%s" % (int(bare(core["word_"]["bits"])) // 4, waiters(count))


class MutexPrinter(Printer):
    def text(self, value):
        word = value["core_"]["word_"]
        count = waiters(num_waiters(word["list"]))
        owner = int(bare(value["owner_"]))
        if not int(bare(word["bits"])) & 4:
            return "mutex, free" + count
        try:
            snapshot = weft_common.Snapshot(GdbTarget())
            found = snapshot.at_scope(owner)
            who = "fiber %s, task %s" % (found.name, snapshot.task_name(found)) if found else "another thread"
        except weft_common.Error:
            who = "%#x" % owner
        return "mutex, held by %s%s" % (who, count)


class ChannelPrinter(Printer):
    def text(self, value):
        state = state_of(value)
        if state is None:
            return "a Channel that was moved from"
        tail, head = int(bare(state["tail_"]["word_"])), int(bare(state["head_"]["word_"]))
        text = "Channel with %d of %d" % (max(tail // 8 - head // 8, 0), int(state["capacity_"]))
        text += ", closed" if tail & 4 else ""
        for name in ("sender", "receiver"):
            count = num_waiters(state[name + "s_"])
            if count:
                text += ", %s wait%s" % (weft_common.counted(count, name), "s" if count == 1 else "")
        return text


class FuturePrinter(Printer):
    def text(self, value):
        name = "SharedFuture" if "::SharedFuture<" in value.type.strip_typedefs().name else "Future"
        state = value["core_"]["state_"]
        if not int(state):
            return "a %s without a state" % name
        word = int(bare(state["word"]["word_"]))
        if not word & 1:
            return "%s, not ready" % name
        result = value.type.strip_typedefs().template_argument(0)
        whole = gdb.lookup_type("weft::v0_1::detail::FutureState<%s>" % result)
        outcome = state.cast(whole.pointer())["outcome"]
        if int(bare(outcome["exception_"]["exception_"]["_M_exception_object"])):
            return "%s, ready with an exception" % name
        return "%s, ready%s" % (name, self.result(outcome, result))

    @staticmethod
    def result(outcome, result):
        """Returns: the value, if it is one of libstdc++'s std::optional."""
        if result.strip_typedefs().code == gdb.TYPE_CODE_VOID:
            return ""
        try:
            kept = outcome["result_"]["kept_"]["_M_payload"]["_M_payload"]["_M_value"]
            return " with %s" % kept.format_string()
        except gdb.error:
            return ""


PRINTERS = (
    (re.compile(r"^weft::v0_1::Task$"), TaskPrinter),
    (re.compile(r"^weft::v0_1::Event$"), EventPrinter),
    (re.compile(r"^weft::v0_1::WaitGroup$"), WaitGroupPrinter),
    (re.compile(r"^weft::v0_1::mutex$"), MutexPrinter),
    (re.compile(r"^weft::v0_1::Channel<.*>$"), ChannelPrinter),
    (re.compile(r"^weft::v0_1::(Shared)?Future<.*>$"), FuturePrinter),
)


class Printers:
    def __init__(self):
        self.name, self.enabled, self.subprinters = "weft", True, None

    def __call__(self, value):
        name = value.type.strip_typedefs().name or ""
        for pattern, printer in PRINTERS:
            if pattern.match(name):
                return printer(value)
        return None


gdb.printing.register_pretty_printer(None, Printers(), replace=True)
