// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/sync.h"
#include "weft/detail/base/ticks.h"

namespace weft::inline v0_1::detail {

// Returns: whether ticks() always goes on at one rate, also while the processor sleeps or changes its speed.
bool areTicksSteady();

// The system's clock, and the processor's counter of ticks.
struct MachineClock {
  static TimePoint now() { return TimePoint::clock::now(); }
  static uint64_t ticks() { return detail::ticks(); }
  static bool isSteady() { return areTicksSteady(); }
};

}  // namespace weft::inline v0_1::detail
