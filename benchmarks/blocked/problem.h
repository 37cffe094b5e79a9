// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A hundred thousand tasks that all wait for one event, on one thread: what does a blocked fiber cost in time
// and memory? Every figure is per fiber.
//
//   first_ns            from schedule until it is blocked, when no fiber had been made before
//   reused_ns           the same in a second round
//   signal_ns           from the signal until all have finished
//   resident_bytes      what the blocked fibers keep resident, page tables apart
//   page_table_bytes    these
//   left_bytes          what is still resident after the library was shut down, where it can be

#pragma once

#include <cstdint>

#include "../common/harness.h"

namespace blocked {

inline int64_t fibers(const bench::Run& run) { return run.size<int64_t>(100000, 1000); }

inline double perFiber(int64_t kib, int64_t n) {
  return static_cast<double>(kib) * 1024 / static_cast<double>(n);
}

// Measures two rounds of `block(n)`, which returns when n fibers are blocked, and of `finish()`, which
// signals them and returns how many finished.
template <class Block, class Finish>
void measure(bench::Run& run, int64_t n, Block&& block, Finish&& finish) {
  double count = static_cast<double>(n);
  double signalNs[2];
  for (int round = 0; round < 2; round++) {
    int64_t resident = bench::residentKib();
    int64_t pageTables = bench::pageTableKib();
    double ns = run.onceNs([&] { block(n); });
    if (round == 0) {
      run.metric("first_ns", ns / count);
      run.metric("resident_bytes", perFiber(bench::residentKib() - resident, n));
      run.metric("page_table_bytes", perFiber(bench::pageTableKib() - pageTables, n));
    } else {
      run.metric("reused_ns", ns / count);
    }
    int64_t finished = 0;
    signalNs[round] = run.onceNs([&] { finished = finish(); });
    bench::check(finished == n, "blocked");
  }
  run.metric("first_signal_ns", signalNs[0] / count);
  run.metric("signal_ns", signalNs[1] / count);
}

}  // namespace blocked
