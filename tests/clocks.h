// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>

// Times, and clocks that do not go on by themselves.
namespace weft::tests {

using std::chrono::milliseconds;

inline constexpr std::chrono::hours kThreeHundredYears{24 * 365 * 300};

// A clock that goes as it is told to.
struct SetClock {
  using duration = std::chrono::microseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<SetClock>;
  static constexpr bool is_steady = false;
  static time_point now() { return time_point(duration(current.load())); }
  static inline std::atomic<rep> current{0};
};

// A clock that is set back by three milliseconds while somebody waits for its time 2 ms, and then goes on. It
// goes by its readings, so that it says the same however long a thread takes from one to the next: 0 to the
// test and to the wait that begins, -3 ms to the wait that looks whether its time has come and begins again,
// and 2 ms to all others.
struct SetBackClock {
  using duration = milliseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<SetBackClock>;
  static constexpr bool is_steady = false;
  static time_point now() {
    const int reading = numReadings++;
    return time_point(milliseconds(reading < 2 ? 0 : reading < 4 ? -3 : 2));
  }
  static inline std::atomic<int> numReadings{0};
};

}  // namespace weft::tests
