// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/trace/late_watch.h"

#include <unistd.h>

#include <algorithm>

#include "scheduler/trace/recorder.h"

namespace weft::inline v0_1::detail {

constinit LateWatch lateWatch;

void LateWatch::begin(Nanoseconds longestRun, Nanoseconds longestWake, Nanoseconds interval) noexcept {
  if (first_.ticks == 0) {
    first_ = ClockReading::at(TimePoint::clock::now());
  }
  // relaxed, all: who mixes an old value with a new one writes a file too many, or none.
  interval_.store(interval.count(), std::memory_order_relaxed);
  nextAt_.store(0, std::memory_order_relaxed);
  const auto fewest = static_cast<uint64_t>(longestRun.count() / kMostNanosecondsPerTick);
  fewestTicks_.store(longestRun.count() != 0 ? fewest : kNoLimit, std::memory_order_relaxed);
  const Nanoseconds wanted[] = {longestRun, longestWake};
  for (int kind = 0; kind < 2; ++kind) {
    // (1) release: `first_` was read; pairs with (2), (3).
    limits_[kind].store(wanted[kind].count(), std::memory_order_release);
  }
}

LateWatch::Nanoseconds LateWatch::durationOf(uint64_t ticks, const ClockReading& now) const {
  const auto spanTicks = static_cast<double>(now.ticks - first_.ticks);
  const auto span = static_cast<double>(now.nanoseconds - first_.nanoseconds);
  return Nanoseconds(static_cast<int64_t>(static_cast<double>(ticks) * span / spanTicks));
}

void LateWatch::lookAtRun(const WorkerRun& run, int worker, TraceEvents& events) noexcept {
  // (2) acquire: sees `first_`; pairs with (1).
  const int64_t limit = limits_[indexOf(LateKind::Run)].load(std::memory_order_acquire);
  if (run.task == nullptr || limit == 0) {
    return;
  }
  const ClockReading now = ClockReading::at(TimePoint::clock::now());
  const Nanoseconds duration = durationOf(run.ended - run.began, now);
  if (duration.count() >= limit) {
    tell({LateKind::Run, duration, run.task, {worker}}, {}, now, events);
  }
}

bool LateWatch::lookAtDelay(LateKind kind, Nanoseconds delay, const void* task, const WorkerRun& before,
                            int worker, TraceEvents& events) noexcept {
  // (3) acquire: sees `first_`; pairs with (1).
  const int64_t limit = limits_[indexOf(kind)].load(std::memory_order_acquire);
  if (limit == 0 || delay.count() < limit) {
    return false;
  }
  tell({kind, delay, task, {worker}}, before, ClockReading::at(TimePoint::clock::now()), events);
  return true;
}

// The run that ended last is blamed if it makes up half of the time or more.
void LateWatch::noteBlocker(Lateness& late, const WorkerRun& before, const ClockReading& now) const {
  const Nanoseconds sinceBegan = std::min(durationOf(now.ticks - before.began, now), late.duration);
  const Nanoseconds held = sinceBegan - durationOf(now.ticks - before.ended, now);
  if (before.task != nullptr && held >= late.duration / 2) {
    late.blocker = before.task;
    late.blockedFor = held;
  }
}

void LateWatch::tell(Lateness late, const WorkerRun& before, const ClockReading& now,
                     TraceEvents& events) noexcept {
  events.add(TraceKind::Mark, late.kind == LateKind::Run ? "longer than trace::Config::longestRun"
                                                         : "longer than trace::Config::longestWake");
  // (4) acquire: the telling before is over; pairs with (5). relaxed: see finish().
  if (now.nanoseconds >= nextAt_.load(std::memory_order_relaxed) &&
      !isTelling_.exchange(true, std::memory_order_acquire)) {
    noteBlocker(late, before, now);
    late.worker.threadId = gettid();
    late_ = late;
    // Without a thread nothing is told from now on.
    (void)requestLateDump();
  }
}

void LateWatch::finish() noexcept {
  // relaxed, both: a worker that sees an old value finds isTelling_ true, or comes as much too early as that.
  const int64_t now = TimePoint::clock::now().time_since_epoch().count();
  nextAt_.store(now + interval_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  // (5) release: `late_` was read; pairs with (4).
  isTelling_.store(false, std::memory_order_release);
}

}  // namespace weft::inline v0_1::detail
