// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/sync.h"

// How the owners of deques know that nobody steals, and so take without a fence.
//
// A worker enters before it steals, and leaves when it has stolen, or has not for a while. While the count is
// zero an owner that takes needs neither a fence nor a compare-exchange, which are most of what a fork costs.
//
//   owner                                 thief
//   O1 announce the take (bottom - 1)     T1 enter: count up
//   O2 lightFence                         T2 heavyFence
//   O3 look at the count: nobody else,    T3 look at bottom, and claim what lies below it
//      so that the item is its own
//
// What must not happen: O3 sees nobody, T3 sees the old bottom, and both have the item. O2 and T2 are the two
// fences of the store-buffering litmus test: a thief that O3 has not seen sees the announced bottom, and all
// later ones. The price lies on the side that comes seldom (Dice, Huang, Yang, "Asymmetric Dekker
// Synchronization", 2001).
//
// An owner that steals itself, and is the only one, takes as if nobody did; but the others cannot know. When
// to leave is the ski-rental problem (Karlin, Manasse, Rudolph, Sleator, "Competitive Snoopy Caching", 1988):
// entering costs a membarrier, 16 us beside a running thread, and staying costs the owners a fence for each
// task that they take. A thief that is busy itself leaves once it has taken so many tasks of its own since
// the last theft that as many fences have cost as much as entering does.
//
// Rejected: a membarrier for every theft; a part of the deque that is private, since its owner would have to
// look up from a long task when somebody else becomes idle.
namespace weft::detail {

// How many workers steal now. One per scheduler.
template <class Sync = StdSync>
class StealGate {
 public:
  // One worker's part in it: what only that worker's thread uses.
  class Member {
   public:
    explicit Member(StealGate& gate) : gate_(gate) {}

    // Before each theft, unless the worker is sure that it has not left since.
    void enter() {
      numTaken_ = 0;
      if (!hasEntered_) {
        hasEntered_ = true;
        gate_.enter();
      }
    }

    void leave() {
      if (hasEntered_) {
        hasEntered_ = false;
        gate_.leave();
      }
    }

    // An owner that has announced a take. Returns: whether nobody else steals who has not seen that.
    bool isUnseen() {
      const uint32_t numThere = gate_.numThere();
      return numThere == 0 || (hasEntered_ && isOnly(numThere));
    }

   private:
    [[gnu::noinline]] bool isOnly(uint32_t numThere) {
      if (++numTaken_ >= kLeaveAfter) {
        leave();
      }
      return numThere == 1;
    }

    static constexpr uint32_t kLeaveAfter = 2048;  // fences of some 6 ns

    StealGate& gate_;
    uint32_t numTaken_ = 0;  // since the last theft
    bool hasEntered_ = false;
  };

 private:
  void enter() {
    // relaxed: the fence orders it.
    count_.fetch_add(1, std::memory_order_relaxed);
    // (1) the count before the looks at the deques (T2); pairs with (2).
    Sync::heavyFence();
  }

  // (3) release: an owner that sees the count as zero sees what was stolen; pairs with (4).
  void leave() { count_.fetch_sub(1, std::memory_order_release); }

  uint32_t numThere() const {
    // (2) the announced take before the look at the count (O2); pairs with (1).
    Sync::lightFence();
    // (4) acquire: sees how far the thieves that have left had come; pairs with (3).
    return count_.load(std::memory_order_acquire);
  }

  alignas(kCacheLine) typename Sync::template Atomic<uint32_t> count_{0};  // up and down by the members
};

}  // namespace weft::detail
