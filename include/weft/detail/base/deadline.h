// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <chrono>
#include <type_traits>

#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

// A deadline that never comes.
inline constexpr TimePoint kNever = TimePoint::max();

// Returns: the instant `duration` from now, rounded up; kNever where it lies beyond the clock's range, now
// where `duration` is negative or no number.
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

// A clock other than steady_clock may be set, and may go on while the machine is suspended, when
// steady_clock stands still. So a wait by such a clock looks at it again after so long: where it was set
// forward, the wait ends so much late at most. The look ends the wait in the primitive, where the waiter
// loses its place.
inline constexpr std::chrono::seconds kBetweenLooksAtClock(10);

// Calls wait(TimePoint), which returns false when its steady_clock deadline has come, until it returns
// true or `time` has come by its own clock. That clock may have been set meanwhile, and is therefore read
// again each time, and after kBetweenLooksAtClock at the latest. The last time of the clock never comes,
// nor does an infinite one. A time that is no number has passed, and so has each time where the clock's
// is none: for std's waits, too, it is not the case that now < time.
// Returns: what the last call of wait returned.
template <class Clock, class Duration, class Wait>
bool waitUntilByClock(const std::chrono::time_point<Clock, Duration>& time, Wait&& wait) {
  // In long double: a time near either end of its clock's range must overflow neither a difference nor a
  // conversion.
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
      if (wait(deadlineAfter(std::min(left, Seconds(kBetweenLooksAtClock))))) {
        return true;
      }
      if (!(left > Seconds::zero() && Clock::now() < time)) {
        return false;
      }
    }
  }
}

}  // namespace weft::inline v0_1::detail
