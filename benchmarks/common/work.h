// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>

#include "harness.h"

namespace bench {

// Steps of a generator of random numbers, as many as take about `us` microseconds.
class Work {
 public:
  explicit Work(int us) {
    double fastest = 1e9;
    for (int i = 0; i < 20; i++) {
      const int64_t begin = nowNs();
      compute(kSample);
      fastest = std::min(fastest, static_cast<double>(nowNs() - begin));
    }
    steps_ = static_cast<int64_t>(1000.0 * us * kSample / fastest) + 1;
  }

  void operator()() const { compute(steps_); }

 private:
  static constexpr int64_t kSample = 10000;

  static void compute(int64_t steps) {
    static thread_local volatile uint64_t sink = 1;
    uint64_t x = sink;
    for (int64_t i = 0; i < steps; i++) {
      x = x * 6364136223846793005u + 1442695040888963407u;
    }
    sink = x;
  }

  int64_t steps_ = 0;
};

}  // namespace bench
