// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/recorded_events.h"

#include <algorithm>
#include <cstring>

namespace weft::inline v0_1::detail::inspect {
namespace {

constexpr uint64_t kTickBits = ~uint64_t{0} >> TraceEvent::kTimeShift;

constexpr bool isHead(TraceKind kind) {
  switch (kind) {
    case TraceKind::None:
    case TraceKind::WaitsFor:
    case TraceKind::TaskResumed:
    case TraceKind::CounterValue:
    case TraceKind::Text:
      return false;
    default:
      return kind <= kLastTraceKind;
  }
}

// Returns: the kind of the event that may follow an event to say more of it, or None.
constexpr TraceKind secondOf(TraceKind head) {
  switch (head) {
    case TraceKind::TaskBegan:
    case TraceKind::TaskFollowed:
      return TraceKind::TaskNamed;
    case TraceKind::FiberLeft:
    case TraceKind::IdleBegan:
      return TraceKind::WaitsFor;
    case TraceKind::CounterNamed:
      return TraceKind::CounterValue;
    case TraceKind::ThreadBound:
      return TraceKind::FiberResumed;
    default:
      return TraceKind::None;
  }
}

// Returns: whether TaskResumed may follow.
bool canHaveTask(const RecordedEvent& event) {
  return event.task == 0 &&
         (event.kind == TraceKind::FiberResumed || (event.kind == TraceKind::ThreadBound && event.hasSecond));
}

}  // namespace

RecordedClock::RecordedClock(const Recording& recording)
    : last_(recording.last), nanosecondsPerTick_(nanosecondsPerTick(recording.first, recording.last)) {}

uint64_t RecordedClock::nanoseconds(uint64_t ticks) const {
  // The upper byte goes, and the sign comes from the bit below it.
  const auto after = static_cast<int64_t>((ticks - last_.ticks) << TraceEvent::kTimeShift);
  const double difference = static_cast<double>(after >> TraceEvent::kTimeShift) * nanosecondsPerTick_;
  constexpr double kMost = 4e18;  // fits into an int64_t
  const double time = static_cast<double>(last_.nanoseconds) + difference;
  if (time <= 0) {
    return 0;
  }
  return time >= kMost ? static_cast<uint64_t>(kMost)
                       : static_cast<uint64_t>(last_.nanoseconds + static_cast<int64_t>(difference));
}

RecordedEvents::RecordedEvents(const Recording& recording, const Recording::Thread& thread)
    : clock_(recording),
      from_(recording.startedAt & kTickBits),
      to_(recording.stoppedAt != 0 ? recording.stoppedAt & kTickBits : kTickBits),
      events_(thread.events) {}

bool RecordedEvents::isInTime(const TraceEvent& event) const {
  return event.ticks() >= from_ && event.ticks() <= to_;
}

bool RecordedEvents::next(RecordedEvent& event) {
  while (next_ < events_.size()) {
    const TraceEvent& head = events_[next_++];
    if (!isHead(head.kind()) || !isInTime(head)) {
      continue;
    }
    // A thread that has moved to another processor may find its clock some ticks behind.
    time_ = std::max(time_, clock_.nanoseconds(head.ticks()));
    event = {head.kind(), time_, head.operand, next_ - 1, false, 0, 0, {}};
    takeRest(event);
    return true;
  }
  return false;
}

void RecordedEvents::takeRest(RecordedEvent& event) {
  textSize_ = 0;
  bool isTextWhole = false;
  for (; next_ < events_.size(); ++next_) {
    const TraceEvent& follower = events_[next_];
    if (follower.kind() == TraceKind::Text) {
      isTextWhole = isTextWhole || takeText(follower);
    } else if (!event.hasSecond && follower.kind() != TraceKind::None &&
               follower.kind() == secondOf(event.kind)) {
      event.hasSecond = true;
      event.second = follower.operand;
    } else if (follower.kind() == TraceKind::TaskResumed && canHaveTask(event)) {
      event.task = follower.operand;
    } else {
      break;
    }
  }
  event.text = {text_, textSize_};
}

// Returns: whether the text ends with this event.
bool RecordedEvents::takeText(const TraceEvent& event) {
  // The kind is the lowest byte of the head, so the text begins behind it in the order of the bytes' weights.
  for (size_t i = 1; i < sizeof event; ++i) {
    const uint64_t word = i < sizeof event.head ? event.head : event.operand;
    const char byte = static_cast<char>(word >> 8 * (i % sizeof word) & 0xff);
    if (byte == '\0') {
      return true;
    }
    if (textSize_ < kMostTraceText) {
      text_[textSize_++] = byte;
    }
  }
  return false;
}

}  // namespace weft::inline v0_1::detail::inspect
