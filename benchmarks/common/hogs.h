// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Threads that take the processors away from a benchmark.

#pragma once

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace bench {

// One thread per processor that computes until the object ends.
class Hogs {
 public:
  Hogs() {
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); i++) {
      threads_.emplace_back([this] {
        while (!stop_.load(std::memory_order_relaxed)) {
        }
      });
    }
  }
  ~Hogs() {
    stop_.store(true);
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

}  // namespace bench
