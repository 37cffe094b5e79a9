// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// One thread that waits in a futex and is woken at the same rate: the least that a wake costs in processor
// time.

#include <atomic>
#include <thread>

#include "problem.h"

namespace {

void run(bench::Run& r) {
  std::atomic<int64_t> kicks{0};
  int64_t seen = 0;
  std::thread sleeper([&] {
    while (kicks.load() >= 0) {
      if (seen == kicks.load()) {
        kicks.wait(seen);
      }
      int64_t now = kicks.load();
      seen = now < 0 ? seen : now;
    }
  });
  idle::measure(r, [&] {
    kicks.fetch_add(1);
    kicks.notify_one();
  });
  kicks.store(-1);
  kicks.notify_one();
  sleeper.join();
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "idle", "floor",
                        {{"idle", {1}, run}, {"rate-100", {1}, run}, {"rate-1000", {1}, run}});
}
