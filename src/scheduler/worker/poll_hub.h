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
// their polls. One of those that sleep is the watcher: its sleep ends when a test is due. So a request is
// tested in time also if all others are in long tasks. A worker of a bound thread tests while it sleeps, in
// any case.
//
// Once no request is in flight, the watcher goes on for some milliseconds, in naps of one. To wake one costs
// several microseconds: a fiber that sends and receives in turn would pay that for each message.
//
//   S  starts a request: counts it (S1), looks for a watcher (S2), and wakes a sleeper if there is none
//   E  the watcher stops: clears itself (E1), and looks for requests (E2)
// (1) to (5) are seq_cst: S1 before S2, and E1 before E2. So S sees that there is no watcher, or E sees the
// request. A watcher that stops because it has something to do looks in IdleSet::endSearch(), as for a task:
// "in flight, and nobody watches" is work that is shared.
class PollHub {
 public:
  PollHub() = default;
  PollHub(const PollHub&) = delete;

  void add(PollCore& source);
  void remove(PollCore& source);
  // Returns: the name of a source, or null.
  const char* nameOfAny() const;

  // A request of a source was started. `isShared`: every worker may test it. Returns: whether nobody watches.
  bool noteStarted(bool isShared) {
    // (1) seq_cst: S1; pairs with (4, 5).
    inFlight_.fetch_add(unit(isShared), std::memory_order_seq_cst);
    // (2) seq_cst: S2; pairs with (3).
    return isShared && watcher_.load(std::memory_order_seq_cst) == nullptr;
  }
  // relaxed: publishes nothing.
  void noteDone(bool isShared, size_t count = 1) {
    inFlight_.fetch_sub(unit(isShared) * count, std::memory_order_relaxed);
  }
  // relaxed: a hint; who may be the watcher looks by (4).
  bool isAwaited() const { return inFlight_.load(std::memory_order_relaxed) != 0; }
  bool needsWatcher() const {
    // (4) seq_cst: E2; pairs with (1).
    return inFlight_.load(std::memory_order_seq_cst) >= kShared &&
           watcher_.load(std::memory_order_relaxed) == nullptr;  // relaxed: who sets it needs no other one
  }
  // Whether `worker`, which is about to sleep, is to call watch(). relaxed: its own writes, or a hint.
  bool mayWatch(const Worker& worker) const {
    return isAwaited() || watcher_.load(std::memory_order_relaxed) == &worker;
  }

  // Tests one window of each source that is due. Returns: whether a request was done.
  bool test(const Worker& worker);
  // `worker` is about to sleep. Returns: when its sleep should end for a test; kNever if others see to that.
  TimePoint watch(const Worker& worker);
  // `worker` no longer sleeps.
  void endWatch(const Worker& worker);

 private:
  static constexpr uint64_t kShared = uint64_t{1} << 32;
  static uint64_t unit(bool isShared) { return isShared ? kShared : 1; }
  PollCore* beginTest(const Worker& worker, TimePoint now, size_t& number);
  void clearWatcher() {
    // (3) seq_cst: E1; pairs with (2).
    watcher_.store(nullptr, std::memory_order_seq_cst);
    // (5) seq_cst: E1 before the worker is counted as a searcher, whose duty others may take; pairs with (1).
    StdSync::fence(std::memory_order_seq_cst);
  }
  TimePoint due(const Worker& worker, bool& isAnyShared);
  bool stopIfUnused(const Worker& worker, TimePoint now);

  std::atomic<uint64_t> inFlight_{0};  // kShared for each that all may test, 1 for each of one worker
  std::atomic<const Worker*> watcher_{nullptr};
  SpinLock lock_;  // guards what follows
  PollCore* first_ = nullptr;
  TimePoint alarm_{};   // when the watcher's sleep ends
  TimePoint usedAt_{};  // when the watcher last saw a request
};

}  // namespace weft::inline v0_1::detail
