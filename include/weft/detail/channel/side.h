// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

// One side of a channel's ring: how many values have passed it, a lock and flags, in one word, which only the
// holder of the lock changes, by the store that gives the lock back.
template <class Sync = StdSync>
class ChannelSide {
 public:
  using Word = uint64_t;

  constexpr explicit ChannelSide(Word word = 0) : word_(word) {}

  static constexpr Word kLocked = 1;
  static constexpr Word kOthersWait = 2;  // the other side's calls wait for one of this side's
  static constexpr Word kClosed = 4;
  static constexpr Word kOne = 8;

  static constexpr uint64_t position(Word word) { return word / kOne; }

  // Takes the lock; `old` is the word before. Returns: false, without the lock, if a bit of `unless` is set.
  bool lockUnless(Word unless, Word& old) {
    uint32_t round = 0;
    // relaxed: only a guess for the compare-exchange.
    old = word_.load(std::memory_order_relaxed);
    for (;;) {
      if ((old & unless) != 0) {
        return false;
      }
      if ((old & kLocked) != 0) {
        Sync::relax(round);
        old = word_.load(std::memory_order_relaxed);
        // (1) acquire: sees what the holder before wrote; pairs with (2).
      } else if (word_.compare_exchange_weak(old, old | kLocked, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
        return true;
      }
    }
  }

  // Gives the lock back, with `next` as the word.
  void unlock(Word next) {
    // (2) release: the next holder, and a thread that counts the values, see what was done with the lock, and
    // before it; pairs with (1, 3, 4). The channel may be gone after it.
    word_.store(next, std::memory_order_release);
  }

  // For the other side. Returns: how many values have passed; they are complete, or gone from the ring.
  uint64_t numPassed() const {
    // (3) acquire: sees what was done to those values; pairs with (2).
    return position(word_.load(std::memory_order_acquire));
  }

  bool isClosed() const {
    // (4) acquire: sees what came before the close; pairs with (2).
    return (word_.load(std::memory_order_acquire) & kClosed) != 0;
  }

  // relaxed: an estimate, or nobody else uses it.
  uint64_t estimate() const { return position(word_.load(std::memory_order_relaxed)); }

  // What the other side's numPassed() was last: guarded by the lock.
  typename Sync::template Var<uint64_t> seenOther;

  // relaxed: hints. Which thread has used this side last, or 0; how long callers spin for the other side.
  void noteUser(uintptr_t user) {
    if (lastUser() != user) {
      user_.store(user, std::memory_order_relaxed);
    }
  }
  uintptr_t lastUser() const { return user_.load(std::memory_order_relaxed); }
  uint32_t patience() const { return patience_.load(std::memory_order_relaxed); }
  void setPatience(uint32_t pauses) { patience_.store(pauses, std::memory_order_relaxed); }

 private:
  friend struct LayoutAccess;
  typename Sync::template Atomic<Word> word_;
  typename Sync::template Atomic<uintptr_t> user_{0};
  typename Sync::template Atomic<uint32_t> patience_{32};
};

}  // namespace weft::inline v0_1::detail
