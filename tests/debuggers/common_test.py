#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests what the commands for debuggers have in common, without a debugger: common_test.py SCRIPTS"""

import sys
import types
import unittest

PROGRAM_COUNTER, STACK_POINTER = 0x0000AAAA12345678, 0x0000FFFF00001000
SIGNATURE = 0x006D << 48


class Memory:
    """Stands for a debugger's target: what it has stored can be read."""

    def __init__(self):
        class Target(weft_common.Target):
            def read(_, address, size):
                return bytes(self.bytes.get(address + i, 0) for i in range(size))

            def notes(_):
                return iter(self.sections)

            def architecture(_):
                return "aarch64"

        self.bytes, self.sections, self.target = {}, [], Target()

    def store(self, address, data):
        self.bytes.update({address + i: byte for i, byte in enumerate(data)})


def suspended(memory, words):
    """Returns: the registers of a fiber with such words at its saved stack pointer."""
    for i, word in enumerate(words):
        memory.store(STACK_POINTER + 8 * i, word.to_bytes(8, "little"))
    fiber = types.SimpleNamespace(name="0:1", state="waits", has_saved_registers=True, stack_pointer=STACK_POINTER)
    return weft_common.saved_registers(types.SimpleNamespace(target=memory.target), fiber)


class CommonTest(unittest.TestCase):
    def test_a_signature_is_taken_off_a_return_address(self):
        registers = suspended(Memory(), [29, PROGRAM_COUNTER | SIGNATURE])
        self.assertEqual((registers["x29"], registers["pc"]), (29, PROGRAM_COUNTER))

    def test_x86_64_has_no_signatures(self):
        switch = weft_common.switch_of("i386:x86-64")
        self.assertEqual(switch.code_address(PROGRAM_COUNTER | SIGNATURE), PROGRAM_COUNTER | SIGNATURE)

    def test_a_switch_has_returned_by_the_register_for_it(self):
        registers = suspended(Memory(), [29, PROGRAM_COUNTER, *range(19, 29)])
        self.assertEqual(registers["x30"], PROGRAM_COUNTER)
        self.assertEqual([registers["x%d" % i] for i in range(19, 29)], list(range(19, 29)))
        self.assertEqual(registers["sp"], STACK_POINTER + 160)

    def test_a_section_that_is_told_twice_is_one_copy(self):
        memory = Memory()
        release = b"1.2.3".ljust(16, b"\0")
        table = (weft_common.MAGIC, weft_common.VERSION, weft_common.ENTRY.size, 0, 8, release, 1, 2, 0x3000, 4)
        for note in (0x1000, 0x5000):
            memory.store(note, weft_common.NOTE.pack(5, 4, 1, b"weft\0\0\0\0", 0x100))
            memory.store(note + weft_common.NOTE.size - 4 + 0x100, weft_common.HEADER.pack(*table))
        size = weft_common.NOTE.size
        memory.sections = [(0x1000, size), (0x5000, size), (0x1000, size)]
        self.assertEqual(len(weft_common.layouts(memory.target)), 2)


if __name__ == "__main__":
    sys.path.insert(0, sys.argv.pop(1))
    import weft_common

    unittest.main()
