// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>

// What include/weft/detail/base/ticks.h declares, by the model's clock.
namespace weft::detail {

inline uint64_t ticks() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

inline constexpr float kTicksPerMicrosecond = 1000;

constexpr uint64_t ticksIn(uint64_t microseconds) { return microseconds * 1000; }

}  // namespace weft::detail
