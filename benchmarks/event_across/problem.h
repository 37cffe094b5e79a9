// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Two tasks on two workers (or two threads) wake each other in turn: the time of a round trip, which is two
// wakes across cores.

#pragma once

#include <cstdint>

#include "../common/harness.h"

namespace across {

// What one side does, `rounds` times, and what the other does: `replies` belongs to the latter.
template <class Event>
void begin(int64_t rounds, Event& ping, Event& pong) {
  for (int64_t i = 0; i < rounds; i++) {
    ping.signal();
    pong.wait();
  }
}

template <class Event>
void reply(int64_t rounds, Event& ping, Event& pong, int64_t& replies) {
  for (int64_t i = 0; i < rounds; i++) {
    ping.wait();
    replies++;
    pong.signal();
  }
}

// Measures `roundTrips(rounds)`, which returns how many replies there were.
template <class F>
void measure(bench::Run& run, int64_t rounds, F&& roundTrips) {
  double ns = run.medianNs([&] { bench::check(roundTrips(rounds) == rounds, "event_across"); });
  run.metric("ns_per_round_trip", ns / static_cast<double>(rounds));
}

}  // namespace across
