// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the hot paths cost in instructions: ../count_instructions.py runs this program of two builds under
// callgrind, which counts the same on a busy machine. With 0 workers everything happens on the bound thread;
// with 1 in one task of the worker, while the bound thread sleeps. Every figure is per operation.

#pragma once

#include "../common/harness.h"

namespace instructions {

// Measures program(n), once, where the workload has it run.
template <class Where, class F>
void measure(bench::Run& run, Where&& where, F program) {
  const auto n = run.size<int64_t>(100'000, 1'000);
  double ns = 0;
  where([&] { ns = run.onceNs([&] { program(n); }); });
  run.metric("operations", static_cast<double>(n));
  run.metric("ns", ns / static_cast<double>(n));
}

}  // namespace instructions
