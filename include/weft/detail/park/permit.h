// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/base/sync.h"

namespace weft::detail {

// The binary permit behind Fiber::wait() and Fiber::notify().
//
//   state     who changes it
//   Empty     -> Permit   notify()           Empty   -> Waiting  the owner, about to suspend
//   Waiting   -> Permit   notify(), which then owes the owner exactly one wake
//   Waiting   -> Empty    cancel(): the owner on timeout, or whoever stops the wait and then owes it the wake
//   Permit    -> Empty    the owner, consuming it
//
// What must not happen: the owner times out and returns while a notifier is about to wake it, so that the
// wake hits a later, unrelated wait. Both transitions out of Waiting are read-modify-writes, so exactly one
// wins; an owner that loses waits for the wake that it is owed, and returns with the permit.
//
// A host may have several permits, each with an owner of its own: the tasks that are run in place on one
// fiber. One of them at a time is Waiting; notify() finds any other Empty, or a Permit, and does not wake the
// host.
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
    // (1) acq_rel: releases the notifier's writes to the consumer (2, 3); acquires those of the owner before
    // it waited (4), which the wake relies on.
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
    return waitBy([&] {
      if (!host.blockUntil(deadline)) {
        if (cancel()) {
          return false;
        }
        host.block();
      }
      return true;
    });
  }

  // The owner only. block() returns true once the owner was woken by a notifier, and false if the wait was
  // ended by cancel(). Returns: the same.
  template <class Block>
  bool waitBy(const Block& block) {
    if (beginWait()) {
      return true;
    }
    if (!block()) {
      return false;
    }
    consume();
    return true;
  }

  // Any thread, within the owner's waitBy(): ends the wait. Returns: whether it did; if not, a notifier did
  // or will.
  bool cancel() {
    uint32_t expected = kWaiting;
    // (5) acquire: the owner's state is seen by whoever wakes it then; pairs with (4).
    return state_.compare_exchange_strong(expected, kEmpty, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  // The owner only: forgets a permit that nobody asked for, between two tasks.
  void reset() {
    // relaxed: the owner's own view is enough; a permit that arrives a moment later is an early one of the
    // next task.
    if (state_.load(std::memory_order_relaxed) != kEmpty) {
      state_.store(kEmpty, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr uint32_t kEmpty = 0, kWaiting = 1, kPermit = 2;

  // Returns: true if a permit was there, and is consumed now.
  bool beginWait() {
    uint32_t expected = kEmpty;
    // (4) release: the owner's state is published to whoever will wake it (1, 5).
    // (2) acquire on failure: a permit was there; pairs with (1).
    if (state_.compare_exchange_strong(expected, kWaiting, std::memory_order_release,
                                       std::memory_order_acquire)) {
      return false;
    }
    consume();
    return true;
  }

  void consume() {
    // (3) acquire: sees what the notifier wrote (1). An exchange, not a store: a notify that comes just now
    // merges with this permit, and its writes must be seen as well.
    (void)state_.exchange(kEmpty, std::memory_order_acquire);
  }

  typename Sync::template Atomic<uint32_t> state_{kEmpty};
};

}  // namespace weft::detail
