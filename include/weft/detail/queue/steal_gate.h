// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/sync.h"

// Tells the owners of deques whether there are thieves. While there are none, an owner takes without a fence
// and without a compare-exchange, which are most of the cost of a fork. A worker enters before it steals. It
// leaves when it has stolen, or has stolen nothing for a while.
//
//   owner                                 thief
//   O1 announce the take (bottom - 1)     T1 enter: count up
//   O2 lightFence                         T2 heavyFence
//   O3 look at the count: nobody else,    T3 look at bottom, and claim what lies below it
//      so the item is its own
//
// What must not happen: O3 sees no thief, T3 sees the old bottom, and both have the item. O2 and T2 are the
// two fences of the store-buffering litmus test: a thief that O3 has not seen sees the announced bottom, and
// all later ones. The side that comes seldom pays.
//
// If light fences are not free, the count is never zero, and owners always take with a full fence.
//
// An owner that is the only thief takes without a fence too. The other owners do not know that, and pay for
// the fence. When to leave is the ski-rental problem (Karlin, Manasse, Rudolph, Sleator, "Competitive Snoopy
// Caching", 1988). Entering costs a membarrier, 16 us beside a running thread. Staying costs the owners a
// fence for each task that they take. So a busy thief leaves once it has taken as many of its own tasks since
// its last theft as there are fences in the cost of entering.
//
// Rejected: a membarrier for every theft. Rejected: a private part of the deque, since its owner would have
// to look up from a long task when another worker becomes idle.
namespace weft::inline v0_1::detail {

// Counts the workers that steal now. One per scheduler.
template <class Sync = StdSync>
class StealGate {
 public:
  // One worker's part of the gate. Only that worker's thread uses it.
  class Stealer {
   public:
    explicit Stealer(StealGate& gate) : gate_(gate) {}

    // Called before each theft, unless the worker knows that it has not left since the last call.
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

    // Called by an owner that has announced a take.
    // Returns: whether every other thief will see the announced take.
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

    static constexpr uint32_t kLeaveAfter = 2048;  // fences of about 6 ns

    StealGate& gate_;
    uint32_t numTaken_ = 0;  // since the last theft
    bool hasEntered_ = false;
  };

 private:
  void enter() {
    count_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the fence orders it
    // (1) the count before the looks at the deques (T2); pairs with (2).
    Sync::heavyFence();
  }

  // (3) release: an owner that sees zero sees what was stolen; pairs with (4).
  void leave() { count_.fetch_sub(1, std::memory_order_release); }

  uint32_t numThere() const {
    // (2) the announced take before the look at the count (O2); pairs with (1).
    Sync::lightFenceWhereFree();
    // (4) acquire: sees how far the thieves that have left came; pairs with (3).
    return count_.load(std::memory_order_acquire);
  }

  static constexpr uint32_t kAlways = 1u << 31;  // as if there were thieves

  // Each member adds one.
  alignas(kCacheLine) typename Sync::template Atomic<uint32_t> count_{Sync::isLightFenceFree() ? 0 : kAlways};
};

}  // namespace weft::inline v0_1::detail
