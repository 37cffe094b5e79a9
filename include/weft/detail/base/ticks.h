// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/port/processor.h"
#include "weft/export.h"

namespace weft::inline v0_1::detail {

// A rough clock for intervals of microseconds, at half the cost of the system's clock.
using port::ticks;

// See ticksPerMicrosecond(). The port's guess at first. calibrateTicks() stores what it has measured, once.
WEFT_EXPORT extern std::atomic<float> tickRate;

// Returns: how fast ticks() runs. It is known to a few percent once a scheduler has been made, and a guess
// before. Whoever must have one rate for all calls asks once.
inline float ticksPerMicrosecond() {
  return tickRate.load(std::memory_order_relaxed);  // relaxed: a number, which nothing else depends on
}

// Returns: about how many ticks() the microseconds take.
inline uint64_t ticksIn(uint64_t microseconds) {
  return static_cast<uint64_t>(
      static_cast<int64_t>(static_cast<float>(microseconds) * ticksPerMicrosecond()));
}
// Returns: about how many microseconds the ticks took.
inline float microsecondsIn(uint64_t ticks) { return static_cast<float>(ticks) / ticksPerMicrosecond(); }

}  // namespace weft::inline v0_1::detail
