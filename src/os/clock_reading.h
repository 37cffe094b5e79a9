// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>

#include "weft/detail/port/processor.h"

namespace weft::inline v0_1::detail {

// A point in time for reports: ticks() in units of 0.4 ms to 1 ms. Comes round after some weeks.
inline constexpr int kCoarseShift = 20;
using CoarseTime = uint32_t;
inline constexpr CoarseTime kNotYet = 0;  // no time
constexpr CoarseTime coarseTime(uint64_t time) { return static_cast<CoarseTime>(time >> kCoarseShift); }

// ticks() and steady_clock, read together. Two readings tell how fast ticks() runs.
struct ClockReading {
  uint64_t ticks = 0;
  int64_t nanoseconds = 0;

  static ClockReading at(std::chrono::steady_clock::time_point now) {
    return {port::ticks(), now.time_since_epoch().count()};
  }
  static ClockReading now() { return at(std::chrono::steady_clock::now()); }
};

// Between two readings. If they are too close to each other, or in no order, it is the port's guess: a reader
// of another process has no rate of its own.
inline double nanosecondsPerTick(const ClockReading& first, const ClockReading& last) {
  constexpr int64_t kLongEnough = 100'000;
  if (last.nanoseconds - first.nanoseconds < kLongEnough || last.ticks <= first.ticks) {
    return 1000.0 / double{port::kTicksPerMicrosecond};
  }
  return static_cast<double>(last.nanoseconds - first.nanoseconds) /
         static_cast<double>(last.ticks - first.ticks);
}

}  // namespace weft::inline v0_1::detail
