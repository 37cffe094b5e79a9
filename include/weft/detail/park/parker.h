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
//   kElsewhere  likewise, but in something that also waits for the parker's wake eventfd
//
// The owner moves kEmpty -> kSleeping and kPermit -> kEmpty, and when its time is up also kSleeping ->
// kEmpty. Any thread moves any state to kPermit, and wakes the futex if the state was kSleeping.
//
// Elsewhere. A thread whose fibers wait for sockets sleeps in epoll_wait or the like, not on the futex. Its
// wake eventfd is a descriptor (an eventfd) among those that it sleeps with.
//
//   owner                                        waker
//   O1 setWakeFd(), once in a parker's life       W1 any state -> kPermit
//   O2 beginElsewhere(): kEmpty -> kElsewhere    W2 it was kElsewhere: writes to the wake eventfd
//   O3 sleeps
//   O4 endElsewhere(): any state -> kEmpty; it was kPermit: the permit is consumed
//
// What must not happen: W1 and W2 run between O2 and O3, and the owner sleeps on. It cannot happen: a wake
// eventfd that was written to stays readable until a sleep sees it. A waker may be held up between W1 and W2.
// Then its write ends a later sleep for no reason, perhaps that of the parker's next owner. So a wake eventfd
// is never taken away, and who sleeps elsewhere looks again at what it waits for, as with any permit.
//
// What must not happen: unpark runs between the owner's look for a permit and its sleep, and the owner sleeps
// on. It cannot happen: the kernel compares the word with kSleeping, under its own lock, before the owner
// sleeps.
//
// unpark is an exchange even if a permit is there already. A load would save the write, but then the owner
// that takes the permit would not see what came before this unpark.
//
// unpark's last access to the parker is the futex wake, or the look at its wakeFd. By then the owner may have
// returned already, and be gone. So a parker that other threads may unpark lives in process-wide memory
// (acquireParker), or is known to outlive the call.
template <class Sync, bool kHasWakeFd>
struct WakeFdOfParker {
  typename Sync::template Var<typename Sync::WakeFd> wakeFd_{Sync::kNoWakeFd};  // written once, by an owner
};
template <class Sync>
struct WakeFdOfParker<Sync, false> {};

// kHasWakeFd: whether its owner may sleep elsewhere. A parker without is a single word.
template <class Sync = StdSync, bool kHasWakeFd = true>
class Parker : WakeFdOfParker<Sync, kHasWakeFd> {
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
    // (4) acq_rel: the owner that consumes the permit sees what came before; the waker sees the wake eventfd;
    // pairs with (1, 2, 3, 5).
    const uint32_t before = state_.exchange(kPermit, std::memory_order_acq_rel);
    if (before == kSleeping) {
      Sync::futexWake(state_, 1);
    } else if constexpr (kHasWakeFd) {
      if (before == kElsewhere) {
        Sync::signal(this->wakeFd_.get());
      }
    }
  }

  // The owner: the wake eventfd, which is kNoWakeFd until one is given. It must stay open for as long as the
  // parker exists.
  typename Sync::WakeFd wakeFd() const
    requires kHasWakeFd
  {
    return this->wakeFd_.get();
  }
  void setWakeFd(typename Sync::WakeFd given)
    requires kHasWakeFd
  {
    this->wakeFd_.set(given);
  }

  // The owner, about to sleep with its wakeFd.
  // Returns: false if there was a permit, which is consumed: then the owner must not sleep.
  // Requires: there is a wakeFd.
  bool beginElsewhere()
    requires kHasWakeFd
  {
    uint32_t expected = kEmpty;
    // (2) release: publishes the wake eventfd to the waker; pairs with (4).
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
    requires kHasWakeFd
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
