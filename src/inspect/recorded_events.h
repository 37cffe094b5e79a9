// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "inspect/recording.h"
#include "inspect/trace_events.h"

namespace weft::inline v0_1::detail::inspect {

// Turns ticks() of events, of which the upper byte is lost, into nanoseconds of steady_clock.
class RecordedClock {
 public:
  explicit RecordedClock(const Recording& recording);

  uint64_t nanoseconds(uint64_t ticks) const;

 private:
  const ClockReading last_;
  double nanosecondsPerTick_;
};

inline constexpr uint64_t kNoTime = ~uint64_t{0};

// An event with those that follow it to say more of it.
struct RecordedEvent {
  TraceKind kind = TraceKind::None;
  uint64_t time = 0;  // in nanoseconds of steady_clock; never less than that of the event before
  uint64_t operand = 0;
  size_t index = 0;  // among the thread's events

  bool hasSecond = false;
  // The operand of WaitsFor, TaskNamed or CounterValue, where one follows. Of ThreadBound that of
  // FiberResumed: the fiber on which the thread was already.
  uint64_t second = 0;
  uint64_t task = 0;      // the operand of TaskResumed, where it follows; else 0
  std::string_view text;  // of Text; valid until the next event is read
};

// Reads the events of a thread in the time of the recording. Leaves out what stands alone because the event
// to which it belongs is overwritten, and kinds of a newer library.
class RecordedEvents {
 public:
  RecordedEvents(const Recording& recording, const Recording::Thread& thread);
  RecordedEvents(const RecordedEvents&) = delete;
  RecordedEvents& operator=(const RecordedEvents&) = delete;

  // Reads the next event. Returns: whether there was one.
  bool next(RecordedEvent& event);

 private:
  bool isInTime(const TraceEvent& event) const;
  void takeRest(RecordedEvent& event);
  bool takeText(const TraceEvent& event);

  const RecordedClock clock_;
  const uint64_t from_;
  const uint64_t to_;
  const std::span<const TraceEvent> events_;
  size_t next_ = 0;
  uint64_t time_ = 0;
  size_t textSize_ = 0;
  char text_[kMostTraceText];
};

}  // namespace weft::inline v0_1::detail::inspect
