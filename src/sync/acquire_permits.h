// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <stop_token>

#include "weft/detail/base/deadline.h"
#include "weft/detail/wait/semaphore_core.h"

namespace weft::inline v0_1::detail {

// What permits are for, in reports.
struct PermitsFor {
  const char* what;
  const void* object;
};

// Takes `count` permits, or waits for them, until `deadline` or a stop of `token`.
// Requires: 0 < count < SemaphoreCore<>::kMax. Returns: whether it took them.
bool acquirePermits(SemaphoreCore<>& core, uint32_t count, TimePoint deadline, const std::stop_token& token,
                    PermitsFor use);

}  // namespace weft::inline v0_1::detail
