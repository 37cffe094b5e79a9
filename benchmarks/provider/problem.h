// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// One task feeds tiny tasks of some 100 ns to 1 to 8 workers and then waits for all of them: how much of the
// work can one provider keep others busy with? Each task writes its answer into its own slot.

#pragma once

#include <cstdint>
#include <vector>

#include "../common/harness.h"

namespace provider {

inline int64_t tasks(const bench::Run& run) { return run.size<int64_t>(500000, 2000); }

// About 100 ns of arithmetic that depends on itself. Not inline, lest the serial loop over it be vectorised.
[[gnu::noinline]] inline uint64_t tinyWork(uint64_t seed) {
  uint64_t x = seed + 1;
  for (int i = 0; i < 60; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  return x;
}

// Measures `feed(answers)`, which must set `answers[i] = tinyWork(i)` for each i.
template <class F>
void measure(bench::Run& run, F&& feed) {
  std::vector<uint64_t> answers(static_cast<size_t>(tasks(run)));
  double ns = run.medianNs([&] {
    std::fill(answers.begin(), answers.end(), 0);
    feed(answers);
  });
  for (size_t i = 0; i < answers.size(); i++) {
    bench::check(answers[i] == tinyWork(i), "provider");
  }
  run.metric("ns_per_task", ns / static_cast<double>(answers.size()));
}

}  // namespace provider
