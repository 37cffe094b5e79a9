// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <thread>

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

int64_t roundTrips(int64_t rounds) {
  weft::Event ping, pong;
  weft::WaitGroup both(2);
  int64_t replies = 0;
  // Each side holds its thread until the other has started too: so they are on different workers, and stay
  // there.
  std::atomic<int> started{0};
  auto meet = [&started] {
    started.fetch_add(1);
    while (started.load() != 2) {
    }
  };
  std::thread::id threads[2];
  weft::schedule([&, both] {
    meet();
    threads[0] = std::this_thread::get_id();
    across::begin(rounds, ping, pong);
    both.done();
  });
  weft::schedule([&, both] {
    meet();
    threads[1] = std::this_thread::get_id();
    across::reply(rounds, ping, pong, replies);
    both.done();
  });
  both.wait();
  bench::check(threads[0] != threads[1], "two workers");
  return replies;
}

void run(bench::Run& r) {
  bench::Bound bound(r.workers());
  across::measure(r, r.size(500000, 200), roundTrips);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "event_across", "weft", {{"round-trip", {2}, run}});
}
