// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/perfetto_trace.h"

#include <cmath>

namespace weft::inline v0_1::detail::inspect {
namespace {

// The numbers of the fields, by message. Each message is in the file of its name in protos/perfetto/trace and
// its folder track_event.
namespace trace {
constexpr uint32_t kPacket = 1;
}
namespace trace_packet {
constexpr uint32_t kClockSnapshot = 6, kTimestamp = 8, kSequenceId = 10, kTrackEvent = 11, kInternedData = 12,
                   kSequenceFlags = 13, kClockId = 58, kDefaults = 59, kTrackDescriptor = 60;
constexpr uint64_t kIncrementalStateCleared = 1, kNeedsIncrementalState = 2;
}  // namespace trace_packet
namespace trace_packet_defaults {
constexpr uint32_t kClockId = 58;
}
namespace interned_data {
constexpr uint32_t kCategories = 1, kEventNames = 2, kAnnotationNames = 3, kAnnotationTexts = 29;
constexpr uint32_t kNumber = 1, kText = 2;  // of all entries
}  // namespace interned_data
namespace clock_snapshot {
constexpr uint32_t kClocks = 1, kPrimaryTraceClock = 2;
constexpr uint32_t kClocksClockId = 1, kClocksTimestamp = 2;
constexpr uint64_t kMonotonic = 3;  // in protos/perfetto/common/builtin_clock.proto
}  // namespace clock_snapshot
namespace track_descriptor {
constexpr uint32_t kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParentUuid = 5, kCounter = 8,
                   kChildOrdering = 11, kSiblingOrderRank = 12, kSiblingMergeBehavior = 15;
constexpr uint64_t kExplicit = 3;   // of ChildTracksOrdering
constexpr uint64_t kMergeNone = 2;  // of SiblingMergeBehavior
}  // namespace track_descriptor
namespace process_descriptor {
constexpr uint32_t kPid = 1, kProcessName = 6;
}
namespace thread_descriptor {
constexpr uint32_t kPid = 1, kTid = 2, kThreadName = 5;
}
namespace track_event {
constexpr uint32_t kCategoryNumbers = 3, kDebugAnnotations = 4, kType = 9, kNameNumber = 10, kTrackUuid = 11,
                   kCategories = 22, kName = 23, kDoubleCounterValue = 44, kFlowIds = 47,
                   kTerminatingFlowIds = 48;
constexpr uint64_t kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4;
}  // namespace track_event
namespace debug_annotation {
constexpr uint32_t kNameNumber = 1, kUintValue = 3, kStringValue = 6, kName = 10, kStringNumber = 17;
}

// All packets are of one sequence.
constexpr uint64_t kSequence = 1;

// The rows that the file has besides the tracks, whose numbers are below 2^31.
constexpr uint64_t kProcessRow = uint64_t{1} << 32;
constexpr uint64_t kNotesRow = kProcessRow + 1;
constexpr uint64_t kCountersRow = kProcessRow + 2;
constexpr uint64_t kFibersRow = kProcessRow + 3;

// The row of an asynchronous slice: by FNV-1a of its number and name, above all other rows.
uint64_t asyncRow(uint64_t id, std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](uint64_t byte) { hash = (hash ^ (byte & 0xff)) * 0x100000001b3; };
  for (unsigned bit = 0; bit < 64; bit += 8) {
    add(id >> bit);
  }
  for (const char c : name) {
    add(static_cast<unsigned char>(c));
  }
  return hash | uint64_t{1} << 63;
}

}  // namespace

template <class Write>
void PerfettoTrace::packet(uint64_t ns, const Write& write) {
  ProtobufWriter(&out_).message(trace::kPacket, [&](ProtobufWriter& out) {
    out.number(trace_packet::kTimestamp, ns);
    out.number(trace_packet::kSequenceId, kSequence);
    out.number(trace_packet::kSequenceFlags, trace_packet::kNeedsIncrementalState);
    write(out);
  });
}

// `field`: of the interned data. A text that is new there gets a packet.
void PerfettoTrace::intern(uint32_t field, std::string_view text) {
  const uint64_t number = texts_.add(field, text);
  if (number == 0) {
    return;
  }
  ProtobufWriter(&out_).message(trace::kPacket, [&](ProtobufWriter& out) {
    out.number(trace_packet::kSequenceId, kSequence);
    out.number(trace_packet::kSequenceFlags, trace_packet::kNeedsIncrementalState);
    out.message(trace_packet::kInternedData, [&](ProtobufWriter& data) {
      data.message(field, [&](ProtobufWriter& entry) {
        entry.number(interned_data::kNumber, number);
        entry.text(interned_data::kText, text);
      });
    });
  });
}

void PerfettoTrace::internAll(const TimelineEvent& event) {
  intern(interned_data::kCategories, event.category);
  intern(interned_data::kEventNames, event.name);
  for (const TimelineArgument& argument : event.arguments) {
    intern(interned_data::kAnnotationNames, argument.name);
    if (argument.isText) {
      intern(interned_data::kAnnotationTexts, argument.text);
    }
  }
}

// By its number, if it is interned.
void PerfettoTrace::writeText(ProtobufWriter& out, uint32_t interned, uint32_t numberField,
                              uint32_t textField, std::string_view text) const {
  if (const uint64_t number = texts_.find(interned, text); number != 0) {
    out.number(numberField, number);
  } else {
    out.text(textField, text);
  }
}

void PerfettoTrace::writeDescription(ProtobufWriter& out, const TimelineEvent& event) const {
  writeText(out, interned_data::kCategories, track_event::kCategoryNumbers, track_event::kCategories,
            event.category);
  writeText(out, interned_data::kEventNames, track_event::kNameNumber, track_event::kName, event.name);
  for (const TimelineArgument& argument : event.arguments) {
    out.message(track_event::kDebugAnnotations, [&](ProtobufWriter& annotation) {
      writeText(annotation, interned_data::kAnnotationNames, debug_annotation::kNameNumber,
                debug_annotation::kName, argument.name);
      if (argument.isText) {
        writeText(annotation, interned_data::kAnnotationTexts, debug_annotation::kStringNumber,
                  debug_annotation::kStringValue, argument.text);
      } else {
        annotation.number(debug_annotation::kUintValue, argument.number);
      }
    });
  }
  if (event.arrowOut != 0) {
    out.fixed64(track_event::kFlowIds, event.arrowOut);
  }
  if (event.arrowIn != 0) {
    out.fixed64(track_event::kTerminatingFlowIds, event.arrowIn);
  }
}

template <class Write>
void PerfettoTrace::event(uint64_t row, uint64_t ns, uint64_t type, const Write& write) {
  packet(ns, [&](ProtobufWriter& out) {
    out.message(trace_packet::kTrackEvent, [&](ProtobufWriter& event) {
      event.number(track_event::kType, type);
      event.number(track_event::kTrackUuid, row);
      write(event);
    });
  });
}

void PerfettoTrace::describedEvent(uint64_t row, uint64_t type, const TimelineEvent& described) {
  internAll(described);
  event(row, described.ns, type, [&](ProtobufWriter& out) { writeDescription(out, described); });
}

// A row of rows, which has them by their order.
void PerfettoTrace::addGroup(uint64_t row, std::string_view name, int32_t order) {
  packet(firstNs_, [&](ProtobufWriter& out) {
    out.message(trace_packet::kTrackDescriptor, [&](ProtobufWriter& track) {
      track.number(track_descriptor::kUuid, row);
      track.number(track_descriptor::kParentUuid, kProcessRow);
      track.text(track_descriptor::kName, name);
      track.number(track_descriptor::kChildOrdering, track_descriptor::kExplicit);
      track.signedNumber(track_descriptor::kSiblingOrderRank, order);
    });
  });
}

// The first packet begins the sequence. Its snapshot says that the trace has the clock of its events. Without
// it viewers take BOOTTIME, and nothing in the file tells how far that is from MONOTONIC. The times of all
// further packets are of the clock that it names as the default.
void PerfettoTrace::begin(const TimelineHead& head) {
  processId_ = head.processId;
  firstNs_ = head.firstNs;
  ProtobufWriter(&out_).message(trace::kPacket, [&](ProtobufWriter& out) {
    out.number(trace_packet::kTimestamp, firstNs_);
    out.number(trace_packet::kClockId, clock_snapshot::kMonotonic);
    out.number(trace_packet::kSequenceId, kSequence);
    out.number(trace_packet::kSequenceFlags, trace_packet::kIncrementalStateCleared);
    out.message(trace_packet::kDefaults, [](ProtobufWriter& defaults) {
      defaults.number(trace_packet_defaults::kClockId, clock_snapshot::kMonotonic);
    });
    out.message(trace_packet::kClockSnapshot, [&](ProtobufWriter& snapshot) {
      snapshot.message(clock_snapshot::kClocks, [&](ProtobufWriter& clock) {
        clock.number(clock_snapshot::kClocksClockId, clock_snapshot::kMonotonic);
        clock.number(clock_snapshot::kClocksTimestamp, firstNs_);
      });
      snapshot.number(clock_snapshot::kPrimaryTraceClock, clock_snapshot::kMonotonic);
    });
  });
  packet(firstNs_, [&](ProtobufWriter& out) {
    out.message(trace_packet::kTrackDescriptor, [&](ProtobufWriter& track) {
      track.number(track_descriptor::kUuid, kProcessRow);
      track.message(track_descriptor::kProcess, [&](ProtobufWriter& process) {
        process.number(process_descriptor::kPid, processId_);
        process.text(process_descriptor::kProcessName, head.program);
      });
      track.number(track_descriptor::kChildOrdering, track_descriptor::kExplicit);
    });
  });
  addGroup(kNotesRow, "Notes", 0);
  addGroup(kCountersRow, "Counters", 1);
  addGroup(kFibersRow, "Fibers", 2);
}

// Without kMergeNone fibers of equal names would share a row.
void PerfettoTrace::addTrack(const TimelineTrack& track) {
  packet(firstNs_, [&](ProtobufWriter& out) {
    out.message(trace_packet::kTrackDescriptor, [&](ProtobufWriter& descriptor) {
      descriptor.number(track_descriptor::kUuid, track.id);
      descriptor.signedNumber(track_descriptor::kSiblingOrderRank, track.order);
      if (track.kind == TrackKind::Thread) {
        descriptor.message(track_descriptor::kThread, [&](ProtobufWriter& thread) {
          thread.number(thread_descriptor::kPid, processId_);
          thread.number(thread_descriptor::kTid, track.threadId);
          thread.text(thread_descriptor::kThreadName, track.name);
        });
        return;
      }
      const bool isCounter = track.kind == TrackKind::Counter;
      descriptor.number(track_descriptor::kParentUuid, isCounter ? kCountersRow : kFibersRow);
      descriptor.text(track_descriptor::kName, track.name);
      descriptor.number(track_descriptor::kSiblingMergeBehavior, track_descriptor::kMergeNone);
      if (isCounter) {
        descriptor.message(track_descriptor::kCounter, [](ProtobufWriter&) {});
      }
    });
  });
}

void PerfettoTrace::beginSlice(const TimelineTrack& track, const TimelineEvent& event) {
  describedEvent(track.id, track_event::kSliceBegin, event);
}

void PerfettoTrace::endSlice(const TimelineTrack& track, uint64_t ns) {
  event(track.id, ns, track_event::kSliceEnd, [](ProtobufWriter&) {});
}

void PerfettoTrace::instant(const TimelineTrack& track, const TimelineEvent& event) {
  describedEvent(track.id, track_event::kInstant, event);
}

void PerfettoTrace::counter(const TimelineTrack& track, uint64_t ns, double value) {
  if (std::isfinite(value)) {
    event(track.id, ns, track_event::kCounter,
          [&](ProtobufWriter& out) { out.real(track_event::kDoubleCounterValue, value); });
  }
}

// Each has a row. Those with the name of another are drawn with it, since that is how rows are merged.
void PerfettoTrace::asyncBegin(uint64_t id, uint64_t ns, std::string_view name) {
  const uint64_t row = asyncRow(id, name);
  packet(firstNs_, [&](ProtobufWriter& out) {
    out.message(trace_packet::kTrackDescriptor, [&](ProtobufWriter& track) {
      track.number(track_descriptor::kUuid, row);
      track.number(track_descriptor::kParentUuid, kProcessRow);
      track.text(track_descriptor::kName, name);
    });
  });
  describedEvent(row, track_event::kSliceBegin, {ns, name});
}

void PerfettoTrace::asyncEnd(uint64_t id, uint64_t ns, std::string_view name) {
  event(asyncRow(id, name), ns, track_event::kSliceEnd, [](ProtobufWriter&) {});
}

void PerfettoTrace::end(std::span<const std::string_view> notes) {
  for (const std::string_view note : notes) {
    describedEvent(kNotesRow, track_event::kInstant, {firstNs_, note});
  }
  out_.flush();
}

}  // namespace weft::inline v0_1::detail::inspect
