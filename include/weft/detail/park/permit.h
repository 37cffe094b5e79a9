// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

// The binary permit behind Fiber::wait() and Fiber::notify().
//
//   state     becomes     by
//   Empty     -> Permit   notify()
//   Empty     -> Waiting  the owner, about to suspend
//   Waiting   -> Permit   notify(), which then owes the owner exactly one wake
//   Waiting   -> Empty    cancel(): the owner on timeout, or a thread that stops the wait and then owes the
//                         owner a wake
//   Permit    -> Empty    the owner, consuming it
//
// What must not happen: the owner times out and returns while a notifier is about to wake it, and the wake
// hits a later wait. Both transitions out of Waiting are read-modify-writes, so exactly one of them wins. An
// owner that loses waits for the wake that it is owed, and returns with the permit.
//
// A host may have several permits with an owner each: the tasks that run in place on one fiber. Only one of
// them at a time is Waiting. notify() on others does not wake.
//
// Host: void wake()                 called by notify(), at most once per Waiting state
//       void block()                suspends until wake()
//       bool blockUntil(deadline)   false if the deadline came first (the wake may still come)
template <class Sync = StdSync>
class Permit {
 public:
  // Any thread. Memory ordering: the wait() that consumes the permit sees what came before.
  template <class Host>
  void notify(Host& host) {
    // (1) acq_rel: publishes what the notifier wrote to (2, 3); sees what the owner wrote before it waited,
    // which the wake needs; pairs with (2, 3, 4).
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

  // The owner only. Both block() and waitBy() return false if cancel() has ended the wait.
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

  // Any thread, within the owner's waitBy(): ends the wait.
  // Returns: whether it did; if not, a notifier has ended the wait, or is about to.
  bool cancel() {
    uint32_t expected = kWaiting;
    // (5) acquire: a thread that then wakes the owner sees the owner's state; pairs with (4).
    return state_.compare_exchange_strong(expected, kEmpty, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  // The owner only, between two tasks: drops a permit that no wait has consumed.
  void reset() {
    // relaxed: a permit that this thread does not see yet counts for the next task.
    if (state_.load(std::memory_order_relaxed) != kEmpty) {
      state_.store(kEmpty, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr uint32_t kEmpty = 0, kWaiting = 1, kPermit = 2;

  // Returns: true if a permit was there, and is consumed now.
  bool beginWait() {
    uint32_t expected = kEmpty;
    // (4) release: publishes the owner's state to the waker; pairs with (1, 5).
    // (2) acquire on failure: a permit was there; pairs with (1).
    if (state_.compare_exchange_strong(expected, kWaiting, std::memory_order_release,
                                       std::memory_order_acquire)) {
      return false;
    }
    consume();
    return true;
  }

  void consume() {
    // (3) acquire: sees what the notifier wrote; pairs with (1). An exchange, not a store, since a notify()
    // that comes just now merges with this permit, and its writes must be seen as well.
    (void)state_.exchange(kEmpty, std::memory_order_acquire);
  }

  typename Sync::template Atomic<uint32_t> state_{kEmpty};
};

}  // namespace weft::inline v0_1::detail
