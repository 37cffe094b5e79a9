// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/sync.h"
#include "weft/export.h"

namespace weft::inline v0_1::detail {

// The member that only a parker with a wake eventfd has.
template <class Sync, bool kHasWakeFd>
struct WakeFdOfParker {
  // Written once, by an owner.
  typename Sync::template Var<typename Sync::WakeFd> wakeFd_{Sync::kNoWakeFd};
};
template <class Sync>
struct WakeFdOfParker<Sync, false> {};

// Lets one thread at a time, the owner, sleep until another thread gives it a permit. Permits do not add up.
// The state is a futex word, as in Rust's std (sys/futex):
//
//   kEmpty      no permit, nobody sleeps
//   kPermit     a permit waits for the owner
//   kSleeping   the owner sleeps on the futex, or is about to
//   kElsewhere  the owner sleeps in epoll_wait or the like, or is about to, with the wake eventfd
//
// The owner moves kEmpty -> kSleeping or kElsewhere, and any state -> kEmpty. Any thread: any -> kPermit.
//
// What must not happen: unpark runs between the owner's look for a permit and its sleep, and the owner sleeps
// on. The kernel prevents it: it compares the word with kSleeping under a lock before the sleep.
//
// A thread whose fibers wait for sockets sleeps elsewhere:
//
//   owner                                        waker
//   O1 setWakeFd(), once in a parker's life       W1 any state -> kPermit
//   O2 beginElsewhere(): kEmpty -> kElsewhere    W2 it was kElsewhere: writes to the wake eventfd
//   O3 sleeps
//   O4 endElsewhere(): any state -> kEmpty; it was kPermit: the permit is consumed
//
// What must not happen: W1 and W2 run between O2 and O3, and the owner sleeps on. It cannot happen: an
// eventfd that was written to stays readable until a sleep sees it. If the waker is held up between W1 and
// W2, its write ends a later sleep for no reason, perhaps that of the parker's next owner. So the wake
// eventfd stays open, and an owner looks again at what it waits for, as after any permit.
//
// unpark is an exchange even if a permit is there already. If it only loaded the state, the owner that takes
// the permit would not see what came before this unpark.
//
// unpark's last access to the parker is the futex wake, or the load of its wakeFd. By then the owner may have
// returned and gone. So parkers live in process-wide memory (acquireParker), or outlive the call.
//
// kHasWakeFd: whether the owner may sleep elsewhere. If not, a parker is a single word.
template <class Sync = StdSync, bool kHasWakeFd = true>
class Parker : WakeFdOfParker<Sync, kHasWakeFd> {
 public:
  // Blocks the thread until there is a permit, and consumes it.
  // Memory ordering: the owner sees all that came before each unpark() that made the permit.
  void park() { parkUntilOrForever(nullptr); }

  // park() with a time limit. TimePoint::max() means none.
  // Returns: whether a permit was consumed; if not, the time was up.
  bool parkUntil(TimePoint deadline) {
    return parkUntilOrForever(deadline == TimePoint::max() ? nullptr : &deadline);
  }

  // The owner: consumes a permit, if there is one. Does not block. Returns: whether there was one.
  bool tryPark() {
    uint32_t expected = kPermit;
    // (1) acquire: sees what came before the unpark; pairs with (4).
    return state_.compare_exchange_strong(expected, kEmpty, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  // Any thread: gives the permit, and wakes the owner. Neither suspends nor blocks.
  void unpark() {
    // (4) acq_rel: publishes what came before to the owner that consumes the permit; sees the wake eventfd;
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

  // The owner: the wake eventfd, or kNoWakeFd. It must stay open for as long as the parker exists.
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

  // The owner, about to sleep with its wakeFd, which is set.
  // Returns: false if there was a permit, which is consumed: then the owner must not sleep.
  bool beginElsewhere()
    requires kHasWakeFd
  {
    uint32_t expected = kEmpty;
    // (2) release: publishes the wake eventfd; pairs with (4).
    if (state_.compare_exchange_strong(expected, kElsewhere, std::memory_order_release,
                                       std::memory_order_relaxed)) {
      return true;
    }
    tryPark();
    return false;
  }

  // The owner, after beginElsewhere() and the sleep. Returns: whether there was a permit, which is consumed.
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
    // relaxed: publishes nothing; it fails if there is a permit.
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
        // (3) acquire: as in tryPark(), for a permit that came at the last moment; pairs with (4).
        return state_.exchange(kEmpty, std::memory_order_acquire) == kPermit;
      }
    }
  }

  typename Sync::template Atomic<uint32_t> state_{kEmpty};
};

// Returns: a parker on a cache line of its own, in memory that is never unmapped. A late unpark() may give a
// permit to the parker's next owner. So permits are hints: an owner looks again at what it waits for.
WEFT_EXPORT Parker<>* acquireParker();

// Requires: `parker` came from acquireParker(), and no thread parks on it.
WEFT_EXPORT void releaseParker(Parker<>* parker);

// Returns: the calling thread's own parker, acquired at the first use and released when the thread ends.
WEFT_EXPORT Parker<>& threadParker();

}  // namespace weft::inline v0_1::detail
