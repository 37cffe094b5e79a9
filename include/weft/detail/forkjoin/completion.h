// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

// The end of a piece of work that one fiber or thread waits for, once.
//
//   word          who changes it
//   kRunning      -> the waiter   the waiter, about to suspend
//   kRunning      -> kDone        the thread that ends the work: nobody waits yet
//   the waiter    -> kDone        the thread that ends the work, which then owes the waiter exactly one wake
// What must not happen: the waiter looks, sees nothing, and suspends after the end was announced. Both sides
// change the word by one read-modify-write, so that one sees the other. The end is the last access to this
// object: the waiter may destroy it at once.
template <class Waiter, class Sync = StdSync>
class Completion {
 public:
  // The thread that ends the work. Returns: the waiter to wake, or null.
  Waiter* finish() {
    // (1) acq_rel: releases the results to the waiter (2), and acquires its waiter (2).
    const uintptr_t old = word_.exchange(kDone, std::memory_order_acq_rel);
    return old == kRunning ? nullptr : reinterpret_cast<Waiter*>(old);
  }

  // The waiter. Returns: whether the work is over; if not, a wake of `self` will come.
  bool isDoneOrWakes(Waiter& self) {
    uintptr_t old = kRunning;
    // (2) release: publishes the waiter to (1); acquire on failure: sees the results.
    return !word_.compare_exchange_strong(old, reinterpret_cast<uintptr_t>(&self), std::memory_order_release,
                                          std::memory_order_acquire);
  }

 private:
  static constexpr uintptr_t kRunning = 0, kDone = 1;

  typename Sync::template Atomic<uintptr_t> word_{kRunning};
};

}  // namespace weft::inline v0_1::detail
