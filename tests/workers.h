// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <numeric>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/task.h>
#include <weft/waitgroup.h>

// What tests of a scheduler's workers share.
namespace weft::tests {

// Tasks that each hold their system thread until all have started: each needs a worker of its own.
class Rendezvous {
 public:
  explicit Rendezvous(int count) : missing_(count), left_(static_cast<unsigned>(count)) {}

  void meet() {
    missing_.arrive_and_wait();
    left_.done();
  }
  void wait() { left_.wait(); }

 private:
  std::latch missing_;
  WaitGroup left_;
};

// A task that keeps the thread of its worker until end().
class BusyTask {
 public:
  // Requires: it is scheduled once, and end() is called afterwards.
  Task task() {
    return Task([this, done = done_] {
      isRunning_ = true;
      while (!isOver_) {
        std::this_thread::yield();
      }
      done.done();
    });
  }
  // Keeps the thread until the task runs, so that must be on another one.
  void awaitBegin() const {
    while (!isRunning_) {
      std::this_thread::yield();
    }
  }
  // Waits for the task's end too.
  void end() {
    isOver_ = true;
    done_.wait();
  }

 private:
  std::atomic<bool> isRunning_{false};
  std::atomic<bool> isOver_{false};
  const WaitGroup done_{1};
};

// Returns: the sum of one count of all workers.
inline uint64_t sum(const Scheduler::Stats& stats, uint64_t Scheduler::WorkerStats::* member) {
  uint64_t total = 0;
  for (const Scheduler::WorkerStats& worker : stats.workers) {
    total += worker.*member;
  }
  return total;
}

// Returns: the numbers from 0 on, as many as `count`.
inline std::vector<int> upTo(int count) {
  std::vector<int> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Holds the only thread that runs tasks while the test queues them.
template <class F>
void queueTogether(Scheduler& scheduler, F queue) {
  if (scheduler.config().workerThread.count == 0) {
    queue();
    return;
  }
  std::latch isHeld(1), isQueued(1);
  Event released;
  schedule([&, released] {
    isHeld.count_down();
    isQueued.wait();
    released.signal();
  });
  isHeld.wait();
  queue();
  isQueued.count_down();
  released.wait();
}

}  // namespace weft::tests
