// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Two tasks of one worker wake each other in turn: what does a switch by way of an event cost? One iteration
// is a round trip, hence two switches. Google Benchmark where the library is C++.

#pragma once

#include "../common/harness.h"
#include "../common/micro.h"

namespace event {

// Measures from the task that begins. `roundTrip()` wakes the partner, which adds one to `replies`, and
// waits.
template <class F>
void measure(benchmark::State& state, const int64_t& replies, F&& roundTrip) {
  int64_t rounds = 0;
  for (auto _ : state) {
    roundTrip();
    rounds++;
  }
  bench::check(replies == rounds, "event");
  state.counters["per_iteration"] = 2;
}

}  // namespace event
