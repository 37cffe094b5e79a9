#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the files for Chrome and for Perfetto with other readers: Python's json, and Google's protoc.

    timeline_files_test.py PROGRAM [PROTOC]

PROGRAM is the built timeline_program.cpp, after the words of the emulator that runs it, if any, with semicolons between.
Without PROTOC only the file for Chrome is read, and the test says so.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BEGIN = 123456789012345678
MAX = 2**64 - 1
# As timeline_program.cpp has it, with U+FFFD for each byte that is no UTF-8.
ODD = 'q" b\\ n\n z\0 u\u00e4 bad\ufffd\ufffd\ufffd'
PROGRAM, PROTOC = None, None


def setUpModule():
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    global chromeFile, perfettoFile
    chromeFile = pathlib.Path(folder.name) / "timeline.json"
    perfettoFile = pathlib.Path(folder.name) / "timeline.pftrace"
    subprocess.run([*PROGRAM, chromeFile, perfettoFile], check=True, timeout=60)


class Chrome(unittest.TestCase):
    def setUp(self):
        # Times stay as they are written: as floating-point numbers some would be rounded.
        self.file = json.loads(chromeFile.read_text(encoding="utf-8"), parse_float=str)
        self.events = self.file["traceEvents"]

    def of(self, phase):
        return [event for event in self.events if event["ph"] == phase]

    def test_has_the_names_and_the_order_of_rows(self):
        named = {(event["tid"], event["name"]): event["args"] for event in self.of("M")}
        self.assertEqual(named, {(0, "process_name"): {"name": 'a "program"'}, (1, "thread_name"): {"name": "worker 0"},
                                 (1, "thread_sort_index"): {"sort_index": -1}, (2, "thread_name"): {"name": ODD},
                                 (2, "thread_sort_index"): {"sort_index": -2**31}})

    def test_has_slices(self):
        slices = [(event["tid"], event["ts"], event["dur"], event["name"], event["cat"], event.get("args"))
                  for event in self.of("X")]
        arguments = {"odd": ODD, "largest": str(MAX), "none": 0}
        self.assertEqual(slices, [(1, "123456789012345.680", "0.000", "wake", "wake", None),
                                  (1, "123456789012345.679", "999.999", "run", "task", arguments),
                                  (2, "123456789012345.682", "0.001", ODD, "task", None)])

    def test_has_arrows(self):
        ends = [(event["ph"], event["tid"], event["ts"], event["id"], event["cat"], event["name"], event.get("bp"))
                for event in self.events if event["ph"] in "sf"]
        self.assertEqual(ends, [("s", 1, "123456789012345.680", "0xffffffffffffffff", "weft", "arrow", None),
                                ("f", 2, "123456789012345.682", "0xffffffffffffffff", "weft", "arrow", "e")])

    def test_has_counters(self):
        self.assertEqual([(event["name"], event["ts"], event["args"]) for event in self.of("C")],
                         [("ready fibers", "123456789012345.678", {"value": "-0.5"}),
                          ("ready fibers", "123456789012345.684", {"value": "1.7976931348623157e+308"})])

    def test_has_asynchronous_slices(self):
        self.assertEqual([(event["ph"], event["id"], event["name"], event["ts"]) for event in self.of("b") + self.of("e")],
                         [("b", "0xffffffffffffffff", "read", "123456789012345.678"),
                          ("e", "0xffffffffffffffff", "read", "123456789012345.686")])

    def test_has_instants_and_notes(self):
        notes = ["12,345 older events were overwritten", ODD]
        self.assertEqual([(event["s"], event["name"]) for event in self.of("i")],
                         [("t", "steal"), ("g", notes[0]), ("g", notes[1])])
        self.assertEqual(self.file["otherData"], {"note 1": notes[0], "note 2": notes[1]})
        self.assertEqual(self.file["displayTimeUnit"], "ns")


def parsed(lines):
    """Returns: a message of protobuf's text format, as a list of fields in their order: (name, value)."""
    fields = []
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        name = line.rstrip(" {").split(": ")[0]
        if line.endswith("{"):
            fields.append((name, parsed(lines)))
        else:
            value = line.split(": ", 1)[1]
            fields.append((name, unescaped(value) if value.startswith('"') else value))
    return fields


def unescaped(quoted):
    escapes = {"n": b"\n", '"': b'"', "\\": b"\\", "'": b"'", "t": b"\t", "r": b"\r"}
    text = re.sub(rb"\\([0-7]{3}|.)", lambda match: escapes.get(match[1].decode()) or bytes([int(match[1], 8)]),
                  quoted[1:-1].encode())
    return text.decode("utf-8")


class Perfetto(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        if not PROTOC:
            self.skipTest("the system has no protoc (Debian's package protobuf-compiler)")
        folder = pathlib.Path(__file__).parent
        done = subprocess.run([PROTOC, "--decode=Trace", "-I", folder, folder / "perfetto_trace.proto"],
                              input=perfettoFile.read_bytes(), capture_output=True, check=True, timeout=60)
        self.packets = [fields for _, fields in parsed(iter(done.stdout.decode("ascii").splitlines()))]

    def of(self, kind):
        """Returns: the messages of a kind, each after the time of its packet."""
        return [(int(dict(packet)["timestamp"]), dict(packet)[kind]) for packet in self.packets if kind in dict(packet)]

    def events(self):
        """Returns: the events, each after the time of its packet, with the texts that numbers stand for so far."""
        texts, events = {}, []

        def resolved(field):
            name, value = field
            if name == "debug_annotations":
                return name, [resolved(of_annotation) for of_annotation in value]
            if (name, value) in texts:
                return texts[name, value]
            return name, value

        kinds = {"event_categories": ("category_iids", "categories"), "event_names": ("name_iid", "name"),
                 "debug_annotation_names": ("annotation_name_iid", "name"),
                 "debug_annotation_string_values": ("string_value_iid", "string_value")}
        for packet in map(dict, self.packets):
            for kind, entry in packet.get("interned_data", []):
                number, text = kinds[kind]
                entry = dict(entry)
                texts[number, entry["iid"]] = (text, entry.get("name", entry.get("str")))
            if "track_event" in packet:
                event = [(name, [("annotation_" + of if of == "name_iid" else of, value) for of, value in fields])
                         if name == "debug_annotations" else (name, fields) for name, fields in packet["track_event"]]
                events.append((int(packet["timestamp"]), [resolved(field) for field in event]))
        return events

    def test_has_packets_of_one_sequence_and_one_clock(self):
        for packet in self.packets:
            self.assertEqual(dict(packet)["trusted_packet_sequence_id"], "1")
        self.assertEqual([dict(packet).get("timestamp_clock_id") for packet in self.packets],
                         ["3"] + [None] * (len(self.packets) - 1))
        self.assertEqual(self.of("trace_packet_defaults"), [(BEGIN, [("timestamp_clock_id", "3")])])
        self.assertEqual([dict(packet).get("sequence_flags") for packet in self.packets],
                         ["1"] + ["2"] * (len(self.packets) - 1))
        self.assertEqual(self.of("clock_snapshot"),
                         [(BEGIN, [("clocks", [("clock_id", "3"), ("timestamp", str(BEGIN))]),
                                   ("primary_trace_clock", "BUILTIN_CLOCK_MONOTONIC")])])

    def test_has_rows(self):
        rows = [dict(row) for _, row in self.of("track_descriptor")]
        process = next(row for row in rows if "process" in row)
        self.assertEqual(process["process"], [("pid", "7"), ("process_name", 'a "program"')])
        self.assertEqual(process["child_ordering"], "EXPLICIT")
        groups = {row["name"]: row["uuid"] for row in rows if "child_ordering" in row and row != process}
        self.assertEqual(list(groups), ["Notes", "Counters", "Fibers"])
        thread = {"uuid": "1", "sibling_order_rank": "-1",
                  "thread": [("pid", "7"), ("tid", "4711"), ("thread_name", "worker 0")]}
        fiber = {"uuid": "2", "name": ODD, "parent_uuid": groups["Fibers"], "sibling_order_rank": str(-2**31),
                 "sibling_merge_behavior": "SIBLING_MERGE_BEHAVIOR_NONE"}
        counter = {"uuid": "3", "name": "ready fibers", "parent_uuid": groups["Counters"], "sibling_order_rank": "5",
                   "sibling_merge_behavior": "SIBLING_MERGE_BEHAVIOR_NONE", "counter": []}
        self.assertEqual([row for row in rows if "child_ordering" not in row][:3], [thread, fiber, counter])
        self.assertEqual({row["parent_uuid"] for row in rows if row["uuid"] in groups.values()}, {process["uuid"]})

    def test_has_events(self):
        rows = {dict(row)["uuid"]: dict(row).get("name") for _, row in self.of("track_descriptor")}
        read = next(uuid for uuid, name in rows.items() if name == "read")
        notes = next(uuid for uuid, name in rows.items() if name == "Notes")

        def event(after, kind, row, *others):
            return (BEGIN + after, sorted([("type", "TYPE_" + kind), ("track_uuid", row), *others], key=str))

        def named(category, name):
            return ("categories", category), ("name", name)

        expected = [
            event(1, "SLICE_BEGIN", "1", *named("task", "run"),
                  ("debug_annotations", [("name", "odd"), ("string_value", ODD)]),
                  ("debug_annotations", [("name", "largest"), ("uint_value", str(MAX))]),
                  ("debug_annotations", [("name", "none"), ("uint_value", "0")])),
            event(2, "INSTANT", "1", *named("wake", "wake"), ("flow_ids", str(MAX))),
            event(3, "INSTANT", "1", *named("weft", "steal")),
            event(1000000, "SLICE_END", "1"),
            event(4, "SLICE_BEGIN", "2", *named("task", ODD), ("terminating_flow_ids", str(MAX))),
            event(5, "SLICE_END", "2"),
            event(0, "COUNTER", "3", ("double_counter_value", "-0.5")),
            event(6, "COUNTER", "3", ("double_counter_value", "1.7976931348623157e+308")),
            event(0, "SLICE_BEGIN", read, *named("weft", "read")),
            event(8, "SLICE_END", read),
            event(0, "INSTANT", notes, *named("weft", "12,345 older events were overwritten")),
            event(0, "INSTANT", notes, *named("weft", ODD)),
        ]
        self.assertEqual([(time, sorted(fields, key=str)) for time, fields in self.events()], expected)


class FullDisk(unittest.TestCase):
    def test_is_told(self):
        done = subprocess.run([*PROGRAM, "/dev/full", "/dev/full"], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (1, "/dev/full: No space left on device\n"))


if __name__ == "__main__":
    PROGRAM = [word for word in sys.argv[1].split(";") if word]
    PROTOC = sys.argv[2] if len(sys.argv) > 2 else None
    tests = unittest.main(argv=sys.argv[:1], exit=False).result
    if tests.skipped:
        print("skipped:", tests.skipped[0][1])
    sys.exit(1 if not tests.wasSuccessful() else 77 if tests.skipped else 0)
