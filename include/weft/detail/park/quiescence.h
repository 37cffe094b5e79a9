// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/base/sync.h"

// How a scheduler that shuts down finds that nothing is left to do, without a task counter on the hot path.
//
// Every worker counts the tasks that it has scheduled, and those that have ended on it. Only the worker
// writes these words. Tasks from elsewhere are counted in one shared word. A scan first adds up all `ended`,
// then all `scheduled`. Both only grow. A task is counted as scheduled before another thread can see it, so
// before it can end. A child of join() is counted when it begins, since its parent ends later.
//
// So if the two sums are equal, nothing was queued, running or blocked between the two scans. Once every
// thread has unbound, only tasks schedule tasks, so nothing will be queued again. Tasks from elsewhere come
// through a RundownProtection, whose count is the shared word. The close fails if the word has changed.
//
// What must not happen: two workers each end one of the last two tasks, each misses the other's count, and
// both sleep forever. A seq_cst fence between a worker's count and its scan makes one of them see both.
namespace weft::inline v0_1::detail {

template <class Sync = StdSync>
class TaskCounters {
 public:
  // The owner, before another thread can see the task, or one of several.
  void countScheduled(uint32_t number = 1) {
    // relaxed load: this thread wrote it last. relaxed store: the queue publishes it with the task.
    scheduled_.store(scheduled_.load(std::memory_order_relaxed) + number, std::memory_order_relaxed);
  }

  // The owner, when a task has ended.
  void countEnded() {
    // relaxed load: this thread wrote it last.
    // (1) release: a scan that sees the end sees what the task has scheduled; pairs with (2).
    ended_.store(ended_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // (2) acquire: pairs with (1).
  uint64_t ended() const { return ended_.load(std::memory_order_acquire); }
  // relaxed: the order of the two scans comes from (2).
  uint64_t scheduled() const { return scheduled_.load(std::memory_order_relaxed); }

 private:
  friend struct LayoutAccess;

  typename Sync::template Atomic<uint64_t> scheduled_{0};
  typename Sync::template Atomic<uint64_t> ended_{0};
};

// `forEachCounters(f)` calls f for each worker's counters. `scheduledElsewhere()` reads the shared count.
// Returns: whether every task has ended.
template <class Sync, class ForEach, class Elsewhere>
bool isQuiescent(ForEach&& forEachCounters, Elsewhere&& scheduledElsewhere) {
  // (3) seq_cst: this worker's last count before its scan; pairs with the other workers' (3).
  Sync::fence(std::memory_order_seq_cst);
  uint64_t ended = 0;
  forEachCounters([&](const TaskCounters<Sync>& counters) { ended += counters.ended(); });
  uint64_t scheduled = scheduledElsewhere();
  forEachCounters([&](const TaskCounters<Sync>& counters) { scheduled += counters.scheduled(); });
  return ended == scheduled;
}

}  // namespace weft::inline v0_1::detail
