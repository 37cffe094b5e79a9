// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What does it cost to borrow an object from a pool and to give it back? By workload:
//
//   bounded     one borrower, from a pool of a fixed number of objects, which are preserved
//   unbounded   one borrower, from a pool that may grow
//   contended   sixteen borrowers share two objects, and let others run while they have one

#pragma once

#include <cstdint>

#include "../common/harness.h"

namespace pool {

constexpr int kObjects = 2;
constexpr int kBorrowers = 16;

// Measures borrowAll(n), which borrows n times.
template <class F>
void measure(bench::Run& run, int64_t full, F&& borrowAll) {
  const int64_t n = run.size<int64_t>(full, 1600);
  double ns = run.medianNs([&] { borrowAll(n); });
  run.metric("ns_per_loan", ns / static_cast<double>(n));
}

}  // namespace pool
