// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What does it cost to call two functions, which do next to nothing, in parallel? From one task, again and
// again.
//
//   two   a pair of functions, one of which the caller may run itself
//
// The figure is compared with oneTBB's spawn of an empty task (spawn/tbb.cpp, workload task), and with its
// parallel_invoke.

#pragma once

#include <atomic>
#include <cstdint>

#include "../common/harness.h"

namespace parallelize {

// Each counts on a line of its own.
struct Counts {
  alignas(64) int64_t first = 0;
  alignas(64) int64_t second = 0;
};

// Measures both(counts), which runs the pair once.
template <class F>
void measure(bench::Run& run, F&& both) {
  const int64_t n = run.size<int64_t>(500000, 500);
  double ns = run.medianNs([&] {
    Counts counts;
    for (int64_t i = 0; i < n; i++) {
      both(counts);
    }
    bench::check(counts.first == n && counts.second == n, "parallelize");
  });
  run.metric("ns_per_call", ns / static_cast<double>(n));
}

}  // namespace parallelize
