// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/sync.h"

namespace weft::detail {

// The binary permit behind Fiber::wait() and Fiber::notify().
//
//   state     who changes it
//   Empty     -> Permit   notify()           Empty   -> Waiting  the owner, about to suspend
//   Waiting   -> Permit   notify(), which then owes the owner exactly one wake
//   Waiting   -> Empty    the owner, on timeout: nobody owes it a wake
//   Permit    -> Empty    the owner, consuming it
//
// What must not happen: the owner times out and returns while a notifier is about to wake it, so that the wake hits a
// later, unrelated wait. Both transitions out of Waiting are compare-exchanges, so exactly one wins; an owner that
// loses waits for the wake that it is owed, and returns with the permit.
//
// Host: void wake()                 called by notify(), at most once per Waiting state
//       void block()                suspends until wake()
//       bool blockUntil(deadline)   the same; false if the deadline came first (a wake may still come)
template <class Sync = StdSync>
class Permit {
 public:
  // Any thread. What was written before is seen by the wait() that consumes the permit.
  template <class Host>
  void notify(Host& host) {
    // (1) acq_rel: releases the notifier's writes to the consumer (2, 3, 5); acquires those of the owner before it waited (4),
    // which the wake relies on.
    if (state_.exchange(kPermit, std::memory_order_acq_rel) == kWaiting) {
      host.wake();
    }
  }

  // The owner only.
  template <class Host>
  void wait(Host& host) {
    if (!beginWait()) {
      host.block();
      consume();
    }
  }

  // The owner only. Returns: false if the deadline came first.
  template <class Host, class Deadline>
  bool waitUntil(Host& host, const Deadline& deadline) {
    if (beginWait()) {
      return true;
    }
    if (!host.blockUntil(deadline)) {
      uint32_t expected = kWaiting;
      // (5) acquire: on failure the permit came first; pairs with the notifier's (1). On success nothing is received, but gcc
      // warns of a success order that is weaker than the other.
      if (state_.compare_exchange_strong(expected, kEmpty, std::memory_order_acquire, std::memory_order_acquire)) {
        return false;
      }
      host.block();
    }
    consume();
    return true;
  }

  // The owner only: forgets a permit that nobody asked for, between two tasks.
  void reset() {
    // relaxed: the owner's own view is enough; a permit that arrives a moment later is an early one of the next task.
    if (state_.load(std::memory_order_relaxed) != kEmpty) {
      state_.store(kEmpty, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr uint32_t kEmpty = 0, kWaiting = 1, kPermit = 2;

  // Returns: true if a permit was there, and is consumed now.
  bool beginWait() {
    uint32_t expected = kEmpty;
    // (4) release: the owner's state is published to the notifier that will wake it (1).
    // (2) acquire on failure: a permit was there; pairs with (1).
    if (state_.compare_exchange_strong(expected, kWaiting, std::memory_order_release, std::memory_order_acquire)) {
      return false;
    }
    consume();
    return true;
  }

  void consume() {
    // (3) acquire: sees what the notifier wrote (1). An exchange, not a store: a notify that comes just now merges with this
    // permit, and its writes must be seen as well.
    (void)state_.exchange(kEmpty, std::memory_order_acquire);
  }

  typename Sync::template Atomic<uint32_t> state_{kEmpty};
};

}  // namespace weft::detail
