// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Skynet: a task makes ten tasks, which make ten each, down to a million leaves that return their number; the
// sums travel back up. 1,111,111 tasks in all, each of which waits for ten others or does nothing.

#pragma once

#include <cstdint>

#include "../common/harness.h"

namespace skynet {

constexpr int kWays = 10;

inline int64_t leaves(const bench::Run& run) { return run.size<int64_t>(1000000, 1000); }

inline int64_t expected(int64_t leaves) { return leaves * (leaves - 1) / 2; }

// Measures `compute(first, leaves)`.
template <class F>
void measure(bench::Run& run, F&& compute, int repeats = 3) {
  int64_t n = leaves(run);
  int64_t result = 0;
  double ns = run.medianNs([&] { result = compute(0, n); }, repeats);
  bench::check(result == expected(n), "skynet");
  run.metric("ms", ns / 1e6);
}

inline int64_t total(const int64_t (&sums)[kWays]) {
  int64_t sum = 0;
  for (int64_t s : sums) {
    sum += s;
  }
  return sum;
}

}  // namespace skynet
