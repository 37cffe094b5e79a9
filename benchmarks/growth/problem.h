// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// How does the cost of one thing grow with their number? A workload named WHAT-N has N of them. The others
// are measured with 1 to 64 workers, whatever the number of processors.
//
//   tasks-N     N tasks are queued before any of them runs (ns per task)
//   blocked-N   N fibers wait for one event (ns to create and block one in a second round, ns from the signal
//               until it has finished)
//   depth-N     a task that waits for a task, which waits for a task, N of them (ns per task)
//   join-N      the same by fork and join, on one stack (ns per join)
//   spawn       a million tasks from one task, at most a thousand at a time (ns per task)
//   fib         fib(25) by fork and join (ns per fork)
//   pairs       as many pairs of tasks as there are workers, 200,000 wakes in all (ns per wake)
//   mutex       sixteen fibers that take turns to add one to a counter (ns per turn)

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

#include "../common/harness.h"

namespace growth {

// The N of the workload's name; at most a thousand in a toy run.
inline int64_t sizeOf(const bench::Run& run) {
  const std::string& name = run.workload();
  const int64_t size = std::stoll(name.substr(name.rfind('-') + 1));
  return run.size<int64_t>(size, std::min<int64_t>(size, 1000));
}

// Measures `all(n)`, which does n things, often enough for a time that can be measured.
template <class F>
void measurePerThing(bench::Run& run, int64_t n, int64_t enough, F&& all) {
  const int64_t rounds = run.tiny() ? 1 : std::max<int64_t>(1, enough / n);
  const double ns = run.medianNs([&] {
    for (int64_t i = 0; i < rounds; i++) {
      all(n);
    }
  });
  run.metric("ns", ns / static_cast<double>(n * rounds));
}

}  // namespace growth
