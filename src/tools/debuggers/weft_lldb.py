# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""The command `weft` for lldb: docs/howto/gdb.md. Load it by `command script import PATH/weft_lldb.py`."""

import os
import re
import shlex
import sys
import time

import lldb

FOLDER = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, FOLDER)
import weft_common  # noqa: E402
import weft_objects  # noqa: E402

sys.path.pop(0)

PLUGIN = os.path.join(FOLDER, "weft_lldb_fibers.py")
PLUGIN_SETTING = "target.process.python-os-plugin-path"
# At least the bytes between the top of a stack and the stack pointer in weft_fiber_base.
SIZE_OF_BASE = 64
LAMBDA = re.compile(r"'lambda(\d*)'(\([^()]*\))")

# By the addresses of fibers, which are the numbers of their threads.
fiber_names = {}


def like_gdb(name):
    """Returns: a demangled name with lambdas as gdb and the program `weft` write them."""
    return LAMBDA.sub(lambda m: "{lambda%s#%d}" % (m[2], int(m[1]) + 2 if m[1] else 1), name)


class LldbTarget(weft_common.Target):
    def __init__(self, target):
        self.target, self.process = target, target.GetProcess()
        if not self.process or self.process.GetState() != lldb.eStateStopped:
            raise weft_common.Error("there is no stopped process and no core file")

    def read(self, address, size):
        error = lldb.SBError()
        data = self.process.ReadMemory(address, size, error)
        if not error.Success():
            # What a core file leaves out stands in the program's file, if it is constant.
            place = self.target.ResolveLoadAddress(address)
            if place.GetSection():
                error = lldb.SBError()
                data = self.target.ReadMemory(place, size, error)
        if not error.Success():
            raise weft_common.Error(error.GetCString())
        return data

    def notes(self):
        for module in self.target.module_iter():
            section = module.FindSection(".note.weft")
            address = section.GetLoadAddress(self.target) if section else lldb.LLDB_INVALID_ADDRESS
            if address != lldb.LLDB_INVALID_ADDRESS:
                yield address, section.GetByteSize()

    def symbol(self, address):
        symbol = self.target.ResolveLoadAddress(address).GetSymbol()
        # In stripped programs lldb makes names up.
        return like_gdb(symbol.GetName() or "") if symbol and not symbol.IsSynthetic() else ""

    def now(self):
        # A process of this machine: its clock is this one.
        is_live = self.process.GetPluginName() == "gdb-remote"
        is_here = self.target.GetPlatform().GetName() == "host"
        is_here = is_here and os.path.exists("/proc/%d" % self.process.GetProcessID())
        return time.monotonic_ns() if is_live and is_here else None

    def thread(self, thread_id):
        thread = self.process.GetThreadByID(thread_id)
        return thread.GetIndexID() if thread else None

    def architecture(self):
        return self.target.GetTriple()


def thread_of(debugger, target, snapshot, fiber):
    """Returns: a thread of lldb with the frames of a suspended fiber."""
    weft_common.saved_registers(snapshot, fiber)  # says why there are none
    process = target.process
    thread = process.GetThreadByID(fiber.address)
    if thread:
        return thread
    load_plugin(debugger)
    fiber_names[fiber.address] = "fiber " + fiber.name
    thread = process.CreateOSPluginThread(fiber.address, fiber.stack_pointer)
    if not thread:
        raise weft_common.Error("lldb makes no thread of the fiber")
    return thread


def is_thread_start(target, frame):
    """Whether the frame belongs to the C library or to the program's entry, where threads begin."""
    module = frame.GetModule()
    if re.match(r"(libc|libpthread)\b.*\.so", module.GetFileSpec().GetFilename() or ""):
        return True
    distance = frame.GetPC() - module.GetObjectFileEntryPointAddress().GetLoadAddress(target)
    return 0 <= distance < 64 or frame.GetFunctionName() in ("_start", "__clone", "__clone3", "clone3")


def lost_frames(target, fiber, thread):
    """Returns: a sentence if lldb does not find the outermost frames of the fiber."""
    last = thread.GetFrameAtIndex(thread.GetNumFrames() - 1)
    # weft_fiber_base, which a stripped program does not name, keeps nothing on the stack.
    is_base = 0 <= fiber.stack_top - last.GetSP() <= SIZE_OF_BASE
    if is_base or fiber.is_main and is_thread_start(target.target, last):
        return []
    is_core = target.process.GetPluginName() == "elf-core"
    process = "CORE" if is_core else "%d" % target.process.GetProcessID()
    text = "lldb has lost the frames beyond #%d: the program `weft` shows the whole stack, by `weft bt %s %s`."
    return [text % (last.GetFrameID(), process, fiber.name)]


def load_plugin(debugger):
    setting = debugger.GetInternalVariableValue(PLUGIN_SETTING, debugger.GetInstanceName())
    present = setting.GetStringAtIndex(0).strip('"') if setting.GetSize() else ""
    if present and os.path.realpath(present) != PLUGIN:
        raise weft_common.Error("%s is in use: %s" % (PLUGIN_SETTING, present))
    if not present:
        run(debugger, 'settings set %s "%s"' % (PLUGIN_SETTING, PLUGIN))


def run(debugger, command):
    """Returns: what a command of lldb prints."""
    result = lldb.SBCommandReturnObject()
    debugger.GetCommandInterpreter().HandleCommand(command, result)
    if not result.Succeeded():
        raise weft_common.Error(result.GetError().strip())
    return result.GetOutput() or ""


class Command:
    """A command. Its class says what it prints, answer(). Its documentation is its help."""

    def __init__(self, debugger, _):
        self.debugger = debugger

    def get_short_help(self):
        return self.__doc__.splitlines()[0]

    def get_long_help(self):
        return self.__doc__

    def __call__(self, debugger, command, context, result):
        try:
            target = LldbTarget(context.GetTarget() or debugger.GetSelectedTarget())
            lines = self.answer(target, weft_common.Snapshot(target), shlex.split(command))
            result.AppendMessage("\n".join(lines))
        except weft_common.Error as error:
            result.SetError("weft: %s" % error)


class List(Command):
    """A command of weft_common: `lines`."""

    def get_short_help(self):
        return self.lines.__doc__.splitlines()[0]

    def get_long_help(self):
        return self.lines.__doc__

    def answer(self, _, snapshot, arguments):
        return self.lines(snapshot, arguments)


# lldb finds commands by the names of their classes.
class Fibers(List):
    lines = staticmethod(weft_common.fibers)


class Workers(List):
    lines = staticmethod(weft_common.workers)


class Queues(List):
    lines = staticmethod(weft_common.queues)


class Backtrace(Command):
    """Print the backtrace of a fiber: weft bt FIBER [COUNT | OPTIONS OF thread backtrace]

    FIBER is its number, WORKER:NUMBER, or the address of its control block."""

    def answer(self, target, snapshot, arguments):
        if not arguments:
            raise weft_common.Error("usage: weft bt FIBER [COUNT | OPTIONS OF thread backtrace]")
        fiber = snapshot.find(arguments[0])
        thread = thread_of(self.debugger, target, snapshot, fiber)
        options = ["-c", *arguments[1:]] if arguments[1:] and arguments[1].isdigit() else arguments[1:]
        command = " ".join(["thread backtrace", *options, str(thread.GetIndexID())])
        lines = [weft_common.headline(snapshot, fiber), run(self.debugger, command).rstrip("\n")]
        return lines + lost_frames(target, fiber, thread)


class Switch(Command):
    """Look at a fiber: weft switch FIBER

    Makes a thread of the fiber and selects it. `bt`, `frame`, `up` and `frame variable` are about it. `thread
    select` chooses another thread. When the process goes on, the fiber's thread is gone."""

    def answer(self, target, snapshot, arguments):
        if len(arguments) != 1:
            raise weft_common.Error("usage: weft switch FIBER")
        fiber = snapshot.find(arguments[0])
        thread = thread_of(self.debugger, target, snapshot, fiber)
        target.process.SetSelectedThread(thread)
        lines = [weft_common.headline(snapshot, fiber), str(thread.GetFrameAtIndex(0)).rstrip("\n")]
        return lines + lost_frames(target, fiber, thread)


# Summaries of weft's objects. Unlike the commands they need debug information.


class LldbValue(weft_objects.Value):
    def __init__(self, value):
        self.value = value.GetNonSyntheticValue()

    def __getitem__(self, member):
        found = self.value.GetChildMemberWithName(member)
        if not found:
            raise weft_common.Error("there is no member %s" % member)
        return LldbValue(found)

    def number(self):
        error = lldb.SBError()
        number = self.value.GetValueAsUnsigned(error)
        if not error.Success():
            raise weft_common.Error(error.GetCString())
        return number

    def pointee(self, type_name=None):
        if type_name is None:
            return LldbValue(self.value.Dereference())
        found = self.value.GetTarget().FindFirstType(type_name)
        if not found:
            raise weft_common.Error("there is no type %s" % type_name)
        return LldbValue(self.value.Cast(found.GetPointerType()).Dereference())

    def _type(self):
        kind = self.value.GetType()
        kind = kind.GetDereferencedType() if kind.IsReferenceType() else kind
        return kind.GetCanonicalType().GetUnqualifiedType()

    def is_class(self):
        return self._type().GetTypeClass() in (lldb.eTypeClassClass, lldb.eTypeClassStruct)

    def type_name(self):
        return self._type().GetName() or ""

    def template_argument(self):
        return self._type().GetTemplateArgumentType(0).GetCanonicalType().GetName() or ""

    def text(self):
        return self.value.GetSummary() or self.value.GetValue() or str(self.value)

    def target(self):
        return LldbTarget(self.value.GetTarget())


def words(value, _):
    return weft_objects.words(LldbValue(value))


COMMANDS = {"fibers": Fibers, "workers": Workers, "queues": Queues, "bt": Backtrace, "switch": Switch}


def __lldb_init_module(debugger, _):
    run(debugger, 'command container add -o -h "Commands for the fibers of weft." weft')
    for name, kind in COMMANDS.items():
        run(debugger, "command script add -o -c %s.%s weft %s" % (__name__, kind.__name__, name))
    for pattern, _ in weft_objects.WORDS:
        run(debugger, 'type summary add -w weft -x "%s" -p -F %s.words' % (pattern, __name__))
    run(debugger, "type category enable weft")
