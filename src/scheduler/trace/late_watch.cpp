// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/trace/late_watch.h"

#include "scheduler/trace/recorder.h"

namespace weft::inline v0_1::detail {

constinit LateWatch lateWatch;

void LateWatch::begin(Nanoseconds longestTask, Nanoseconds longestWake, Nanoseconds interval) noexcept {
  if (first_.ticks == 0) {
    first_ = ClockReading::at(TimePoint::clock::now());
  }
  // relaxed, all: who mixes an old value with a new one writes a file too many, or none.
  interval_.store(interval.count(), std::memory_order_relaxed);
  nextAt_.store(0, std::memory_order_relaxed);
  const int64_t wanted[] = {longestTask.count(), longestWake.count()};
  for (int kind = 0; kind < 2; ++kind) {
    limits_[kind].store(wanted[kind], std::memory_order_relaxed);
    const auto fewest = static_cast<uint64_t>(wanted[kind] / kMostNanosecondsPerTick);
    // (1) release: `first_` was read; pairs with (2).
    fewestTicks_[kind].store(wanted[kind] > 0 ? fewest : kNoLimit, std::memory_order_release);
  }
}

void LateWatch::look(LateKind kind, uint64_t ticks, const void* task) noexcept {
  // (2) acquire: sees `first_`; pairs with (1).
  if (fewestTicks_[static_cast<int>(kind)].load(std::memory_order_acquire) == kNoLimit) {
    return;
  }
  const ClockReading now = ClockReading::at(TimePoint::clock::now());
  const auto spanTicks = static_cast<double>(now.ticks - first_.ticks);
  const auto span = static_cast<double>(now.nanoseconds - first_.nanoseconds);
  const auto duration = static_cast<int64_t>(static_cast<double>(ticks) * span / spanTicks);
  // relaxed, both: see begin() and finish().
  if (duration < limits_[static_cast<int>(kind)].load(std::memory_order_relaxed)) {
    return;
  }
  TraceEvents().add(TraceKind::Mark, kind == LateKind::Task ? "longer than trace::Config::longestTask"
                                                            : "longer than trace::Config::longestWake");
  // (3) acquire: the telling before is over; pairs with (4).
  if (now.nanoseconds >= nextAt_.load(std::memory_order_relaxed) &&
      !isTelling_.exchange(true, std::memory_order_acquire)) {
    late_ = {kind, Nanoseconds(duration), task};
    // Without a thread nothing is told from now on.
    (void)requestLateDump();
  }
}

void LateWatch::finish() noexcept {
  // relaxed, both: a worker that sees an old value finds isTelling_ true, or comes as much too early as that.
  const int64_t now = TimePoint::clock::now().time_since_epoch().count();
  nextAt_.store(now + interval_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  // (4) release: `late_` was read; pairs with (3).
  isTelling_.store(false, std::memory_order_release);
}

}  // namespace weft::inline v0_1::detail
