// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <thread>
#include <vector>

#include "problem.h"

namespace {

void run(bench::Run& r) {
  create::measure(r, [&] {
    std::atomic<int> ran{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < r.workers(); i++) {
      threads.emplace_back([&] { ran.fetch_add(1); });
    }
    for (auto& thread : threads) {
      thread.join();
    }
    bench::check(ran.load() == r.workers(), "create");
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "create", "floor", {{"threads", {2}, run}});
}
