// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/sync.h"
#include "weft/detail/base/ticks.h"

namespace weft::detail {

// Tells cheaply that a time has not come yet. It reads the processor's counter of ticks, which takes a third
// of the time that a clock takes.
//
// The counter's speed is measured all along. It is estimated too low, never too high: between two pairs of a
// tick and a time, the earlier pair's tick was read after its time, and the later pair's tick before its
// time. The time left until the deadline is shortened by more than the amount by which the system may change
// its clock's speed. So mayHaveCome() is sometimes true too early, but never too late. After a true that is
// too early the clock is read, and less time is left. Where the counter may change its speed, mayHaveCome()
// is always true.
class DueTime {
 public:
  DueTime() : firstTime_(TimePoint::clock::now()), firstTick_(ticks()) {}

  // Returns: the time.
  TimePoint now() {
    tick_ = ticks();
    return time_ = TimePoint::clock::now();
  }

  // Sets the deadline that mayHaveCome() is asked about from now on.
  // Requires: the deadline is not before the last result of now(), which was a moment ago.
  void expect(TimePoint deadline);

  // Returns: false only if the deadline has not come.
  bool mayHaveCome() const { return ticks() >= expected_; }

 private:
  TimePoint firstTime_;
  uint64_t firstTick_;
  uint64_t tick_ = 0;  // read before time_
  TimePoint time_{};
  uint64_t expected_ = 0;
};

}  // namespace weft::detail
