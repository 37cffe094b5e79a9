// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/channel/lock_case.h"

#include <algorithm>

#include "sync/lock_host.h"
#include "weft/detail/base/owner.h"
#include "weft/detail/wait/patience.h"
#include "weft/detail/wait/select_node.h"

namespace weft::inline v0_1::detail {
namespace {

// Of a select that was woken: it does not queue again where it is.
struct ArrivingHost : LockHost {
  static constexpr bool isStopped() { return true; }
};

}  // namespace

// The caller has the mutex. Returns: true.
bool LockCase::hold() {
  mutex_.setOwner(currentOwner());
  return true;
}

// The mutex was taken. Returns: whether that claims the select.
bool LockCase::claimOrUnlock() {
  if (claim(node)) {
    return hold();
  }
  if (!mutex_.core_.tryUnlock()) {
    mutex_.unlockSlow();
  }
  return false;
}

bool LockCase::tryTake() {
  if (mutex_.tryTake()) {
    return hold();
  }
  // relaxed: see mutex::setOwner().
  assertMayWaitFor(mutex_.owner_.load(std::memory_order_relaxed), false, mutex::kName, &mutex_);
  return false;
}

bool LockCase::takeOrLink() {
  isHeld_ = false;
  began_ = TimePoint::clock::now();
  next_ = began_ + kPatience;
  return mutex_.core_.takeOrQueue(node, false, LockHost{mutex::kName, &mutex_}) == LockTry::Taken &&
         claimOrUnlock();
}

void LockCase::unlink() { (void)mutex_.core_.leave(node); }

// As a waiter of lock() does when its time is up.
bool LockCase::look(TimePoint& next) {
  if (TimePoint::clock::now() >= next_) {
    const LockTry result = mutex_.core_.retry(node, began_, next_, LockHost{mutex::kName, &mutex_});
    if (result == LockTry::Taken && claimOrUnlock()) {
      isHeld_ = true;
      return true;
    }
    next_ = result == LockTry::Waits ? next_ : kNever;
  }
  next = std::min(next, next_);
  return false;
}

bool LockCase::arrive() {
  return isHeld_ ||
         (mutex_.core_.takeOrQueue(node, true, ArrivingHost{mutex::kName, &mutex_}) == LockTry::Taken &&
          hold());
}

}  // namespace weft::inline v0_1::detail
