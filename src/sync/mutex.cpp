// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/mutex.h"

#include "scheduler/worker/process_fork.h"
#include "sync/lock_host.h"
#include "weft/debug.h"

namespace weft::inline v0_1 {

void mutex::lockSlow(const char* name) {
  // relaxed: see setOwner.
  detail::assertMayWaitFor(owner_.load(std::memory_order_relaxed), true, name, this);
  (void)core_.lock(detail::waiterForLock(), detail::LockHost{name, this});
}

bool mutex::waitFor(detail::TimePoint deadline, const std::stop_token& token, const char* name) {
  const bool waitsForEver = deadline == detail::kNever && !token.stop_possible();
  // relaxed: see setOwner.
  detail::assertMayWaitFor(owner_.load(std::memory_order_relaxed), waitsForEver, name, this);
  return detail::lockWithin(
      detail::LimitedLockHost{{name, this}, deadline, token},
      [this](detail::Waiter& self, const detail::LimitedLockHost& host) { return core_.lock(self, host); },
      [this](detail::Waiter& self) { return core_.leave(self); });
}

bool mutex::tryTakeOffer() { return core_.tryTakeOffer(detail::LockHost{kName, this}); }

void mutex::unlockSlow() { detail::wakeAll(core_.unlock(detail::LockHost{kName, this})); }

// relaxed: it matters only whether it is the caller.
void mutex::reportNotHeld() const {
  // In a child of fork() no task is current, so that the holder is not recognised.
  detail::assertBindingNotLost("mutex::unlock()");
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

}  // namespace weft::inline v0_1
