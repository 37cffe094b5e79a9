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

// Threads that start the upper halves of their ranges, the first of which is the caller's.
struct Tree {
  explicit Tree(int count) : threads(static_cast<size_t>(count)) {}

  void startFrom(int first, int count) {
    for (; count > 1; count -= count / 2) {
      start(first + count - count / 2, count / 2);
    }
    ran.fetch_add(1);
  }
  void start(int first, int count) {
    threads[static_cast<size_t>(first)] = std::thread([=, this] { startFrom(first, count); });
  }

  std::atomic<int> ran{0};
  std::vector<std::thread> threads;
};

void tree(bench::Run& r) {
  create::measure(r, [&] {
    Tree all(r.workers());
    all.start(0, r.workers());
    while (all.ran.load() < r.workers()) {
      std::this_thread::yield();
    }
    for (auto& thread : all.threads) {
      thread.join();
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "create", "floor",
                        {{"threads", {2, 4, 8, 16, 32, 64, 128, 256}, run},
                         {"threads-tree", {2, 4, 8, 16, 32, 64, 128, 256}, tree}});
}
