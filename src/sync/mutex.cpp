// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/mutex.h"

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
  const mutex* object;
};

}  // namespace

void mutex::lockSlow() {
  // relaxed: see setOwner.
  WEFT_ASSERT(
      !detail::isOrWaitsForCaller(owner_.load(std::memory_order_relaxed)),
      "mutex %p was locked by the fiber or thread that holds it already, or is held by a task that waits for "
      "it, which would wait for ever. Unlock it before, or call a function that expects it to be held.",
      static_cast<const void*>(this));
  core_.lock(detail::currentWaiter(), Host{this});
}

bool mutex::tryTakeOffer() { return core_.tryTakeOffer(Host{this}); }

void mutex::unlockSlow() {
  detail::WaitList woken = core_.unlock(Host{this});
  detail::wakeAll(woken);
}

// relaxed: it matters only whether it is the caller.
void mutex::reportNotHeld() const {
  WEFT_FATAL(
      "mutex %p was unlocked by a fiber or thread that does not hold it (it is %s). Unlock it where it was "
      "locked; "
      "weft::lock does that by itself.",
      static_cast<const void*>(this),
      owner_.load(std::memory_order_relaxed) == nullptr ? "not locked" : "held by another");
}

void mutex::reportDestroyedInUse() {
  WEFT_FATAL(
      "a mutex was destroyed while somebody held it or waited for it. Keep it alive until all are done with "
      "it.");
}

}  // namespace weft
