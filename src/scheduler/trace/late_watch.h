// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "os/clock_reading.h"

namespace weft::inline v0_1::detail {

class TraceEvents;

// Config::longestRun is of runs, Config::longestWake of wakes and timers.
enum class LateKind : uint8_t { Run, Wake, Timer };

// A worker, by its number or by its thread.
struct WorkerName {
  int32_t number = -1;    // -1: of a bound thread
  int32_t threadId = -1;  // the system's
};

// What ran on a worker in one go.
struct WorkerRun {
  const void* task = nullptr;  // its code
  uint64_t began = 0;          // ticks()
  uint64_t ended = 0;          // 0: not yet
};

// Something that took longer than trace::Config allows.
struct Lateness {
  using Nanoseconds = std::chrono::nanoseconds;

  LateKind kind = LateKind::Run;
  Nanoseconds duration{};
  const void* task = nullptr;  // the code of the task that was late; null: of no task
  WorkerName worker;
  // Of a wake or a timer: what ran on the worker for so much of the duration, at least half; null: not known.
  const void* blocker = nullptr;
  Nanoseconds blockedFor{};
};

// Looks whether recorded runs, wakes and timers take longer than trace::Config allows. The first that does
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
  void begin(Nanoseconds longestRun, Nanoseconds longestWake, Nanoseconds interval) noexcept;
  void end() noexcept { begin({}, {}, {}); }

  bool hasLimit(LateKind kind) const {
    // relaxed: a hint.
    return fewestTicks_[indexOf(kind)].load(std::memory_order_relaxed) != kNoLimit;
  }
  bool hasLimit() const { return hasLimit(LateKind::Run) || hasLimit(LateKind::Wake); }
  // Whether so many ticks may be too many. A recorded worker.
  bool mayBeLate(LateKind kind, uint64_t ticks) const {
    // relaxed: what looks then takes a closer one.
    return ticks >= fewestTicks_[indexOf(kind)].load(std::memory_order_relaxed);
  }

  // Look closely, on the thread of the worker. Its number: -1 for a bound thread. What is late is marked in
  // `events`.
  [[gnu::cold, gnu::noinline]] void lookAtRun(const WorkerRun& run, int worker, TraceEvents& events) noexcept;
  // A fiber with that task goes on now, so many ticks after it was woken, or after the time that it waited
  // for. `before`: what the worker has run just before.
  // Returns: whether that is too late.
  [[gnu::cold, gnu::noinline]] bool lookAtWake(uint64_t ticks, const void* task, const WorkerRun& before,
                                               int worker, TraceEvents& events) noexcept;
  [[gnu::cold, gnu::noinline]] bool lookAtTimer(std::chrono::steady_clock::time_point due, const void* task,
                                                const WorkerRun& before, int worker,
                                                TraceEvents& events) noexcept;

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
  // Forgets the wake. Returns: how many ticks ago it was; 0 if none is known.
  uint64_t takeWake(const void* fiber, uint64_t now) {
    std::atomic<uint64_t>& place = placeOf(fiber);
    const uint64_t wake = place.load(std::memory_order_relaxed);
    if (!isOf(fiber, wake)) {
      return 0;
    }
    place.store(0, std::memory_order_relaxed);
    return uint64_t{static_cast<uint32_t>(wakeOf(fiber, now) - wake)} << kWakeShift;
  }

  // The dump's thread: what is late, and that it was told.
  const Lateness& late() const { return late_; }
  void finish() noexcept;

 private:
  static constexpr int indexOf(LateKind kind) { return kind == LateKind::Run ? 0 : 1; }
  bool look(Lateness late, const WorkerRun& before, const ClockReading& now, TraceEvents& events) noexcept;
  void noteBlocker(Lateness& late, const WorkerRun& before, const ClockReading& now) const;
  Nanoseconds durationOf(uint64_t ticks, const ClockReading& now) const;

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

// What a worker runs, while it is recorded and lateWatch has limits. Its thread.
class RunWatch {
 public:
  // A task begins or goes on.
  void begin(uint64_t now) {
    run_.began = now;
    run_.ended = 0;
  }
  // The worker may run something else now. Returns: whether the run may have been too long.
  bool end(const void* task, uint64_t now) {
    if (run_.ended != 0) {
      return false;
    }
    run_.task = task;
    run_.ended = now;
    return lateWatch.mayBeLate(LateKind::Run, now - run_.began);
  }
  // It is not known since when the task runs, if any does.
  void forget() { run_ = {.task = nullptr, .began = 1, .ended = 1}; }

  // The one that has ended last, until another one begins.
  const WorkerRun& run() const { return run_; }

 private:
  WorkerRun run_{.task = nullptr, .began = 1, .ended = 1};
};

// Has the dump's thread write a file for lateWatch. Returns: false if there is no such thread. Defined in
// scheduler/core.
bool requestLateDump() noexcept;

// Called when events begin to be recorded. `path`: where those are written to that something asks for that
// happens, or null. `isThreadWanted`: whether that may be lateWatch. Defined in scheduler/core.
void prepareTriggers(const char* path, bool isThreadWanted);

}  // namespace weft::inline v0_1::detail
