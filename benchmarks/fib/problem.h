// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// fib(30) with a fork at each inner call: 1,346,268 forks of almost no work. The forked call computes fib(n -
// 1); the caller computes fib(n - 2) itself and then waits.

#pragma once

#include <cstdint>

#include "../common/harness.h"

namespace fib {

inline int argument(const bench::Run& run) { return run.size(30, 15); }

// The oracle: addition alone.
inline int64_t expected(int n) {
  int64_t a = 0, b = 1;
  for (int i = 0; i < n; i++) {
    int64_t next = a + b;
    a = b;
    b = next;
  }
  return a;
}

// Inner calls, hence forks, of the recursion.
inline double forks(int n) { return static_cast<double>(expected(n + 1) - 1); }

// Measures `compute(n)`.
template <class F>
void measure(bench::Run& run, F&& compute, int repeats = 3) {
  int n = argument(run);
  int64_t result = 0;
  double ns = run.medianNs([&] { result = compute(n); }, repeats);
  bench::check(result == expected(n), "fib");
  run.metric("ms", ns / 1e6);
  run.metric("ns_per_fork", ns / forks(n));
}

}  // namespace fib
