// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/port/processor.h"

namespace weft::inline v0_1::detail {

// A rough clock for intervals of microseconds, at half the cost of the system's clock.
using port::kTicksPerMicrosecond;
using port::ticks;

// Returns: about how many ticks() the microseconds take.
constexpr uint64_t ticksIn(uint64_t microseconds) {
  return microseconds * static_cast<uint64_t>(kTicksPerMicrosecond);
}

}  // namespace weft::inline v0_1::detail
