// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
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
// Runs are timed in ticks(). How fast these run is known only after a while. So a worker compares a run with
// a number of ticks that is certainly too small, and only where that is exceeded reads the clock.
class LateWatch {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  // 0: no limit. Requires: the recorder's mutex is held.
  void begin(Nanoseconds longestRun, Nanoseconds longestWake, Nanoseconds interval) noexcept;
  void end() noexcept { begin({}, {}, {}); }

  // relaxed, all: hints.
  bool hasRunLimit() const { return fewestTicks_.load(std::memory_order_relaxed) != kNoLimit; }
  bool hasWakeLimit() const { return limits_[indexOf(LateKind::Wake)].load(std::memory_order_relaxed) != 0; }
  // Whether to look closely at a run of so many ticks, or at a wake so long ago. A recorded worker.
  bool mayBeLate(uint64_t ticks) const { return ticks >= fewestTicks_.load(std::memory_order_relaxed); }
  bool mayBeLate(Nanoseconds sinceWake) const {
    return sinceWake.count() >= limits_[indexOf(LateKind::Wake)].load(std::memory_order_relaxed);
  }

  // Look closely, on the thread of the worker. Its number: -1 for a bound thread. What is late is marked in
  // `events`.
  [[gnu::cold, gnu::noinline]] void lookAtRun(const WorkerRun& run, int worker, TraceEvents& events) noexcept;
  // A fiber with that task goes on now, so long after it was woken, or after the time that it waited for:
  // `kind`. `before`: what the worker has run just before.
  // Returns: whether that is too late.
  [[gnu::cold, gnu::noinline]] bool lookAtDelay(LateKind kind, Nanoseconds delay, const void* task,
                                                const WorkerRun& before, int worker,
                                                TraceEvents& events) noexcept;

  // The dump's thread: what is late, and that it was told.
  const Lateness& late() const { return late_; }
  void finish() noexcept;

 private:
  static constexpr int indexOf(LateKind kind) { return kind == LateKind::Run ? 0 : 1; }
  void tell(Lateness late, const WorkerRun& before, const ClockReading& now, TraceEvents& events) noexcept;
  void noteBlocker(Lateness& late, const WorkerRun& before, const ClockReading& now) const;
  Nanoseconds durationOf(uint64_t ticks, const ClockReading& now) const;

  static constexpr uint64_t kNoLimit = ~uint64_t{0};
  static constexpr int64_t kMostNanosecondsPerTick = 8;

  std::atomic<uint64_t> fewestTicks_{kNoLimit};  // of a run
  std::atomic<int64_t> limits_[2]{};             // nanoseconds; 0: no limit
  std::atomic<int64_t> interval_{0};
  std::atomic<int64_t> nextAt_{0};
  std::atomic<bool> isTelling_{false};
  Lateness late_;
  ClockReading first_;  // of the first begin()
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
    return lateWatch.mayBeLate(now - run_.began);
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
