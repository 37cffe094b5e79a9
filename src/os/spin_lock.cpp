// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/base/spin_lock.h"

#include <sched.h>
#include <time.h>

#include "os/relax.h"
#include "weft/detail/base/sync.h"

namespace weft::detail {
namespace {

struct System {
  static void pause() { StdSync::pause(); }
  static void yield() { sched_yield(); }
  // Unlike nanosleep(), this leaves errno alone.
  static void sleepBriefly() {
    const timespec time{0, 50'000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
  }
};

}  // namespace

void relax(uint32_t& round) noexcept { relaxBy(round, System()); }

}  // namespace weft::detail
