// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/base/task_batch.h"

#include <algorithm>
#include <utility>

#include "weft/detail/base/ticks.h"
#include "weft/scheduler.h"

namespace weft::inline v0_1::detail {

void TaskBatch::queue() noexcept {
  scheduler_.enqueueNodes(nodes_, std::exchange(count_, 0));
  const uint64_t now = ticks();
  const bool isFast = now - std::exchange(queuedAt_, now) < ticksIn(kMostMicroseconds);
  wanted_ = isFast ? std::min(wanted_ * 2, most_) : 1;
}

}  // namespace weft::inline v0_1::detail
