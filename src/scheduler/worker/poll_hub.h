// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/detail/base/spin_lock.h"
#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

class PollCore;
class Worker;

// A scheduler's poll sources, and which workers test them.
//
// While requests are in flight, workers that search for work test them, and workers that run tasks do so at
// their polls. If all others sleep or run, one that sleeps is the watcher: its sleep ends when a test is due.
// "Requests are in flight, and nobody watches" counts as work that the workers share: WorkerGroup::idle wakes
// a sleeper for it like for a task. So no model of its own is needed. A worker of a bound thread is in no
// IdleSet: while it sleeps, it tests in any case.
class PollHub {
 public:
  PollHub() = default;
  PollHub(const PollHub&) = delete;

  void add(PollCore& source);
  void remove(PollCore& source);
  // Returns: the name of a source, or null.
  const char* nameOfAny() const;

  // A request of a source was started, or is done. `isShared`: every worker may test it. relaxed, all: the
  // starter itself looks before it sleeps; the counts publish nothing.
  void noteStarted(bool isShared) { inFlight_.fetch_add(unit(isShared), std::memory_order_relaxed); }
  void noteDone(bool isShared, size_t count = 1) {
    inFlight_.fetch_sub(unit(isShared) * count, std::memory_order_relaxed);
  }
  bool isAwaited() const { return inFlight_.load(std::memory_order_relaxed) != 0; }
  bool needsWatcher() const {
    // relaxed: IdleSet has the fences.
    return inFlight_.load(std::memory_order_relaxed) >= kShared &&
           watcher_.load(std::memory_order_relaxed) == nullptr;
  }

  // Tests one window of each source that is due. Returns: whether a request was done.
  bool test(const Worker& worker);
  // `worker` is about to sleep. Returns: when its sleep should end for a test.
  TimePoint watch(const Worker& worker);
  // Its sleep has ended.
  void endWatch(const Worker& worker);

 private:
  static constexpr uint64_t kShared = uint64_t{1} << 32;
  static uint64_t unit(bool isShared) { return isShared ? kShared : 1; }
  PollCore* beginTest(const Worker& worker, TimePoint now, size_t& number);

  std::atomic<uint64_t> inFlight_{0};  // kShared for each that all may test, 1 for each of one worker
  std::atomic<const Worker*> watcher_{nullptr};
  SpinLock lock_;
  PollCore* first_ = nullptr;  // guarded by lock_
};

}  // namespace weft::inline v0_1::detail
