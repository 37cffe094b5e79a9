// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#if !defined(__x86_64__)
#include <chrono>
#endif

namespace weft::inline v0_1::detail {

// A rough clock for intervals of microseconds, at half the cost of the system's clock.
inline uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

#if defined(__x86_64__)
inline constexpr float kTicksPerMicrosecond = 2500;
#else
inline constexpr float kTicksPerMicrosecond = 1000;
#endif

// Returns: about how many ticks() the microseconds take.
constexpr uint64_t ticksIn(uint64_t microseconds) {
  return microseconds * static_cast<uint64_t>(kTicksPerMicrosecond);
}

// A point in time for reports: ticks() in units of 0.4 ms to 1 ms. Comes round after some weeks.
inline constexpr int kCoarseShift = 20;
using CoarseTime = uint32_t;
inline constexpr CoarseTime kNotYet = 0;
constexpr CoarseTime coarseTime(uint64_t time) { return static_cast<CoarseTime>(time >> kCoarseShift); }

}  // namespace weft::inline v0_1::detail
