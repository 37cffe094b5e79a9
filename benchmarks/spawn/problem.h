// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What does an empty task cost, from schedule to its end? A million of them, by workload:
//
//   task              spawned by one task, which then waits for all; counted by the library's own means
//                     (WaitGroup captured by value, task_group, sync.WaitGroup, ...)
//   task-counter      the same, counted by an atomic counter that is captured by reference
//   task-thousand     task-counter, but a thousand at a time
//   many              task-counter, but given to the library as one range, where it takes one
//   outside           spawned by a thread that runs no tasks itself; counted by the library's own means
//   outside-counter   the same, counted by an atomic counter that is captured by reference
//   outside-many      outside-counter, but given to the library as one range

#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "../common/harness.h"

namespace spawn {

constexpr int64_t kBatch = 1000;

inline int64_t tasks(const bench::Run& run) { return run.size<int64_t>(1000000, 2000); }

// Measures `spawnAll(n)`, which runs `n` tasks.
template <class F>
void measure(bench::Run& run, F&& spawnAll) {
  int64_t n = tasks(run);
  double ns = run.medianNs([&] { spawnAll(n); });
  run.metric("ns_per_task", ns / static_cast<double>(n));
}

struct alignas(64) RanSlot {
  std::atomic<int64_t> value{0};
};

// The oracle for libraries that only say that they are done: how many tasks ran, counted on each thread by
// itself.
class Ran {
 public:
  static void count() { slot().store(slot().load(std::memory_order_relaxed) + 1, std::memory_order_release); }

  // Returns: how many tasks ran since the last call. For one thread at a time.
  static int64_t take() {
    int64_t sum = 0;
    for (const RanSlot& s : slots_) {
      sum += s.value.load(std::memory_order_acquire);
    }
    return sum - std::exchange(taken_, sum);
  }

 private:
  static std::atomic<int64_t>& slot() {
    thread_local std::atomic<int64_t>* mine = &slots_[next_.fetch_add(1)].value;
    return *mine;
  }

  static inline RanSlot slots_[64];
  static inline std::atomic<int> next_{0};
  static inline int64_t taken_ = 0;
};

}  // namespace spawn
