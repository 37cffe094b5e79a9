// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

// The lock under which a thread of a fair::TaskScheduler dispatches: a try-lock, for which no thread waits.
// Threads announce when they are active. A lone active thread takes the lock without an atomic
// read-modify-write, which would be a quarter of the cost of a short step.
//
// State:
//   numActive_   how many threads are active
//   held_        1 while one of several active threads has the lock
//   lone_        1 while the only active thread has the lock, or tries to take it
//
//   the only active thread                a thread that becomes active, and tries
//   A1 lone = 1                           B1 count up
//   A2 lightFence                         B2 heavyFence
//   A3 look at the count: still 1,        B3 held = 1
//      so it has the lock                 B4 look at lone: 0, so it has the lock
// What must not happen: A3 sees 1 and B4 sees 0, and both have the lock. A2 and B2 are the two fences of the
// store-buffering litmus test (as in steal_gate.h). The thread that has just been woken pays for the
// membarrier: its wake has cost more. Other threads leave it before they count down.
//
// Rejected: biased locking, where the lock stays with its last owner. Another thread would wait for a step.
template <class Sync = StdSync>
class DispatcherLock {
 public:
  enum class Hold : uint8_t { None, Alone, BesideOthers };

  // How many threads are active: exact if the caller keeps it from changing. relaxed: publishes nothing.
  uint32_t numActive() const { return numActive_.load(std::memory_order_relaxed); }

  // Whether any thread has the lock. A hint. relaxed, both: publishes nothing.
  bool isTaken() const {
    return held_.load(std::memory_order_relaxed) != 0 || lone_.load(std::memory_order_relaxed) != 0;
  }

  // Called before the threads run. relaxed: they are started afterwards.
  void beginAll(uint32_t count) { numActive_.store(count, std::memory_order_relaxed); }

  // begin() and end() are called one at a time, by a thread that does not have the lock.
  void begin() {
    // relaxed: the fence orders it.
    numActive_.store(numActive() + 1, std::memory_order_relaxed);
    // (1) the count (B1) before the look at `lone` (B4); pairs with (3).
    Sync::heavyFence();
  }
  void end() {
    // (2) release: a thread that sees that it is alone sees what was done with the lock; pairs with (4).
    numActive_.store(numActive() - 1, std::memory_order_release);
  }

  // Requires: the caller is an active thread.
  // Returns: whether, and how, it has the lock. May fail although nobody has the lock.
  Hold tryTake() {
    if (numActive() == 1) [[likely]] {
      // relaxed: the fence orders it.
      lone_.store(1, std::memory_order_relaxed);
      // (3) `lone` (A1) before the look at the count (A3); pairs with (1).
      Sync::lightFence();
      // (4) acquire: sees what the threads did that are not active any more; pairs with (2).
      if (numActive_.load(std::memory_order_acquire) == 1) [[likely]] {
        return Hold::Alone;
      }
      leave(Hold::Alone);
    }
    return tryTakeBesideOthers();
  }

  // Requires: the caller has the lock, and `hold` is what tryTake() returned.
  void leave(Hold hold) {
    if (hold == Hold::Alone) [[likely]] {
      // (5) release: hands over what the lock guards; pairs with (8).
      lone_.store(0, std::memory_order_release);
    } else {
      // (6) release: hands over what the lock guards; pairs with (7).
      held_.store(0, std::memory_order_release);
    }
  }

 private:
  template <class T>
  using Atomic = typename Sync::template Atomic<T>;

  Hold tryTakeBesideOthers() {
    // relaxed: a look first, so that losers do not write.
    // (7) acquire: sees the last holder's work; pairs with (6, 9).
    if (held_.load(std::memory_order_relaxed) != 0 || held_.exchange(1, std::memory_order_acquire) != 0) {
      return Hold::None;
    }
    // (8) acquire: sees the work of a holder that was alone; pairs with (5).
    if (lone_.load(std::memory_order_acquire) == 0) {
      return Hold::BesideOthers;
    }
    // (9) release: hands on the work of earlier holders, which the exchange has seen; pairs with (7).
    held_.store(0, std::memory_order_release);
    return Hold::None;
  }

  alignas(kCacheLine) Atomic<uint32_t> held_{0};
  Atomic<uint32_t> lone_{0};
  // Often read by other threads, seldom written.
  alignas(kCacheLine) Atomic<uint32_t> numActive_{0};
};

}  // namespace weft::inline v0_1::detail
