// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/sync.h"
#include "weft/export.h"

namespace weft::inline v0_1::detail {

// Lets one thread at a time, the owner, sleep until another thread gives it a permit. Permits do not add up:
// any number of unpark() calls since the last park() make one permit. The state is a futex word, as in Rust's
// std (sys/futex):
//
//   kEmpty      no permit, nobody sleeps
//   kPermit     a permit waits for the owner
//   kSleeping   the owner sleeps or is about to sleep
//   kElsewhere  likewise, but in something that ends its sleep when the parker's bell rings
//
// The owner moves kEmpty -> kSleeping and kPermit -> kEmpty, and when its time is up also kSleeping ->
// kEmpty. Any thread moves any state to kPermit, and wakes the futex if the state was kSleeping.
//
// Elsewhere. A thread whose fibers wait for sockets sleeps in epoll_wait or the like, not on the futex. Its
// bell is a descriptor (an eventfd) among those that it sleeps with.
//
//   owner                                        waker
//   O1 giveBell(), once in a parker's life       W1 any state -> kPermit
//   O2 beginElsewhere(): kEmpty -> kElsewhere    W2 it was kElsewhere: rings the bell
//   O3 sleeps
//   O4 endElsewhere(): any state -> kEmpty; it was kPermit: the permit is consumed
//
// What must not happen: W1 and W2 run between O2 and O3, and the owner sleeps on. It cannot happen: a bell
// that has rung stays rung until a sleep sees it. A waker may be held up between W1 and W2. Then its ring
// ends a later sleep for no reason, perhaps that of the parker's next owner. So a bell is never taken away,
// and who sleeps elsewhere looks again at what it waits for, as with any permit.
//
// What must not happen: unpark runs between the owner's look for a permit and its sleep, and the owner sleeps
// on. It cannot happen: the kernel compares the word with kSleeping, under its own lock, before the owner
// sleeps.
//
// unpark is an exchange even if a permit is there already. A load would save the write, but then the owner
// that takes the permit would not see what came before this unpark.
//
// unpark's last access to the parker is the futex wake, or the look at its bell. By then the owner may have
// returned already, and be gone. So a parker that other threads may unpark lives in process-wide memory
// (acquireParker), or is known to outlive the call.
template <class Sync, bool kHasBell>
struct BellOfParker {
  typename Sync::template Var<typename Sync::Bell> bell_{Sync::kNoBell};  // written once, by an owner
};
template <class Sync>
struct BellOfParker<Sync, false> {};

// kHasBell: whether its owner may sleep elsewhere. A parker without is a single word.
template <class Sync = StdSync, bool kHasBell = true>
class Parker : BellOfParker<Sync, kHasBell> {
 public:
  constexpr Parker() = default;
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;

  // Blocks the thread until there is a permit, and consumes it.
  // Memory ordering: the owner sees all that came before each unpark() that made the permit.
  void park() { parkUntilOrForever(nullptr); }

  // As park(), at most until `deadline`. TimePoint::max() means no deadline.
  // Returns: true if a permit was consumed; false if the time was up and no permit had come.
  bool parkUntil(TimePoint deadline) {
    return parkUntilOrForever(deadline == TimePoint::max() ? nullptr : &deadline);
  }

  // The owner: consumes a permit without blocking.
  // Returns: whether there was a permit.
  bool tryPark() {
    uint32_t expected = kPermit;
    // (1) acquire: sees what came before the unpark; pairs with (4).
    return state_.compare_exchange_strong(expected, kEmpty, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  // Any thread: gives the permit, and wakes the owner if it sleeps. Neither suspends nor blocks.
  void unpark() {
    // (4) acq_rel: the owner that consumes the permit sees what came before; the waker sees the bell; pairs
    // with (1, 2, 3, 5).
    const uint32_t before = state_.exchange(kPermit, std::memory_order_acq_rel);
    if (before == kSleeping) {
      Sync::futexWake(state_, 1);
    } else if constexpr (kHasBell) {
      if (before == kElsewhere) {
        Sync::ring(this->bell_.get());
      }
    }
  }

  // The owner: the bell, which is kNoBell until one is given. It must ring for as long as the parker exists.
  typename Sync::Bell bell() const
    requires kHasBell
  {
    return this->bell_.get();
  }
  void giveBell(typename Sync::Bell given)
    requires kHasBell
  {
    this->bell_.set(given);
  }

  // The owner, about to sleep with its bell.
  // Returns: false if there was a permit, which is consumed: then the owner must not sleep.
  // Requires: there is a bell.
  bool beginElsewhere()
    requires kHasBell
  {
    uint32_t expected = kEmpty;
    // (2) release: publishes the bell to the waker; pairs with (4).
    if (state_.compare_exchange_strong(expected, kElsewhere, std::memory_order_release,
                                       std::memory_order_relaxed)) {
      return true;
    }
    tryPark();
    return false;
  }

  // The owner, after beginElsewhere() and the sleep.
  // Returns: whether there was a permit, which is consumed.
  bool endElsewhere()
    requires kHasBell
  {
    // (5) acquire: sees what came before the unpark; pairs with (4).
    return state_.exchange(kEmpty, std::memory_order_acquire) == kPermit;
  }

 private:
  enum : uint32_t { kEmpty = 0, kPermit = 1, kSleeping = 2, kElsewhere = 3 };

  bool parkUntilOrForever(const TimePoint* deadline) {
    uint32_t expected = kEmpty;
    // relaxed: publishes nothing; a failure means that a permit is there.
    if (!state_.compare_exchange_strong(expected, kSleeping, std::memory_order_relaxed,
                                        std::memory_order_relaxed)) {
      return tryPark();
    }
    for (;;) {
      const bool inTime = Sync::futexWait(state_, kSleeping, deadline);
      if (tryPark()) {
        return true;
      }
      if (!inTime) {
        // (3) acquire: the same for a permit that came at the last moment; pairs with (4).
        return state_.exchange(kEmpty, std::memory_order_acquire) == kPermit;
      }
    }
  }

  typename Sync::template Atomic<uint32_t> state_{kEmpty};
};

// Returns: a parker on a cache line of its own, in memory that is never unmapped. A late unpark() can only
// reach the parker's next owner, which then finds a permit that was not meant for it. So treat its permits as
// hints: look again at what was waited for.
WEFT_EXPORT Parker<>* acquireParker();

// Requires: `parker` came from acquireParker(), and no thread parks on it.
WEFT_EXPORT void releaseParker(Parker<>* parker);

// Returns: the calling thread's own parker. It is acquired at the first use and released when the thread
// ends.
WEFT_EXPORT Parker<>& threadParker();

}  // namespace weft::inline v0_1::detail
