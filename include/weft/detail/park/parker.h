// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/sync.h"
#include "weft/export.h"

namespace weft::detail {

// Lets one thread at a time, the owner, sleep until another gives it a permit. Permits do not add up: any
// number of unpark() calls since the last park() make one. A futex word with three states, as in Rust's std
// (sys/futex):
//   kEmpty                    no permit, nobody sleeps
//   kPermit                   a permit waits for the owner
//   kSleeping                 the owner sleeps or is about to
// The owner moves kEmpty -> kSleeping and kPermit -> kEmpty; when its time is up also kSleeping -> kEmpty.
// Anyone moves any state to kPermit, and wakes the futex iff it was kSleeping.
//
// What must not happen: unpark runs between the owner's look for a permit and its sleep, and the owner
// sleeps on. It cannot: the kernel compares the word with kSleeping under its own lock before it sleeps.
//
// unpark is an exchange even if a permit is there already. A mere load would save the write, but then the
// owner that takes the permit would not see what came before this unpark.
//
// The last access of unpark to the parker is the futex wake, after the owner may already have returned and
// gone. So parkers that others may unpark live in process-wide memory (acquireParker), or are known to
// outlive the call.
template <class Sync = StdSync>
class Parker {
 public:
  constexpr Parker() = default;
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;

  // Blocks the thread until there is a permit, and consumes it.
  // Memory ordering: all that came before each unpark() merged into the permit is seen afterwards.
  void park() { parkUntilOrForever(nullptr); }

  // As park(), at most until `deadline`. TimePoint::max() means no deadline.
  // Returns: true when a permit was consumed; false when the time was up and no permit had come.
  bool parkUntil(TimePoint deadline) {
    return parkUntilOrForever(deadline == TimePoint::max() ? nullptr : &deadline);
  }

  // Owner: consumes a permit without blocking. Returns: whether there was one.
  bool tryPark() {
    uint32_t expected = kPermit;
    // (1) acquire: sees what came before the unpark; pairs with (4).
    return state_.compare_exchange_strong(expected, kEmpty, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  // Any thread: gives the permit, and wakes the owner if it sleeps. Neither suspends nor blocks.
  void unpark() {
    // (4) release: what came before is seen by whoever consumes the permit; pairs with (1, 3).
    if (state_.exchange(kPermit, std::memory_order_release) == kSleeping) {
      Sync::futexWake(state_, 1);
    }
  }

 private:
  enum : uint32_t { kEmpty = 0, kPermit = 1, kSleeping = 2 };

  bool parkUntilOrForever(const TimePoint* deadline) {
    if (tryPark()) {
      return true;
    }
    uint32_t expected = kEmpty;
    // relaxed: publishes nothing; a failure means that a permit has just come.
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

// A parker on a cache line of its own, in memory that is never unmapped, so that a late unpark() touches
// nothing worse than the parker's next owner, who then finds a permit that nobody meant. Treat its permits
// as hints: look again at what was waited for.
WEFT_EXPORT Parker<>* acquireParker();

// Requires: `parker` came from acquireParker, and nobody parks on it.
WEFT_EXPORT void releaseParker(Parker<>* parker);

// The calling thread's own parker, acquired at first use and released when the thread ends.
WEFT_EXPORT Parker<>& threadParker();

}  // namespace weft::detail
