// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

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
  uint64_t ended = 0;

  uint64_t ticks() const { return ended - began; }
};

// Something that took longer than trace::Config allows.
struct Lateness {
  using Nanoseconds = std::chrono::nanoseconds;

  LateKind kind = LateKind::Run;
  Nanoseconds duration{};
  const void* task = nullptr;  // the code of the task that was late; null: of no task
  WorkerName worker;
  // Of a wake or a timer: the task of which runs held the worker for so much of the duration, at least half.
  const void* blocker = nullptr;  // its code; null: not known
  Nanoseconds blockedFor{};
  uint32_t numRuns = 0;  // in which
};

// What a worker has run, while it is recorded and lateWatch has limits. Its thread.
class RunWatch {
 public:
  // A task begins or goes on.
  void begin(uint64_t now) { began_ = now; }
  // The worker may run something else now. Returns: the run that ends; nothing if none is known.
  std::optional<WorkerRun> end(const void* task, uint64_t now);
  // It is not known since when the task runs, if any does.
  void forget() { *this = {}; }

  // Notes in `late` which task has held the worker in the time up to now, if one has for half of it.
  void noteBlocker(Lateness& late, const ClockReading& now) const;

 private:
  static constexpr size_t kMostRuns = 8;

  uint64_t began_ = 0;  // 0: nothing runs, or it is not known
  // The latest that were long enough to hold up others.
  WorkerRun runs_[kMostRuns];
  uint32_t numRuns_ = 0;  // so far
};

// Looks whether recorded runs, wakes and timers take longer than trace::Config allows. The first that does
// has the dump's thread write the recorder's events. What is late until that is done is not told. Nor is what
// exceeds one limit within Config::dumpInterval after something else did, unless it takes twice as long.
//
//   a worker                              the dump's thread
//   L1 isTelling_ from false to true      T1 gets the request
//   L2 late_ = ...                        T2 reads late_, and writes the file
//   L3 requests a dump                    T3 told_ = ..., isTelling_ = false
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

  // relaxed, all: what recorder.reading is, the worker has seen where it began to follow.
  bool hasRunLimit() const { return fewestTicks_.load(std::memory_order_relaxed) != kNoLimit; }
  bool hasWakeLimit() const { return limits_[indexOf(LateKind::Wake)].load(std::memory_order_relaxed) != 0; }
  // Whether to look closely at a run of so many ticks, or at a wake so long ago. A recorded worker.
  bool mayBeLate(uint64_t ticks) const { return ticks >= fewestTicks_.load(std::memory_order_relaxed); }
  // Whether a run may be why a wake is late.
  bool mayHoldUp(uint64_t ticks) const { return ticks >= fewestHeld_.load(std::memory_order_relaxed); }
  bool mayBeLate(Nanoseconds sinceWake) const {
    return sinceWake.count() >= limits_[indexOf(LateKind::Wake)].load(std::memory_order_relaxed);
  }

  // Look closely, on the thread of the worker. Its number: -1 for a bound thread. What is late is marked in
  // `events`.
  [[gnu::cold, gnu::noinline]] void lookAtRun(const WorkerRun& run, int worker, TraceEvents& events) noexcept;
  // A fiber with that task goes on now, so long after it was woken, or after the time that it waited for:
  // `kind`. `runs`: of the worker. Returns: whether that is too late.
  [[gnu::cold, gnu::noinline]] bool lookAtDelay(LateKind kind, Nanoseconds delay, const void* task,
                                                const RunWatch& runs, int worker,
                                                TraceEvents& events) noexcept;

  // The dump's thread: what is late, and that it was told.
  const Lateness& late() const { return late_; }
  void finish() noexcept;

 private:
  // The latest that was told of a limit.
  struct Told {
    std::atomic<int64_t> duration{0};  // nanoseconds
    std::atomic<int64_t> until{0};     // the interval behind it ends then; of TimePoint::clock
  };

  static constexpr int indexOf(LateKind kind) { return kind == LateKind::Run ? 0 : 1; }
  void tell(const Lateness& late, const RunWatch* runs, const ClockReading& now,
            TraceEvents& events) noexcept;
  bool isToBeTold(const Lateness& late, const ClockReading& now) const;

  static constexpr uint64_t kNoLimit = ~uint64_t{0};
  static constexpr int64_t kMostNanosecondsPerTick = 8;
  static constexpr int64_t kMostParts = 16;  // of a delay, which hold it up together

  // relaxed, all: who mixes an old value with a new one writes a file too many, or none.
  std::atomic<uint64_t> fewestTicks_{kNoLimit};  // of a run
  std::atomic<uint64_t> fewestHeld_{kNoLimit};   // of a run that holds up a wake
  std::atomic<int64_t> limits_[2]{};             // nanoseconds; 0: no limit
  std::atomic<int64_t> interval_{0};
  Told told_[2];
  std::atomic<bool> isTelling_{false};
  Lateness late_;
};
extern constinit LateWatch lateWatch;

}  // namespace weft::inline v0_1::detail
