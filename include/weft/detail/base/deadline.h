// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <type_traits>

#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

inline constexpr TimePoint kNever = TimePoint::max();

// Returns: now + `duration`, rounded up; kNever if beyond the clock's range; now if negative or NaN.
template <class Rep, class Period>
TimePoint deadlineAfter(const std::chrono::duration<Rep, Period>& duration) {
  const TimePoint now = TimePoint::clock::now();
  using Seconds = std::chrono::duration<long double>;
  if (!(Seconds(duration) > Seconds::zero())) {
    return now;
  }
  if (Seconds(duration) >= Seconds(kNever - now)) {
    return kNever;
  }
  return now + std::chrono::ceil<TimePoint::duration>(duration);
}

// Other clocks may be set, and may run while the machine is suspended, unlike steady_clock. So a wait by such
// a clock looks at it again after this time. The look ends the wait in the primitive, where the waiter loses
// its place.
inline constexpr std::chrono::seconds kBetweenLooksAtClock(10);

// Calls wait(TimePoint), which returns false when its steady_clock deadline has come, until it returns true
// or `time` has come by its own clock, which is read again each time. A clock's last time and an infinite
// time never come. A NaN has passed, and so has each time if now() is NaN: as in std, now < time is false.
// Returns: what the last call of wait returned.
template <class Clock, class Duration, class Wait>
bool waitUntilByClock(const std::chrono::time_point<Clock, Duration>& time, Wait&& wait) {
  // long double: neither a difference nor a conversion overflows near the ends of a clock's range.
  using Seconds = std::chrono::duration<long double>;
  const Seconds sinceEpoch(time.time_since_epoch());
  if (sinceEpoch >= Seconds(Clock::time_point::max().time_since_epoch())) {
    return wait(kNever);
  }
  if constexpr (std::is_same_v<Clock, TimePoint::clock>) {
    if (!(sinceEpoch > Seconds(TimePoint::min().time_since_epoch()))) {
      return wait(TimePoint::min());
    }
    return wait(std::chrono::ceil<TimePoint::duration>(time));
  } else {
    for (;;) {
      const Seconds left = sinceEpoch - Seconds(Clock::now().time_since_epoch());
      // (Not std::min(): <algorithm> would be a twentieth of the time in which a small program compiles.)
      if (wait(deadlineAfter(left > kBetweenLooksAtClock ? Seconds(kBetweenLooksAtClock) : left))) {
        return true;
      }
      if (!(left > Seconds::zero() && Clock::now() < time)) {
        return false;
      }
    }
  }
}

}  // namespace weft::inline v0_1::detail
