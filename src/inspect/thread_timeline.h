// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inspect/open_slices.h"
#include "inspect/recorded_events.h"
#include "inspect/recording.h"
#include "inspect/text.h"
#include "inspect/timeline_parts.h"
#include "inspect/timeline_writer.h"
#include "inspect/wake_arrows.h"

namespace weft::inline v0_1::detail::inspect {

// The tracks of one thread and its fibers.
//
// It goes through the events twice. The first look writes nothing. It finds the fibers and the names, and
// which slices end without having begun: those are open from the beginning in the second look, which writes.
class ThreadTimeline {
 public:
  ThreadTimeline(TimelineParts& parts, uint32_t thread);

  // May throw std::bad_alloc. Then all slices that were begun are ended.
  void write();

 private:
  struct Fiber {
    enum class Task : uint8_t { Unknown, HadNone, HadOne };  // at the beginning

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
    std::string_view earlierTask;
    std::string_view task;  // the name
    std::string_view name;  // which the program has given it
  };

  // Fibers that are none.
  static constexpr uint32_t kOutside = 0;  // the thread's code while it has no scheduler; on its own track
  static constexpr uint32_t kUnknown = 1;  // on which the thread was before the first FiberResumed
  static constexpr uint32_t kFirstFiber = 2;

  enum class Inner : uint8_t { None, Asleep, Searching };

  void look();
  void beginLook();
  bool beginsOutside() const;
  uint32_t fiber(uint64_t number);

  void addTracks();
  void writeThreadName(Text& out) const;
  void writeLabel(Text& out) const;
  void noteOverwritten();
  void openEarlier();
  void openEarlier(Fiber& fiber);
  void pushEarlier(Fiber& fiber, SliceKind kind);
  void closeAll();

  void take(const RecordedEvent& event);
  void takeBinding(const RecordedEvent& event);
  void takeSwitch(const RecordedEvent& event);
  void takeIdle(const RecordedEvent& event);
  void takeInner(TraceKind kind);
  void takeTask(const RecordedEvent& event);
  void takeScope(const RecordedEvent& event);
  void takeInstant(const RecordedEvent& event);
  void takeProgram(const RecordedEvent& event);

  // The thread's own track.
  void openRun(const WakeArrows::Arrow& arrow = {});
  void closeRun();
  void openIdle();
  void closeIdle();
  void openInner(Inner inner);
  void closeInner();

  // The current fiber.
  Fiber& current() { return fibers_[current_]; }
  void moveTo(uint32_t fiber);
  static void hadNothing(Fiber& fiber);
  bool isWaiting() const {
    const Fiber& fiber = fibers_[current_];
    return !fiber.open.isEmpty() && slices_.top(fiber.open) == SliceKind::Wait;
  }
  void stopWaiting();
  void goOn(const WakeArrows::Arrow& arrow = {});
  void wait(const RecordedEvent& event);
  void showTask();
  void arrive(const RecordedEvent& event);
  void noteIdle(bool wasIdle);
  WakeArrows::Arrow arrowTo(const RecordedEvent& event);

  void push(Fiber& fiber, SliceKind kind, std::string_view name, std::string_view category,
            std::span<const TimelineArgument> arguments = {});
  void pop(Fiber& fiber);
  void popThrough(Fiber& fiber, SliceKind kind);
  void popAll(Fiber& fiber);
  void instant(const TimelineTrack& track, std::string_view name, std::span<const TimelineArgument> arguments,
               uint64_t arrow = 0);
  TimelineTrack trackOf(const Fiber& fiber) const;

  TimelineParts& parts_;
  const uint32_t index_;
  const Recording::Thread& thread_;
  OpenSlices slices_;
  OpenSlices earlier_;
  std::pmr::vector<Fiber> fibers_;
  std::pmr::unordered_map<uint64_t, uint32_t> byNumber_;
  TimelineTrack track_;
  std::string_view name_;  // which the program has given the thread

  // Found by the first look.
  bool isOutside_ = false;    // at the beginning
  bool wasIdle_ = false;      // at the beginning
  bool isIdleSeen_ = false;   // whether that is decided
  bool isInnerSeen_ = false;  // whether `firstInner_` is decided
  Inner firstInner_ = Inner::None;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  std::optional<uint64_t> worker_;  // its number plus one; 0: a bound thread

  // Of either look.
  bool isWriting_ = false;
  uint64_t now_ = 0;
  uint32_t current_ = kUnknown;
  bool isBound_ = false;  // and no worker thread
  bool isRunning_ = false;
  bool isIdle_ = false;
  bool isInner_ = false;
};

}  // namespace weft::inline v0_1::detail::inspect
