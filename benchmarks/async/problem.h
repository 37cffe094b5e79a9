// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What does it cost to have an empty task run and to wait for it, from a task, again and again?
//
//   one         one task at a time: started, then waited for
//   value       the same, with a number as its result
//   then        one task and one continuation, whose result is waited for
//
// The figure is compared with oneTBB's run() and wait() of a task_group with one task.

#pragma once

#include <cstdint>

#include "../common/harness.h"

namespace async {

// Measures once(sum), which adds 1 to `sum` by way of a task.
template <class F>
void measure(bench::Run& run, F&& once) {
  const int64_t n = run.size<int64_t>(1000000, 500);
  double ns = run.medianNs([&] {
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
      once(sum);
    }
    bench::check(sum == n, "async");
  });
  run.metric("ns_per_task", ns / static_cast<double>(n));
}

}  // namespace async
