// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

// Lets threads into something that may end, until it is closed. The thread that ends it then waits for the
// threads within. The RundownProtection outlives what it guards.
//
//   entered   count | kClosed   +number by each thread that comes, let in or not; kClosed once, by the closer
//   left      count             +number by each thread that goes, or was not let in, as its last access
//
// A thread that brings several tasks counts as so many: at shutdown the count also stands for tasks.
//
// What must not happen: a thread is let in after the ending thread has seen no thread within, and before that
// thread closes. It cannot happen, since both change the same word by a read-modify-write. A thread that is
// let in is counted in the word that the closer reads.
//
// closeAt() closes only if no thread has come since a look that found nothing left to do: see quiescence.h.
template <class Sync = StdSync>
class RundownProtection {
 public:
  // Returns: whether the caller is let in; if so, it calls leave(number) later.
  bool enter(uint32_t number = 1) {
    // (1) relaxed: publishes nothing; it comes before the close or after it; pairs with (4).
    const bool isLetIn = (entered_.fetch_add(number, std::memory_order_relaxed) & kClosed) == 0;
    if (!isLetIn) {
      leave(number);
    }
    return isLetIn;
  }

  // Called by each thread that was let in, as its last access to what is guarded.
  void leave(uint32_t number = 1) {
    // (2) release: what was done within comes before the end; pairs with (3).
    left_.fetch_add(number, std::memory_order_release);
  }

  // Returns: how many threads have come; once closed, an unreachable number. relaxed: closeAt() tests.
  uint64_t numEntered() const { return entered_.load(std::memory_order_relaxed); }

  // Closes, if no thread has come since `numEntered` was numEntered(). Returns: whether it did.
  bool closeAt(uint64_t numEntered) {
    // (4) relaxed: as at note 1; pairs with (1).
    return entered_.compare_exchange_strong(numEntered, numEntered | kClosed, std::memory_order_relaxed,
                                            std::memory_order_relaxed);
  }

  // Closes. relaxed: as at note 1.
  void close() { entered_.fetch_or(kClosed, std::memory_order_relaxed); }

  // Called by the thread that ends what is guarded, after the close: waits until no thread is within.
  void awaitAllLeft() const {
    uint32_t round = 0;
    while (!haveAllLeft()) {
      Sync::relax(round);
    }
  }

 private:
  bool haveAllLeft() const {
    // (3) acquire: sees what was done within, and that the threads that have left had come; pairs with (2).
    const uint64_t left = left_.load(std::memory_order_acquire);
    // relaxed: the close has seen all threads that were let in.
    return left == (entered_.load(std::memory_order_relaxed) & ~kClosed);
  }

  static constexpr uint64_t kClosed = uint64_t{1} << 63;

  typename Sync::template Atomic<uint64_t> entered_{0};
  typename Sync::template Atomic<uint64_t> left_{0};
};

}  // namespace weft::inline v0_1::detail
