# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Shows suspended fibers to lldb as threads: an operating system plug-in, which weft_lldb.py loads.

lldb unwinds the stack of such a thread from the registers that are given here. No register of a real thread
is written. lldb loads this module anew for each process, so nothing else may keep its state in here.
"""

import struct

import lldb
import weft_lldb  # the module that has loaded this one

# The numbers are DWARF's.
NUMBERS = {"rbx": 3, "rbp": 6, "rsp": 7, "r12": 12, "r13": 13, "r14": 14, "r15": 15, "rip": 16}
NUMBERS.update({"x%d" % i: i for i in range(19, 30)}, sp=31, pc=32)
GENERIC = {"rip": "pc", "rsp": "sp", "rbp": "fp", "pc": "pc", "sp": "sp", "x29": "fp"}


def register(name, number, offset):
    described = {"name": name, "bitsize": 64, "offset": offset, "encoding": "uint", "format": "hex", "set": 0}
    described.update({kind: number for kind in ("gcc", "dwarf", "ehframe")})
    if name in GENERIC:
        described.update({"generic": GENERIC[name], "alt-name": GENERIC[name]})
    return described


class OperatingSystemPlugIn:
    def __init__(self, process):
        self.process = process
        self.switch = weft_lldb.weft_common.switch_of(process.GetTarget().GetTriple())
        self.stop, self.threads, self.stack_pointers = None, [], {}

    def forget_if_resumed(self):
        """The registers of a fiber are right until its process goes on."""
        if self.process.GetStopID() != self.stop:
            self.stop, self.threads, self.stack_pointers = self.process.GetStopID(), [], {}

    def create_thread(self, tid, context):
        """Makes a thread of a fiber, for SBProcess.CreateOSPluginThread(number, saved stack pointer)."""
        self.forget_if_resumed()
        self.stack_pointers[tid] = context
        thread = {"tid": tid, "name": weft_lldb.fiber_names[tid], "state": "stopped", "stop_reason": "none"}
        self.threads.append(thread)
        return thread

    def get_thread_info(self):
        self.forget_if_resumed()
        return self.threads

    def get_register_info(self):
        names = (*self.switch.saved, self.switch.sp)
        described = [register(name, NUMBERS[name], 8 * i) for i, name in enumerate(names)]
        return {"sets": ["GPR"], "registers": described}

    def get_register_data(self, tid):
        stack_pointer = self.stack_pointers[tid]
        error = lldb.SBError()
        saved = self.process.ReadMemory(stack_pointer, 8 * len(self.switch.saved), error)
        if not error.Success():
            return None
        values = list(struct.unpack("<%dQ" % len(self.switch.saved), saved))
        pc = self.switch.saved.index(self.switch.pc)
        values[pc] = self.switch.code_address(values[pc])
        return struct.pack("<%dQ" % (len(values) + 1), *values, stack_pointer + self.switch.size)
