// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

// How many requests of poll sources are in flight, and which of the workers that sleep watches them. PollHub
// says what the watcher does.
//
//   S  starts a request: counts it (S1), looks for a watcher (S2), and wakes a sleeper if there is none
//   E  the watcher stops: clears itself (E1), and looks for requests (E2)
//
// What must not happen: S2 sees the watcher, and E2 sees no request. Then nobody tests the request while all
// workers sleep or are in long tasks. S1, S2, E1 and E2 are seq_cst, S1 before S2, and E1 before E2. So S
// sees that there is no watcher, or E sees the request.
//
// Four do E2:
//   - a watcher that has seen no request for a while, in tryEnd(): it goes on if there is one;
//   - a watcher that sleeps again, in mayWatch();
//   - a worker that is held back for a while and is the watcher meanwhile, in Idler::awaitReady();
//   - the last searcher, in IdleSet::endSearch(), for which "in flight, and nobody watches" is work that is
//     shared. A watcher that has something to do is a searcher before. If it is not the last one, that is
//     another worker, which must see E1, too.
template <class Watcher, class Sync = StdSync>
class PollWatch {
 public:
  PollWatch() = default;
  PollWatch(const PollWatch&) = delete;

  // A request of a source was started. `isShared`: every worker may test it. Returns: whether nobody watches.
  bool noteStarted(bool isShared) {
    // (1) seq_cst: S1; pairs with (4, 6).
    inFlight_.fetch_add(unit(isShared), std::memory_order_seq_cst);
    // (2) seq_cst: S2; pairs with (3).
    return isShared && watcher_.load(std::memory_order_seq_cst) == nullptr;
  }
  // relaxed: publishes nothing.
  void noteDone(bool isShared, size_t count = 1) {
    inFlight_.fetch_sub(unit(isShared) * count, std::memory_order_relaxed);
  }

  // relaxed: a hint; who may be the watcher looks by (4, 6).
  bool isAwaited() const { return inFlight_.load(std::memory_order_relaxed) != 0; }
  // Whether requests that all may test are in flight, and nobody watches.
  bool needsWatcher() const {
    // (4) seq_cst: E2; pairs with (1).
    return inFlight_.load(std::memory_order_seq_cst) >= kShared &&
           watcher_.load(std::memory_order_relaxed) == nullptr;  // relaxed: (5) makes E1 seen
  }
  // Whether `self`, which is about to sleep, has to look what it should watch.
  bool mayWatch(Watcher& self) const {
    // (6) seq_cst: E2; pairs with (1).
    return inFlight_.load(std::memory_order_seq_cst) != 0 || isWatcher(self);
  }

  // What follows is guarded by the hub's lock, and so relaxed is enough for who reads or sets the watcher.
  Watcher* watcher() const { return watcher_.load(std::memory_order_relaxed); }
  bool isWatcher(Watcher& self) const { return watcher() == &self; }
  void begin(Watcher& self) { watcher_.store(&self, std::memory_order_relaxed); }
  // Requires: `self` is the watcher. Returns: whether it is that no longer; false if requests are in flight.
  bool tryEnd(Watcher& self) {
    end();
    if (needsWatcher()) {
      begin(self);
      return false;
    }
    return true;
  }
  // The watcher stops. E2 follows.
  void end() {
    // (3) seq_cst: E1; pairs with (2).
    watcher_.store(nullptr, std::memory_order_seq_cst);
    // (5) release: E1 before the worker is counted as a searcher; pairs with the fence of endSearch().
    Sync::fence(std::memory_order_release);
  }

 private:
  static constexpr uint64_t kShared = uint64_t{1} << 32;
  static uint64_t unit(bool isShared) { return isShared ? kShared : 1; }

  // kShared for each that all may test, 1 for each of one worker.
  typename Sync::template Atomic<uint64_t> inFlight_{0};
  typename Sync::template Atomic<Watcher*> watcher_{nullptr};
};

}  // namespace weft::inline v0_1::detail
