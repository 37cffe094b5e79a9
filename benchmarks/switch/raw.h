// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The bare switch between two stacks, without a scheduler, as Google Benchmark programs (raw_*.cpp): straight
// and with 2, 6 and 14 call frames above the switch on the side that is measured.

#pragma once

#include "../common/micro.h"
#include "problem.h"

namespace switching {

constexpr size_t kRawStackSize = 64 * 1024;

// `there` switches to the other side, which counts in `visits` and switches back: two switches an iteration.
template <class F>
void measureRaw(benchmark::State& state, int64_t& visits, F&& there) {
  int depth = static_cast<int>(state.range(0));
  int64_t iterations = 0;
  visits = 0;
  for (auto _ : state) {
    atDepth(depth, there);
    iterations++;
  }
  bench::check(visits == iterations, "raw switch");
  state.counters["per_iteration"] = 2;
}

}  // namespace switching
