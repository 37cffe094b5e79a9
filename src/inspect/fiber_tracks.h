// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inspect/open_slices.h"
#include "inspect/recorded_events.h"
#include "inspect/thread_label.h"
#include "inspect/timeline_parts.h"
#include "inspect/timeline_writer.h"
#include "inspect/track_pen.h"

namespace weft::inline v0_1::detail::inspect {

// The fibers of one thread, and the slices that are open on their tracks.
//
// Before addTracks() nothing is written. Slices that end without having begun are then found: they are those
// that openEarlier() begins afterwards.
class FiberTracks {
 public:
  struct Fiber {
    enum class Task : uint8_t { Unknown, HadNone, HadOne };  // at the beginning

    // What ends on it later has not begun before the recording.
    void hadNothing() {
      mayEndEarlier = false;
      if (firstTask == Task::Unknown) {
        firstTask = Task::HadNone;
      }
    }

    uint64_t number = 0;
    uint32_t track = 0;  // 0: none, since there is nothing to show
    uint32_t part = 0;   // of the task: how often it has run
    OpenSlices::Stack open;
    OpenSlices::Stack earlier;  // slices that were open at the beginning, the outermost one on top
    Task firstTask = Task::Unknown;
    bool isShown = false;
    bool isSeen = false;
    bool wasSuspended = false;  // at the beginning
    bool mayEndEarlier = true;  // a slice that ends without a beginning may be of the time before
    uint64_t changedAt = 0;     // the time of the newest event on its track
    uint64_t dueAt = kNoTime;   // when the time limit of its wait was over, if that has ended the wait
    std::string_view earlierTask;
    std::string_view task;  // the name
    std::string_view name;  // which the program has given it
  };

  // Indices of what is no fiber with a number.
  static constexpr uint32_t kOutside = 0;  // the thread's code while it has no scheduler; on its own track
  static constexpr uint32_t kUnknown = 1;  // on which the thread was before the first FiberResumed
  static constexpr uint32_t kFirstFiber = 2;

  FiberTracks(TimelineParts& parts, const TrackPen& pen);

  // Returns: the index of the fiber with that number.
  uint32_t indexOf(uint64_t number);
  Fiber& operator[](uint32_t index) { return fibers_[index]; }
  const Fiber& operator[](uint32_t index) const { return fibers_[index]; }

  // The thread's events come, or come again. Requires: no slice is open.
  void restart();
  // Adds a track for each fiber that has something to show.
  void addTracks(const TimelineTrack& ofThread, const ThreadLabel& label);
  // Begins the slices that were open at the beginning. `wasIdle`: the thread was.
  void openEarlier(bool wasIdle);
  void closeAll();

  void mark(Fiber& fiber, std::string_view name);
  void push(Fiber& fiber, SliceKind kind, std::string_view name,
            std::span<const TimelineArgument> arguments = {});
  // Requires: a slice is open.
  void pop(Fiber& fiber);
  // Ends the innermost slice of that kind, and what is open in it.
  void popThrough(Fiber& fiber, SliceKind kind);
  void popAll(Fiber& fiber);

  // The time limit of that fiber's wait was over at `due`.
  void noteTimer(uint64_t number, uint64_t due);
  // The fiber goes on, or the recording ends. If it waits, its wait ends where it was woken or its time limit
  // was over, and a slice `ready` begins there. `wokenAt`: the time of the last wake, or kNoTime.
  void becomeReady(Fiber& fiber, uint64_t wokenAt);
  // The recording ends. `thread`: the number of the thread, as in Woke.
  void becomeReady(uint32_t thread);
  bool isInnermost(const Fiber& fiber, SliceKind kind) const {
    return !fiber.open.isEmpty() && slices_.top(fiber.open) == kind;
  }

  // Returns: what a slice of that kind is called of which the beginning is not known.
  static std::string_view earlierName(SliceKind kind);

 private:
  void addTrack(Fiber& fiber, const ThreadLabel& label);
  void openEarlier(Fiber& fiber);
  void pushEarlier(Fiber& fiber, SliceKind kind);
  TimelineTrack trackOf(const Fiber& fiber) const;

  TimelineParts& parts_;
  const TrackPen& pen_;
  OpenSlices slices_;
  OpenSlices earlier_;
  std::pmr::vector<Fiber> fibers_;
  std::pmr::unordered_map<uint64_t, uint32_t> byNumber_;
  TimelineTrack threadTrack_;
};

}  // namespace weft::inline v0_1::detail::inspect
