// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "problem.h"

namespace {

void uncontended(bench::Run& r) {
  std::atomic<bool> stop{false};
  std::thread second([&] { stop.wait(false); });
  std::mutex mutex;
  mutexes::measureUncontended(r, mutex);
  stop.store(true);
  stop.notify_one();
  second.join();
}

void contended(bench::Run& r) {
  mutexes::measureContended<std::mutex>(r, [](std::mutex& mutex, int64_t& counter, int64_t rounds) {
    std::vector<std::thread> threads;
    for (int i = 0; i < mutexes::kHolders; i++) {
      threads.emplace_back([&, rounds] { mutexes::addUp(mutex, counter, rounds); });
    }
    for (auto& thread : threads) {
      thread.join();
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "mutex", "std",
                        {{"uncontended", {1}, uncontended}, {"contended", {2}, contended}});
}
