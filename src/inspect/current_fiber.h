// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "inspect/fiber_tracks.h"
#include "inspect/recorded_events.h"
#include "inspect/recorded_names.h"
#include "inspect/recording.h"
#include "inspect/thread_track.h"
#include "inspect/timeline_parts.h"

namespace weft::inline v0_1::detail::inspect {

// On which fiber a thread is, and what its events put on that fiber's track.
//
// It is told of the events twice. The first time the fibers have no tracks, and it finds out which there are,
// and what was open on them at the beginning.
class CurrentFiber {
 public:
  CurrentFiber(TimelineParts& parts, const Recording::Thread& thread, FiberTracks& tracks);

  // The events come, or come again.
  void restart();

  // The thread goes over to another fiber, or to none.
  void takeBound(const RecordedEvent& event);
  void takeUnbound();
  void takeLeft(const RecordedEvent& event);
  // `wokenAt`: the time of the wake that made the fiber go on, or kNoTime.
  void takeResumed(const RecordedEvent& event, uint64_t wokenAt);

  void takeIdle(const RecordedEvent& event) { wait(event); }
  void takeTask(const RecordedEvent& event);
  void takeScope(const RecordedEvent& event);
  void takeMark(std::string_view name);
  void stopWaiting();

  // Whether it has a number. Otherwise it is not known, or the thread has no scheduler.
  bool isOnFiber() const { return index_ >= FiberTracks::kFirstFiber; }
  void setTaskName(std::string_view name) { fiber().task = name; }
  // Requires: isOnFiber().
  void setName(std::string_view name) { fiber().name = name; }
  // Returns: what runs from now on, if it is to be shown. `isWoken`: an arrow leads to it.
  std::optional<FiberRun> beginRun(bool isWoken);

 private:
  using Fiber = FiberTracks::Fiber;
  static constexpr uint32_t kOutside = FiberTracks::kOutside;
  static constexpr uint32_t kUnknown = FiberTracks::kUnknown;

  Fiber& fiber() { return tracks_[index_]; }
  void moveTo(uint32_t index);
  bool isOwnCode() const { return isOnFiber() && tracks_[index_].number == 0; }
  bool isWaiting() const;
  void wait(const RecordedEvent& event);
  void showTask();
  void arrive(const RecordedEvent& event);

  RecordedNames& names_;
  FiberTracks& tracks_;
  const bool isOutside_;  // at the beginning
  uint32_t index_ = kUnknown;
  bool isBound_ = false;  // and no worker thread
};

}  // namespace weft::inline v0_1::detail::inspect
