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

}  // namespace weft::inline v0_1::detail
