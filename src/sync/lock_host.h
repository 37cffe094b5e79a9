// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <stop_token>

#include "os/clock_reading.h"
#include "scheduler/fibers/fiber_control_block.h"
#include "weft/debug.h"
#include "weft/detail/base/owner.h"
#include "weft/detail/wait/patience.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// Returns: the caller's waiter, for a lock that may make it wait several times. Reports see one wait.
inline Waiter& waiterForLock() noexcept {
  Waiter& self = currentWaiter();
  self.since = kNotYet;
  return self;
}

// How the core of a lock waits.
struct LockHost {
  static TimePoint now() { return TimePoint::clock::now(); }
  void block(Waiter& self) const { (void)detail::blockForLock(self, kNever, what, object); }
  bool blockUntil(Waiter& self, TimePoint deadline) const {
    return detail::blockForLock(self, deadline, what, object);
  }
  bool blockAtFirst(Waiter& self) const { return detail::blockPatiently(self, what, object); }
  static void giveWay(Waiter& self) { detail::giveWay(self); }
  static void wakeAll(const WaitList& woken) { detail::wakeAll(woken); }
  static constexpr TimePoint limit() { return kNever; }
  static constexpr bool isStopped() { return false; }
  static constexpr bool hasLeft() { return false; }

  const char* what;  // for reports, like `object`
  const void* object;
};

// How the core of a lock waits until a deadline, or until a stop is requested.
struct LimitedLockHost : LockHost {
  void block(Waiter& self) const { detail::block(self, what, object); }
  bool blockUntil(Waiter& self, TimePoint deadline) const {
    // A wait that tries again but never gives up may be part of a deadlock. A wait that gives up is not.
    return until == kNever ? detail::blockForLock(self, deadline, what, object)
                           : detail::blockUntil(self, deadline, what, object);
  }
  bool blockAtFirst(Waiter& self) const {
    return until == kNever
               ? detail::blockPatiently(self, what, object)
               : detail::blockUntil(self, std::min<TimePoint>(now() + kPatience, until), what, object);
  }
  TimePoint limit() const { return until; }
  bool isStopped() const { return token.stop_requested(); }
  bool hasLeft() const { return isTakenOut; }

  TimePoint until;
  const std::stop_token& token;
  bool isTakenOut = false;  // written by the stop's callback before it wakes the waiter
};

// Calls lock(self, host) within the limits of `host`. leave(self) takes the waiter out of the list, and
// returns whether it was there. Returns: what lock() returns; false if the stop was requested before.
template <class Lock, class Leave>
bool lockWithin(LimitedLockHost host, const Lock& lock, const Leave& leave) {
  if (host.token.stop_requested()) {
    return false;
  }
  Waiter& self = waiterForLock();
  // The wait ends before the destructor of the callback, which waits for a callback on another thread.
  const auto stop = [&]() noexcept {
    if (leave(self)) {
      host.isTakenOut = true;
      detail::wake(self);
    }
  };
  const WithoutHandler withoutHandler;
  const std::stop_callback callback(host.token, stop);
  return lock(self, host);
}

// Ends the program if the wait for a lock of `owner` would never end. `held` ("it alone") is for the message.
inline void assertMayWaitFor(const void* owner, bool waitsForEver, const char* what, const void* object,
                             const char* held = "it") {
  WEFT_ASSERT(waitsForEver ? !isOrWaitsForCaller(owner) : owner != currentOwner(),
              "%s %p was locked by the fiber or thread that holds %s already, "
              "or is held by a task that waits for the caller, so that the wait would never end. "
              "Unlock it before, or call a function that expects it to be held. "
              "If the caller has not locked it, a task or thread that ran here before has ended with it.",
              what, object, held);
}

}  // namespace weft::inline v0_1::detail
