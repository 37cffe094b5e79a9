// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/base/spin_lock.h"

#include <sched.h>

#include "weft/detail/base/sync.h"

namespace weft::detail {

void relax(uint32_t& round) noexcept {
  // About as long as a preempted holder's neighbours run on. The system should end longer waits.
  constexpr uint32_t kPauses = 64;
  if (round++ < kPauses) {
    StdSync::pause();
  } else {
    sched_yield();
  }
}

}  // namespace weft::detail
