// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/sync.h"

namespace weft::detail {

// The scheduling role of a fair::TaskScheduler: a lock that is only ever tried for, by threads that say when
// they are active. A thread that is the only active one takes it without an atomic read-modify-write, which
// is a quarter of what a short step costs.
//
// State: `numActive_`, the threads that are active; `held_`, 1 while one of several has the role; `lone_`, 1
// while a thread has it, or tries, as the only active one.
//
//   the only active thread                a thread that becomes active, and tries
//   A1 lone = 1                           B1 count up
//   A2 lightFence                         B2 heavyFence
//   A3 look at the count: still 1,        B3 held = 1
//      so that the role is its own        B4 look at lone: 0, so that the role is its own
//
// What must not happen: A3 sees 1 and B4 sees 0, and both have the role. A2 and B2 are the two fences of the
// store-buffering litmus test (as in steal_gate.h): the price, a membarrier, lies with the thread that has
// just been woken, which costs more.
//
// A thread that has come to be the only one sees what the others did with the role: they leave it before they
// count themselves down.
//
// Rejected: a role that stays with the thread that had it last (biased locking): whoever wants it then must
// ask for it, and wait as long as a step takes.
template <class Sync = StdSync>
class DispatcherLock {
 public:
  enum class Hold : uint8_t { None, Alone, BesideOthers };

  DispatcherLock() = default;
  DispatcherLock(const DispatcherLock&) = delete;
  DispatcherLock& operator=(const DispatcherLock&) = delete;

  // How many threads are active. Exact for whoever keeps others from changing it, else a hint.
  // relaxed: publishes nothing.
  uint32_t numActive() const { return numActive_.load(std::memory_order_relaxed); }

  // Whether anybody has the role. A hint.
  // relaxed, both: publishes nothing.
  bool isTaken() const {
    return held_.load(std::memory_order_relaxed) != 0 || lone_.load(std::memory_order_relaxed) != 0;
  }

  // Before the threads run. relaxed: they are started afterwards.
  void beginAll(uint32_t count) { numActive_.store(count, std::memory_order_relaxed); }

  // One at a time, these two, by a thread that has not the role.
  void begin() {
    // relaxed: the fence orders it.
    numActive_.store(numActive() + 1, std::memory_order_relaxed);
    // (1) the count (B1) before the look at `lone` (B4); pairs with (3).
    Sync::heavyFence();
  }
  void end() {
    // (2) release: who sees that it is alone sees what was done with the role; pairs with (4).
    numActive_.store(numActive() - 1, std::memory_order_release);
  }

  // An active thread. Returns: whether, and how, it has the role now; may fail although nobody has it.
  Hold tryTake() {
    if (numActive() == 1) [[likely]] {
      // relaxed: the fence orders it.
      lone_.store(1, std::memory_order_relaxed);
      // (3) `lone` (A1) before the look at the count (A3); pairs with (1).
      Sync::lightFence();
      // (4) acquire: sees what those did that are not active any more; pairs with (2).
      if (numActive_.load(std::memory_order_acquire) == 1) [[likely]] {
        return Hold::Alone;
      }
      leave(Hold::Alone);
    }
    return tryTakeBesideOthers();
  }

  // Whoever has the role: `hold` as tryTake() returned it.
  void leave(Hold hold) {
    if (hold == Hold::Alone) [[likely]] {
      // (5) release: hands over what the role guards; pairs with (8).
      lone_.store(0, std::memory_order_release);
    } else {
      // (6) release: likewise; pairs with (7).
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
    // (8) acquire: sees the work of who was alone; pairs with (5).
    if (lone_.load(std::memory_order_acquire) == 0) {
      return Hold::BesideOthers;
    }
    // (9) release: hands on what the holders before did, of which the exchange has learnt; pairs with (7).
    held_.store(0, std::memory_order_release);
    return Hold::None;
  }

  alignas(kCacheLine) Atomic<uint32_t> held_{0};
  Atomic<uint32_t> lone_{0};
  // Looked at by others often, and written seldom.
  alignas(kCacheLine) Atomic<uint32_t> numActive_{0};
};

}  // namespace weft::detail
