// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Machines on which a worker seldom has a processor of its own.

#include <gtest/gtest.h>

#include <sched.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <weft/scheduler.h>

#include "../surroundings.h"
#include "../with_scheduler.h"
#include "exact_results.h"

namespace weft {
namespace {

using tests::scaled;
using tests::smallConfig;

// Keeps the calling thread, and those that it starts, on one processor.
class OnOneProcessor {
 public:
  OnOneProcessor() {
    sched_getaffinity(0, sizeof before_, &before_);
    int processor = 0;
    while (!CPU_ISSET(processor, &before_)) {
      ++processor;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OnOneProcessor() { sched_setaffinity(0, sizeof before_, &before_); }
  OnOneProcessor(const OnOneProcessor&) = delete;
  OnOneProcessor& operator=(const OnOneProcessor&) = delete;

 private:
  cpu_set_t before_;
};

// Threads that compute until this ends.
class Hogs {
 public:
  explicit Hogs(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      threads_.emplace_back([this] {
        while (!isOver_.load(std::memory_order_relaxed)) {
        }
      });
    }
  }
  ~Hogs() {
    isOver_ = true;
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }
  Hogs(const Hogs&) = delete;
  Hogs& operator=(const Hogs&) = delete;

 private:
  std::atomic<bool> isOver_{false};
  std::vector<std::thread> threads_;
};

class SurroundingsTest : public tests::WithAllocator {
 protected:
  static constexpr int kOtherThreads = 20;  // at most, which expectExactResults() starts

  void run(int numWorkers, int rounds) {
    Scheduler scheduler(smallConfig(numWorkers, allocator()));
    const Scheduler::Binding bound(scheduler);
    for (int i = 0; i < rounds; ++i) {
      tests::expectExactResults(scheduler);
    }
  }
};

TEST_F(SurroundingsTest, ManyMoreWorkersThanProcessors) {
  const int numWorkers = scaled(500, 200);
  if (!tests::mayStartThreads(numWorkers + kOtherThreads)) {
    GTEST_SKIP() << "the system refuses " << numWorkers << " threads";
  }
  run(numWorkers, scaled(5, 2));
}

TEST_F(SurroundingsTest, AllOnOneProcessor) {
  if (!tests::mayStartThreads(64 + kOtherThreads)) {
    GTEST_SKIP() << "the system refuses 64 threads";
  }
  const OnOneProcessor restored;
  for (const int numWorkers : {0, 1, 2, 64}) {
    run(numWorkers, scaled(10, 2));
  }
}

TEST_F(SurroundingsTest, BesideAThreadThatComputesOnEachProcessor) {
  const Hogs hogs(std::thread::hardware_concurrency());
  for (const int numWorkers : {0, 2, 16}) {
    run(numWorkers, 2);
  }
}

TEST_F(SurroundingsTest, AllOnOneProcessorBesideAThreadThatComputesThere) {
  const OnOneProcessor restored;
  const Hogs hog(1);
  for (const int numWorkers : {0, 2}) {
    run(numWorkers, 1);
  }
}

}  // namespace
}  // namespace weft
