// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "weft/detail/base/deadline.h"
#include "weft/detail/base/sync.h"

// How a waiter waits for a lock that is not handed to it: how long others wait for a woken waiter, and when a
// waiter tries by itself.
namespace weft::inline v0_1::detail {

// A waiter that is passed over for so long becomes impatient. Others wait so long for a woken waiter.
inline constexpr auto kPatience = std::chrono::milliseconds(1);

// Returns: `time` in about microseconds. They wrap every 73 minutes, which delays at most one offer.
inline uint32_t patienceTicks(TimePoint time) {
  return static_cast<uint32_t>(time.time_since_epoch().count() >> 10);
}
inline constexpr uint32_t kPatienceTicks =
    static_cast<uint32_t>(std::chrono::nanoseconds(kPatience).count() >> 10);

// Returns: when a waiter that has waited since `began`, and has just tried in vain, tries again: after an
// eighth of the time waited, but not after `limit`, nor, if `isExpected`, after the time up to which the lock
// is kept for a waiter that was woken `unansweredFor` ticks ago.
inline TimePoint nextTry(TimePoint now, TimePoint began, TimePoint limit, bool isExpected,
                         uint32_t unansweredFor) {
  TimePoint next = now + std::max<std::chrono::nanoseconds>(kPatience, (now - began) / 8);
  if (isExpected && unansweredFor < kPatienceTicks) {
    next =
        std::min<TimePoint>(next, now + kPatience - std::chrono::nanoseconds(int64_t{unansweredFor} << 10));
  }
  return std::min<TimePoint>(next, limit);
}

// The result of a try to take a lock, or of a wait for it. Claimed: woken, and has to try again.
enum class LockTry { Taken, Claimed, Waits, GivenUp };

template <class Host>
bool isTimeUp(const Host& host) {
  return host.limit() != kNever && host.now() >= host.limit();
}

// Goes on with the wait of a queued waiter until it is woken, unless `isWoken`. Now and then calls
// retry(next), which sets the time of the next call.
// Returns: Claimed if it was woken; else Taken or GivenUp.
template <class Waiter, class Host, class Retry>
LockTry waitInList(Waiter& self, const Host& host, bool isWoken, const Retry& retry) {
  while (!isWoken) {
    TimePoint next;
    const LockTry result = retry(next);
    if (result == LockTry::Claimed) {
      host.block(self);
      break;
    }
    if (result != LockTry::Waits) {
      return result;
    }
    isWoken = host.blockUntil(self, next);
  }
  return host.hasLeft() ? LockTry::GivenUp : LockTry::Claimed;
}

}  // namespace weft::inline v0_1::detail
