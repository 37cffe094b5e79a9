// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/sharedmutex.h"

#include "scheduler/worker/process_fork.h"
#include "sync/lock_host.h"
#include "weft/debug.h"

namespace weft::inline v0_1 {

bool SharedMutex::tryTake(How how) { return lock_.tryTake(how, detail::LockHost{kName, this}); }

bool SharedMutex::waitFor(How how, detail::TimePoint deadline, const std::stop_token& token) {
  const bool waitsForEver = deadline == detail::kNever && !token.stop_possible();
  // relaxed: see setOwner.
  detail::assertMayWaitFor(owner_.load(std::memory_order_relaxed), waitsForEver, kName, this, "it alone");
  if (waitsForEver) {
    return lock_.lock(detail::waiterForLock(), how, detail::LockHost{kName, this});
  }
  return detail::lockWithin(
      detail::LimitedLockHost{{kName, this}, deadline, token},
      [this, how](detail::Waiter& self, const detail::LimitedLockHost& host) {
        return lock_.lock(self, how, host);
      },
      [this](detail::Waiter& self) { return lock_.leave(self, detail::LockHost{kName, this}); });
}

void SharedMutex::unlockSlow() { detail::wakeAll(lock_.unlock()); }

void SharedMutex::reportNotHeld() const {
  detail::assertBindingNotLost("SharedMutex::unlock()");
  // relaxed: it matters only whether it is the caller.
  const bool isHeld = owner_.load(std::memory_order_relaxed) != nullptr;
  WEFT_FATAL(
      "SharedMutex %p was unlocked by a fiber or thread that does not hold it alone (it is %s). "
      "Unlock it where it was locked, and by unlock_shared() after lock_shared(). "
      "std::unique_lock and std::shared_lock do that by themselves.",
      static_cast<const void*>(this), isHeld ? "held by another" : "not locked, or shared");
}

void SharedMutex::reportNotShared() const {
  WEFT_FATAL(
      "SharedMutex %p: unlock_shared() was called while nobody shares it. "
      "Call it once for each lock_shared(); std::shared_lock does that by itself.",
      static_cast<const void*>(this));
}

void SharedMutex::reportDestroyedInUse() {
  WEFT_FATAL(
      "a SharedMutex was destroyed while somebody held it or waited for it. "
      "Keep it alive until all are done with it.");
}

}  // namespace weft::inline v0_1
