// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/sync.h"

namespace weft::detail {

// Lets threads into something that may end, until it is closed; whoever ends it waits then for those that are
// within. It outlives what it guards.
//
//   entered   count | kClosed   +1 by each that comes, whether it is let in; kClosed by whoever closes, once
//   left      count             +1 by each that goes, or was not let in, as its last access
//
// What must not happen:
//     one that comes                    one that ends it
//                                       sees nobody within
//     is let in
//                                       closes, and destroys what is used
// It cannot: both change the same word by a read-modify-write. Who is let in came before the close, and is
// counted in the word that the one who has closed reads.
//
// Where it is to close only if nothing is left to do, that is found out beside a count of those that came,
// and closeAt() closes if that count is still the same. So one who is let in brings its work in time; see
// quiescence.h.
template <class Sync = StdSync>
class Entrance {
 public:
  // Returns: whether the caller is let in; it leaves later then.
  bool enter() {
    // (1) relaxed: publishes nothing; but one operation, before the close or after; pairs with (4).
    const bool isLetIn = (entered_.fetch_add(1, std::memory_order_relaxed) & kClosed) == 0;
    if (!isLetIn) {
      leave();
    }
    return isLetIn;
  }

  // Whoever was let in, as its last access to what is guarded.
  void leave() {
    // (2) release: what was done within comes before the end; pairs with (3).
    left_.fetch_add(1, std::memory_order_release);
  }

  // Returns: how many have come; and more than can be, once it is closed.
  // relaxed: closeAt() looks again.
  uint64_t numEntered() const { return entered_.load(std::memory_order_relaxed); }

  // Returns: whether nobody has come since that was numEntered(): it is closed then.
  bool closeAt(uint64_t numEntered) {
    // (4) relaxed: as before; pairs with (1).
    return entered_.compare_exchange_strong(numEntered, numEntered | kClosed, std::memory_order_relaxed,
                                            std::memory_order_relaxed);
  }

  // Closes it, if it is not closed yet. relaxed: as for closeAt().
  void close() { entered_.fetch_or(kClosed, std::memory_order_relaxed); }

  // Whoever ends what is guarded, after it was closed: waits until nobody is within.
  void awaitAllLeft() const {
    uint32_t round = 0;
    while (!haveAllLeft()) {
      Sync::relax(round);
    }
  }

 private:
  bool haveAllLeft() const {
    // (3) acquire: sees what was done within, and that those who have left had come; pairs with (2).
    const uint64_t left = left_.load(std::memory_order_acquire);
    // relaxed: the close has seen all that were let in.
    return left == (entered_.load(std::memory_order_relaxed) & ~kClosed);
  }

  static constexpr uint64_t kClosed = uint64_t{1} << 63;

  typename Sync::template Atomic<uint64_t> entered_{0};
  typename Sync::template Atomic<uint64_t> left_{0};
};

}  // namespace weft::detail
