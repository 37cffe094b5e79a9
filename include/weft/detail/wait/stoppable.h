// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>

#include "weft/detail/base/deadline.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/wait/waiter.h"
#include "weft/export.h"

// Waits that a std::stop_token may end. A requested stop is one more claimer of waiters: its callback takes
// the primitive's lock, unlinks the waiter if it is still linked, and wakes it. So exactly one of a claimer,
// the deadline and the stop wins, and the two others leave nothing behind.
//
// The callback runs on the thread of request_stop(), and uses the primitive and the frame of the wait. That
// is safe because the wait returns only when its std::stop_callback is destroyed. That destructor waits for a
// callback that runs on another thread, which itself waits for spin locks only. If the stop was requested
// already, the callback runs within the wait, on the fiber or thread that waits. Then it unlinks the waiter,
// which needs no wake, and the wait returns without having been suspended.
namespace weft::inline v0_1::detail {

enum class WaitEnd : uint8_t { Woken, TimedOut, Stopped };

// blockStoppable() by a Host. It has the functions for blockOrGiveUp(); wake(waiter); isOwn(waiter), whether
// the waiter is the calling fiber's or thread's; and onStop(function), which makes a std::stop_callback.
template <class Sync, class AnyWaiter, class Host, class Claim>
WaitEnd blockStoppableBy(AnyWaiter& self, const Host& host, const Claim& claim) {
  typename Sync::template Var<bool> isStopped(false);  // written by the callback before it wakes `self`
  bool wasStoppedBefore = false;                       // written by a callback that runs right here
  const auto stop = [&]() noexcept {
    if (!claim()) {
      return;
    }
    if (host.isOwn(self)) {
      wasStoppedBefore = true;
    } else {
      isStopped.set(true);
      host.wake(self);
    }
  };
  {
    const auto callback = host.onStop(stop);
    if (wasStoppedBefore) {
      return WaitEnd::Stopped;
    }
    if (!detail::blockOrGiveUp(self, host, claim)) {
      return WaitEnd::TimedOut;
    }
  }
  return isStopped.get() ? WaitEnd::Stopped : WaitEnd::Woken;
}

// A function, in a wait's frame, that claims the waiter for its caller.
struct ClaimRef {
  bool operator()() const { return call(context); }

  const void* context;
  bool (*call)(const void*);
};

WEFT_EXPORT WaitEnd blockStoppableFor(Waiter& self, TimePoint deadline, const std::stop_token& token,
                                      ClaimRef claim, const char* what, const void* object);

// Waits until woken, until `deadline` (kNever: none), or until a stop is requested by `token`.
//
// claim() takes the primitive's lock, unlinks `self` if it is still linked, and releases the lock. It returns
// whether `self` was linked; if not, a wake() is owed to `self`. It is called on any thread, also after
// others have claimed and woken `self`, but not after this function has returned. It never waits.
//
// Requires: `self` is linked, or was claimed since it was linked.
template <class Claim>
WaitEnd blockStoppable(Waiter& self, TimePoint deadline, const std::stop_token& token, const Claim& claim,
                       const char* what, const void* object) {
  if (!token.stop_possible()) {
    return detail::blockTimed(self, claim, deadline, what, object) ? WaitEnd::Woken : WaitEnd::TimedOut;
  }
  const ClaimRef reference{&claim,
                           [](const void* context) { return (*static_cast<const Claim*>(context))(); }};
  return blockStoppableFor(self, deadline, token, reference, what, object);
}

// blockStoppable() of a waiter that is queued in a primitive's core. Returns: whether it was woken.
template <class Core>
bool blockQueued(Waiter& self, Core& core, TimePoint deadline, const std::stop_token& token, const char* what,
                 const void* object) {
  const auto claim = [&] { return core.giveUp(self); };
  return detail::blockStoppable(self, deadline, token, claim, what, object) == WaitEnd::Woken;
}

// waitUntilByClock(), which a stop that is requested by `token` ends as well.
// Returns: what the last call of wait returned.
template <class Clock, class Duration, class Wait>
bool waitUntilByClock(const std::chrono::time_point<Clock, Duration>& time, const std::stop_token& token,
                      Wait&& wait) {
  bool isWoken = false;
  detail::waitUntilByClock(
      time, [&](TimePoint deadline) { return (isWoken = wait(deadline)) || token.stop_requested(); });
  return isWoken;
}

// Waits for the time, or for the stop. Returns: false if the stop came first.
WEFT_EXPORT bool sleepUntilStop(TimePoint deadline, const std::stop_token& token);

}  // namespace weft::inline v0_1::detail
