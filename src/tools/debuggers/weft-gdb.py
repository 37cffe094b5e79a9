# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""The command `weft` for gdb: docs/howto/gdb.md. Load it by `source PATH/weft-gdb.py`."""

import contextlib
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
import weft_objects  # noqa: E402

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

    def architecture(self):
        return self.inferior.architecture().name()


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class Choice:
    """A fiber whose frames stand in place of those of a thread."""

    def __init__(self, name, registers, switch):
        self.name, self.registers, self.switch = name, registers, switch
        self.thread = gdb.selected_thread().ptid
        newest = gdb.newest_frame()
        self.sp, self.pc = int(newest.read_register(switch.sp)), newest.pc()

    def is_innermost(self, frame):
        """Whether a frame of the selected thread is the one above which the fiber's frames are shown."""
        return (
            gdb.selected_thread().ptid == self.thread
            and int(frame.read_register(self.switch.pc)) == self.pc
            and int(frame.read_register(self.switch.sp)) == self.sp
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
        switch = choice.switch
        sp, pc = pending.read_register(switch.sp), pending.read_register(switch.pc)
        below = gdb.Value(choice.registers[switch.sp] - 64).cast(sp.type)
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
    """A command whose errors are gdb's. Its class says what it does: `run`."""

    def __init__(self, name):
        super().__init__(name, gdb.COMMAND_STACK)

    def invoke(self, argument, _):
        try:
            self.run(gdb.string_to_argv(argument))
        except weft_common.Error as error:
            raise gdb.GdbError("weft: %s" % error) from None


class Weft(gdb.Command):
    """Commands for the fibers of weft."""

    def __init__(self):
        super().__init__("weft", gdb.COMMAND_STACK, prefix=True)


class List(Command):
    def __init__(self, name, lines):
        self.__doc__, self.lines = lines.__doc__, lines
        super().__init__(name)

    def run(self, arguments):
        print("\n".join(self.lines(weft_common.Snapshot(GdbTarget()), arguments)))


def show(text):
    """Makes the fiber's frames those of the selected thread."""
    unwinder.choose(None)
    snapshot = weft_common.Snapshot(GdbTarget())
    fiber = snapshot.find(text)
    registers = weft_common.saved_registers(snapshot, fiber)
    print(weft_common.headline(snapshot, fiber))
    unwinder.choose(Choice(fiber.name, registers, weft_common.switch_of(snapshot.target.architecture())))


class Backtrace(Command):
    """Print the backtrace of a fiber: weft bt FIBER [ARGUMENTS OF bt]

    FIBER is its number, WORKER:NUMBER, or the address of its control block."""

    def run(self, arguments):
        if not arguments:
            raise weft_common.Error("usage: weft bt FIBER [ARGUMENTS OF bt]")
        GdbTarget()  # says so where there is no process
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
        GdbTarget()  # says so where there is no process
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
for name, lines in weft_common.LISTS.items():
    List("weft " + name, lines)
Backtrace("weft bt")
Switch("weft switch")


# Pretty-printers. Unlike the commands they need debug information.


@contextlib.contextmanager
def gdb_errors():
    try:
        yield
    except gdb.error as error:
        raise weft_common.Error(str(error)) from None


class GdbValue(weft_objects.Value):
    def __init__(self, value):
        self.value = value

    def __getitem__(self, member):
        with gdb_errors():
            return GdbValue(self.value[member])

    def number(self):
        with gdb_errors():
            return int(self.value)

    def pointee(self, type_name=None):
        with gdb_errors():
            pointer = self.value
            if type_name is not None:
                pointer = pointer.cast(gdb.lookup_type(type_name).pointer())
            return GdbValue(pointer.dereference())

    def is_class(self):
        return self.value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT

    def type_name(self):
        return self.value.type.strip_typedefs().name or ""

    def template_argument(self):
        with gdb_errors():
            return str(self.value.type.strip_typedefs().template_argument(0))

    def text(self):
        with gdb_errors():
            return self.value.format_string()

    def target(self):
        return GdbTarget()


class Printer:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return weft_objects.words(GdbValue(self.value))


class Printers:
    def __init__(self):
        self.name, self.enabled, self.subprinters = "weft", True, None

    def __call__(self, value):
        return Printer(value) if weft_objects.has_words(GdbValue(value).type_name()) else None


gdb.printing.register_pretty_printer(None, Printers(), replace=True)
