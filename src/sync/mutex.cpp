// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/mutex.h"

#include "scheduler/fiber_control_block.h"
#include "weft/debug.h"

namespace weft {
namespace {

// How MutexCore waits.
struct Host {
  static detail::TimePoint now() { return detail::TimePoint::clock::now(); }
  void block(detail::Waiter& self) const {
    (void)detail::blockForLock(self, detail::kNever, "mutex", object);
  }
  bool blockUntil(detail::Waiter& self, detail::TimePoint deadline) const {
    return detail::blockForLock(self, deadline, "mutex", object);
  }
  static constexpr detail::TimePoint limit() { return detail::kNever; }
  static constexpr bool isStopped() { return false; }
  static constexpr bool hasLeft() { return false; }
  const mutex* object;
};

// The same, for a wait that gives up at a deadline, or when a stop is requested.
struct LimitedHost {
  static detail::TimePoint now() { return Host::now(); }
  void block(detail::Waiter& self) const { detail::block(self, "mutex", object); }
  bool blockUntil(detail::Waiter& self, detail::TimePoint deadline) const {
    // A wait that tries again but never gives up may be part of a deadlock. A wait that gives up is not.
    return until == detail::kNever ? detail::blockForLock(self, deadline, "mutex", object)
                                   : detail::blockUntil(self, deadline, "mutex", object);
  }
  detail::TimePoint limit() const { return until; }
  bool isStopped() const { return token.stop_requested(); }
  bool hasLeft() const { return isTakenOut; }

  const mutex* object;
  detail::TimePoint until;
  const std::stop_token& token;
  bool isTakenOut = false;  // written by the stop's callback before it wakes the waiter
};

}  // namespace

void mutex::assertMayWait(bool waitsForEver) const {
  // relaxed: see setOwner.
  const void* const owner = owner_.load(std::memory_order_relaxed);
  WEFT_ASSERT(waitsForEver ? !detail::isOrWaitsForCaller(owner) : owner != detail::currentOwner(),
              "mutex %p was locked by the fiber or thread that holds it already, "
              "or is held by a task that waits for the caller, so that the wait would never end. "
              "Unlock it before, or call a function that expects it to be held.",
              static_cast<const void*>(this));
}

void mutex::lockSlow() {
  assertMayWait(true);
  (void)core_.lock(detail::currentWaiter(), Host{this});
}

bool mutex::waitFor(detail::TimePoint deadline, const std::stop_token& token) {
  assertMayWait(deadline == detail::kNever && !token.stop_possible());
  if (token.stop_requested()) {
    return false;
  }
  detail::Waiter& self = detail::currentWaiter();
  LimitedHost host{this, deadline, token};
  // The wait ends before the destructor of the callback, which waits for a callback that
  // runs on another thread.
  const auto stop = [&]() noexcept {
    if (core_.leave(self)) {
      host.isTakenOut = true;
      detail::wake(self);
    }
  };
  const detail::WithoutHandler withoutHandler;
  const std::stop_callback callback(token, stop);
  return core_.lock(self, host);
}

bool mutex::tryTakeOffer() { return core_.tryTakeOffer(Host{this}); }

void mutex::unlockSlow() { detail::wakeAll(core_.unlock(Host{this})); }

// relaxed: it matters only whether it is the caller.
void mutex::reportNotHeld() const {
  WEFT_FATAL(
      "mutex %p was unlocked by a fiber or thread that does not hold it (it is %s). "
      "Unlock it where it was locked; weft::lock does that by itself.",
      static_cast<const void*>(this),
      owner_.load(std::memory_order_relaxed) == nullptr ? "not locked" : "held by another");
}

void mutex::reportDestroyedInUse() {
  WEFT_FATAL(
      "a mutex was destroyed while somebody held it or waited for it. "
      "Keep it alive until all are done with it.");
}

}  // namespace weft
