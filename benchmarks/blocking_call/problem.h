// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What does it cost to let another thread make a call that may block, and to wait for its result? An empty
// call, by workload:
//
//   one    one after the other: from a task of 1 worker, and (0 workers) from a thread with nothing bound
//   many   sixty-four tasks, or threads, each of which makes one after the other

#pragma once

#include <cstdint>

#include "../common/harness.h"

namespace blocking {

constexpr int kCallers = 64;

inline int64_t calls(const bench::Run& run) { return run.size<int64_t>(4000, 100); }

// The caller's oracle: the calls answer 1, 2, 3, ...
class Answers {
 public:
  int64_t next() { return ++given_; }
  void check(int64_t answer) { bench::check(answer == ++taken_, "blocking_call"); }

 private:
  int64_t given_ = 0;
  int64_t taken_ = 0;
};

// Measures callAll(n), which makes n calls.
template <class F>
void measure(bench::Run& run, int64_t n, F&& callAll) {
  double ns = run.medianNs([&] { callAll(n); }, 5);
  run.metric("ns_per_call", ns / static_cast<double>(n));
}

}  // namespace blocking
