// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// One thread for each side. Boost.Fiber's threads sleep in a condition variable as soon as nothing is ready,
// so each has a second fiber that yields forever: that keeps the waking out of the kernel.

#include <boost/fiber/all.hpp>

#include <atomic>
#include <thread>

#include "../common/boost_event.h"
#include "problem.h"

namespace {

template <class F>
void besideYielder(F&& side) {
  bool stop = false;
  boost::fibers::fiber yielder([&] {
    while (!stop) {
      boost::this_fiber::yield();
    }
  });
  side();
  stop = true;
  yielder.join();
}

int64_t roundTrips(int64_t rounds) {
  bench::BoostEvent ping, pong;
  int64_t replies = 0;
  std::thread other([&] { besideYielder([&] { across::reply(rounds, ping, pong, replies); }); });
  besideYielder([&] { across::begin(rounds, ping, pong); });
  other.join();
  return replies;
}

void run(bench::Run& r) { across::measure(r, r.size(200000, 200), roundTrips); }

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "event_across", "boost_fiber", {{"round-trip", {2}, run}});
}
