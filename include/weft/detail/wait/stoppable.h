// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>

#include "weft/detail/base/deadline.h"
#include "weft/detail/wait/waiter.h"
#include "weft/export.h"

// Waits that a std::stop_token may end.
//
// A requested stop is one more that claims waiters: its callback takes the primitive's lock, unlinks the
// waiter if it is linked still, and wakes it. So exactly one of a claimer, the deadline and the stop wins,
// and the two others leave nothing behind.
//
// The callback runs on the thread of request_stop(), and uses the primitive and the frame of the wait. That
// is safe since the wait returns only when its std::stop_callback is destroyed, which waits for a callback
// that runs on another thread; and that one never waits itself, but for spin locks. Where the stop was
// requested already, the callback runs within the wait, on the fiber or thread that waits: it unlinks the
// waiter, which needs no wake then, and the wait returns without having been suspended.
namespace weft::detail {

// How a wait ended.
enum class WaitEnd : uint8_t { Woken, TimedOut, Stopped };

// A function that claims the waiter for the one who calls it, in a wait's frame.
struct ClaimRef {
  bool operator()() const { return call(context); }

  const void* context;
  bool (*call)(const void*);
};

WEFT_EXPORT WaitEnd blockStoppableBy(Waiter& self, TimePoint deadline, const std::stop_token& token,
                                     ClaimRef claim, const char* what, const void* object);

// Waits until woken, until `deadline` (kNever: without one), or until a stop is requested by `token`. claim()
// takes the primitive's lock, unlinks `self` if it is linked still, and releases the lock; it returns whether
// `self` was linked. If it was not, somebody owes `self` a wake(). It is called on any thread, also after
// `self` was claimed and woken by others, but not after this has returned; it neither suspends nor blocks.
// Requires: `self` is linked, or was claimed since it was.
template <class Claim>
WaitEnd blockStoppable(Waiter& self, TimePoint deadline, const std::stop_token& token, const Claim& claim,
                       const char* what, const void* object) {
  const ClaimRef reference{&claim,
                           [](const void* context) { return (*static_cast<const Claim*>(context))(); }};
  return blockStoppableBy(self, deadline, token, reference, what, object);
}

// As waitUntilByClock(), but a stop that is requested by `token` ends it as well. Returns: what the last call
// of wait returned.
template <class Clock, class Duration, class Wait>
bool waitUntilByClock(const std::chrono::time_point<Clock, Duration>& time, const std::stop_token& token,
                      Wait&& wait) {
  bool isWoken = false;
  detail::waitUntilByClock(
      time, [&](TimePoint deadline) { return (isWoken = wait(deadline)) || token.stop_requested(); });
  return isWoken;
}

// Waits for the time, or for the stop, only. Returns: false if the stop came first.
WEFT_EXPORT bool sleepUntilStop(TimePoint deadline, const std::stop_token& token);

}  // namespace weft::detail
