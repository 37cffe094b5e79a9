// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

#include "inspect/timeline_writer.h"
#include "inspect/trace_events.h"
#include "inspect/track_pen.h"
#include "inspect/wake_arrows.h"

namespace weft::inline v0_1::detail::inspect {

// The part of a task, or of a thread's own code, from where its fiber goes on to where the thread leaves it.
struct FiberRun {
  std::string_view name;
  uint64_t fiber = 0;
  uint32_t part = 0;
  bool isFiberKnown = true;
};

// The thread's own track: what runs, and when the thread is idle, searches and sleeps. Searching and sleeping
// are slices inside of the others.
class ThreadTrack {
 public:
  explicit ThreadTrack(const TrackPen& pen) : pen_(pen) {}

  // Before it has a track it only finds out how it begins. Requires: no slice is open.
  void setTrack(const TimelineTrack& track) { track_ = track; }
  const TimelineTrack& track() const { return track_; }
  bool isWritten() const { return track_.id != 0; }

  // The first call decides whether the thread was idle at the beginning.
  void noteIdle(bool wasIdle);
  bool wasIdle() const { return wasIdle_; }
  // Begins what was open at the beginning inside of the run, or of being idle.
  void openInnerEarlier() { openInner(firstInner_); }

  bool isRunning() const { return isRunning_; }
  void openRun(const FiberRun& run, const WakeArrows::Arrow& arrow);
  void closeRun();
  void openIdle();
  void closeIdle();
  // Takes Parked, Unparked, SearchBegan, SearchEnded.
  void takeInner(TraceKind kind);

 private:
  enum class Inner : uint8_t { None, Asleep, Searching };

  void openInner(Inner inner);
  void closeInner();

  const TrackPen& pen_;
  TimelineTrack track_;

  // At the beginning.
  bool isIdleSeen_ = false;   // whether `wasIdle_` is decided
  bool isInnerSeen_ = false;  // whether `firstInner_` is decided
  bool wasIdle_ = false;
  Inner firstInner_ = Inner::None;

  // Whether a slice is open.
  bool isRunning_ = false;
  bool isIdle_ = false;
  bool isInner_ = false;
};

}  // namespace weft::inline v0_1::detail::inspect
