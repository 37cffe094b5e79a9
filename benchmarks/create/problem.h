// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Making and destroying a scheduler of 2 workers, against making and joining 2 threads.
//
//   create        nothing else
//   create-use    bound, one task waited for, unbound
//   threads-tree  of threads, which start each other, so that several processors take part

#pragma once

#include "../common/harness.h"

namespace create {

template <class F>
void measure(bench::Run& run, F&& once) {
  const int rounds = run.size(500, 5 * run.workers()) / run.workers() + 1;
  double ns = run.medianNs([&] {
    for (int i = 0; i < rounds; i++) {
      once();
    }
  });
  run.metric("us", ns / rounds / 1000);
}

}  // namespace create
