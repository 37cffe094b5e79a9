// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/sharedmutex.h"

#include "scheduler/fiber_control_block.h"
#include "weft/debug.h"

namespace weft {

bool SharedMutex::waitFor(How how, detail::TimePoint deadline, const std::stop_token& token,
                          const char* name) {
  // relaxed: see setOwner.
  const void* const owner = owner_.load(std::memory_order_relaxed);
  const bool waitsForEver = deadline == detail::kNever && !token.stop_possible();
  WEFT_ASSERT(waitsForEver ? !detail::isOrWaitsForCaller(owner) : owner != detail::currentOwner(),
              "SharedMutex %p was locked by the fiber or thread that holds it alone already, "
              "or is held by a task that waits for the caller, so that the wait would never end. "
              "Unlock it before, or call a function that expects it to be held.",
              static_cast<const void*>(this));
  if (token.stop_requested()) {
    return false;
  }
  detail::Waiter& self = detail::currentWaiter();
  if (lock_.takeOrQueue(self, how)) {
    return true;
  }
  const auto claim = [&] {
    detail::WaitList granted;
    const bool hasGivenUp = lock_.giveUp(self, granted);
    detail::wakeAll(granted);
    return hasGivenUp;
  };
  const detail::WithoutHandler withoutHandler;
  return detail::blockStoppable(self, deadline, token, claim, name, this) == detail::WaitEnd::Woken;
}

void SharedMutex::unlockSlow() { detail::wakeAll(lock_.unlock()); }

void SharedMutex::reportNotHeld() const {
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

}  // namespace weft
