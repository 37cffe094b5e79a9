// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the oneTBB programs share.

#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <cstdint>
#include <utility>

#include "harness.h"

namespace bench {

// Calls `f` on this thread with `workers` threads in all to run its tasks, this one included.
template <class F>
void inArena(int workers, F&& f) {
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(workers));
  tbb::task_arena arena(workers);
  arena.execute(std::forward<F>(f));
}

// Calls `f(arena)` with an arena of `workers` threads that this thread is no part of.
template <class F>
void besideArena(int workers, F&& f) {
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(workers) + 1);
  tbb::task_arena arena(workers, 0);
  f(arena);
}

// Spawns `n` tasks that count, and waits for them.
inline void spawnCounted(int64_t n) {
  std::atomic<int64_t> left{n};
  tbb::task_group group;
  for (int64_t i = 0; i < n; i++) {
    group.run([&left] { left.fetch_sub(1, std::memory_order_acq_rel); });
  }
  group.wait();
  check(left.load() == 0, "spawn");
}

}  // namespace bench
