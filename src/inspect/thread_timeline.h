// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "inspect/current_fiber.h"
#include "inspect/fiber_tracks.h"
#include "inspect/recorded_events.h"
#include "inspect/recording.h"
#include "inspect/thread_label.h"
#include "inspect/thread_track.h"
#include "inspect/timeline_parts.h"
#include "inspect/track_pen.h"
#include "inspect/wake_arrows.h"

namespace weft::inline v0_1::detail::inspect {

// The tracks of one thread and its fibers.
//
// It goes through the events twice, in one way. The first time there are no tracks yet, so that nothing is
// written: that look finds the fibers, the names, and what was open at the beginning.
class ThreadTimeline {
 public:
  ThreadTimeline(TimelineParts& parts, uint32_t thread);

  // May throw std::bad_alloc. Then all slices that were begun are ended.
  void write();

 private:
  void look();
  void openEarlier();
  void closeAll();
  void addTracks();
  void noteOverwritten();

  void take(const RecordedEvent& event);
  void takeBinding(const RecordedEvent& event);
  void takeSwitch(const RecordedEvent& event);
  void takeIdle(const RecordedEvent& event);
  void takeTask(const RecordedEvent& event);
  void takeScope(const RecordedEvent& event);
  void takeInstant(const RecordedEvent& event);
  void takeProgram(const RecordedEvent& event);

  void stopWaiting();
  void goOn(const WakeArrows::Arrow& arrow = {});
  void openRun(const WakeArrows::Arrow& arrow = {});

  TimelineParts& parts_;
  const uint32_t index_;
  const Recording::Thread& thread_;
  TrackPen pen_;
  const ThreadLabel& label_;
  ThreadTrack track_;
  FiberTracks fibers_;
  CurrentFiber current_;
  uint64_t begin_ = kNoTime;
  uint64_t end_ = 0;
};

}  // namespace weft::inline v0_1::detail::inspect
