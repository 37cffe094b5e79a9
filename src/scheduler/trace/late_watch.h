// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "os/clock_reading.h"

namespace weft::inline v0_1::detail {

enum class LateKind : uint8_t { Task, Wake };

// Something that took longer than trace::Config allows.
struct Lateness {
  LateKind kind = LateKind::Task;
  std::chrono::nanoseconds duration{};
  const void* task = nullptr;  // the code of the task that was late; null: of no task
};

// Looks whether recorded tasks and wakes take longer than trace::Config allows. The first that does
// has the dump's thread write the recorder's events. What is late until that is done, and within
// Config::dumpInterval after it, is not told.
//
//   a worker                              the dump's thread
//   L1 isTelling_ from false to true      T1 gets the request
//   L2 late_ = ...                        T2 reads late_, and writes the file
//   L3 requests a dump                    T3 nextAt_ = ..., isTelling_ = false
//
// Only who has set isTelling_ touches late_, until it is false again.
//
// How fast ticks() runs is known only after a while. So a worker compares with a number of ticks that is
// certainly too small, and only where that is exceeded reads the clock.
class LateWatch {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  // 0: no limit. Requires: the recorder's mutex is held.
  void begin(Nanoseconds longestTask, Nanoseconds longestWake, Nanoseconds interval) noexcept;
  void end() noexcept { begin({}, {}, {}); }

  bool hasLimit(LateKind kind) const {
    // relaxed: a hint.
    return fewestTicks_[static_cast<int>(kind)].load(std::memory_order_relaxed) != kNoLimit;
  }
  bool hasLimit() const { return hasLimit(LateKind::Task) || hasLimit(LateKind::Wake); }
  // Whether so many ticks may be too many. A recorded worker.
  bool mayBeLate(LateKind kind, uint64_t ticks) const {
    // relaxed: look() takes a closer one.
    return ticks >= fewestTicks_[static_cast<int>(kind)].load(std::memory_order_relaxed);
  }
  [[gnu::cold, gnu::noinline]] void look(LateKind kind, uint64_t ticks, const void* task) noexcept;

  // When fibers were woken. Of fibers that share a place, only the newest wake is known. Any thread. The
  // address of its control block names a fiber, which may be gone.
  void noteWake(const void* fiber, uint64_t now) {
    placeOf(fiber).store(wakeOf(fiber, now), std::memory_order_relaxed);
  }
  void forgetWake(const void* fiber) {
    std::atomic<uint64_t>& place = placeOf(fiber);
    if (isOf(fiber, place.load(std::memory_order_relaxed))) {
      place.store(0, std::memory_order_relaxed);
    }
  }
  // Returns: so many ticks; 0 if no wake is known.
  uint64_t sinceWake(const void* fiber, uint64_t now) {
    const uint64_t wake = placeOf(fiber).load(std::memory_order_relaxed);
    return isOf(fiber, wake) ? uint64_t{static_cast<uint32_t>(wakeOf(fiber, now) - wake)} << kWakeShift : 0;
  }

  // The dump's thread: what is late, and that it was told.
  const Lateness& late() const { return late_; }
  void finish() noexcept;

 private:
  static constexpr uint64_t kNoLimit = ~uint64_t{0};
  static constexpr int64_t kMostNanosecondsPerTick = 8;

  // A wake is the middle of the fiber's address, and the time in units of 0.25 us to 1 us, which comes round
  // after a quarter of an hour or more.
  static constexpr int kWakeShift = 10;
  static constexpr size_t kNumWakes = 4096;
  static uint64_t nameOf(const void* fiber) { return (reinterpret_cast<uintptr_t>(fiber) >> 6) << 32; }
  static bool isOf(const void* fiber, uint64_t wake) { return wake >> 32 == nameOf(fiber) >> 32; }
  static uint64_t wakeOf(const void* fiber, uint64_t ticks) {
    return nameOf(fiber) | static_cast<uint32_t>(ticks >> kWakeShift);
  }
  std::atomic<uint64_t>& placeOf(const void* fiber) {
    return wakes_[(reinterpret_cast<uintptr_t>(fiber) >> 6) * 0x9e3779b97f4a7c15 >> 52];
  }

  std::atomic<uint64_t> fewestTicks_[2]{kNoLimit, kNoLimit};
  std::atomic<int64_t> limits_[2]{};  // nanoseconds
  std::atomic<int64_t> interval_{0};
  std::atomic<int64_t> nextAt_{0};
  std::atomic<bool> isTelling_{false};
  Lateness late_;
  ClockReading first_;  // of the first begin()
  // relaxed, all: a wake that is seen too late, or whose place has got another one, is not looked at.
  std::atomic<uint64_t> wakes_[kNumWakes]{};
};
extern constinit LateWatch lateWatch;

// Has the dump's thread write a file for lateWatch. Returns: false if there is no such thread. Defined in
// scheduler/core.
bool requestLateDump() noexcept;

// Called when events begin to be recorded. `path`: where those are written to that something asks for that
// happens, or null. `isThreadWanted`: whether that may be lateWatch. Defined in scheduler/core.
void prepareTriggers(const char* path, bool isThreadWanted);

}  // namespace weft::inline v0_1::detail
