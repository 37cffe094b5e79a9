// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What channels cost: two tasks of one worker that send each other a value in turn, without a buffer (one
// iteration is a round trip, hence two switches); a stream of values from one task to another through a
// buffer; and a task that selects among two channels without a buffer, each fed by a task of its own.

#pragma once

#include <cstdint>

#include "../common/harness.h"

namespace channel {

constexpr int64_t sumBelow(int64_t count) { return count * (count - 1) / 2; }

// Measures `roundTrips(rounds)`, which returns how many replies there were.
template <class F>
void measurePingPong(bench::Run& run, F&& roundTrips) {
  const int64_t rounds = run.size(500000, 1000);
  double ns = run.medianNs([&] { bench::check(roundTrips(rounds) == rounds, "channel"); });
  run.metric("ns", ns / static_cast<double>(2 * rounds));
}

// Measures `stream(count)`, which sends 0, 1, ..., count - 1 and returns the sum of what was received.
template <class F>
void measureStream(bench::Run& run, F&& stream) {
  const int64_t count = run.size(2000000, 1000);
  double ns = run.medianNs([&] { bench::check(stream(count) == sumBelow(count), "channel"); });
  run.metric("ns", ns / static_cast<double>(count));
}

// Measures `selectTwo(count)`, which does the same on either channel and returns the sum of all.
template <class F>
void measureSelect(bench::Run& run, F&& selectTwo) {
  const int64_t count = run.size(500000, 1000);
  double ns = run.medianNs([&] { bench::check(selectTwo(count) == 2 * sumBelow(count), "channel"); });
  run.metric("ns", ns / static_cast<double>(2 * count));
}

}  // namespace channel
