// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Sorting 10 M random 32-bit numbers: unstable, and stable by the key alone.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../common/harness.h"

namespace sorting {

inline std::vector<uint32_t> randomNumbers(size_t count) {
  std::vector<uint32_t> numbers(count);
  uint64_t state = 88172645463325252u;
  for (uint32_t& number : numbers) {
    // xorshift64 (Marsaglia 2003).
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    number = static_cast<uint32_t>(state);
  }
  return numbers;
}

// `sort(begin, end)` sorts a copy of the same numbers each time; the copying is not measured.
template <class Sort>
void measure(bench::Run& run, Sort&& sort) {
  const std::vector<uint32_t> numbers = randomNumbers(run.size<size_t>(10'000'000, 20'000));
  std::vector<uint32_t> expected = numbers;
  std::sort(expected.begin(), expected.end());
  std::vector<double> times;
  for (int repeat = 0; repeat < run.size(4, 1); repeat++) {
    std::vector<uint32_t> sorted = numbers;
    times.push_back(run.onceNs([&] { sort(sorted.begin(), sorted.end()); }));
    bench::check(sorted == expected, "sort");
  }
  run.metric("ms", bench::median(times) / 1e6);
}

}  // namespace sorting
