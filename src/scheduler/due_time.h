// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/sync.h"
#include "weft/detail/base/ticks.h"

namespace weft::detail {

// Tells cheaply that a time has not come yet: by the processor's counter of ticks, which is read in a third
// of the time that a clock takes.
//
// How fast the counter counts is measured all along, and estimated too low, never too high: between two pairs
// of a tick and a time, the earlier pair's tick was read after its time, and the later pair's before. What is
// left until the deadline is shortened by more than what the system may set its clock's speed by. So
// mayHaveCome() is true too early at times, after which the clock is read and less is left, but not too late.
// Where the counter may change its speed, mayHaveCome() is always true.
class DueTime {
 public:
  DueTime() : firstTime_(TimePoint::clock::now()), firstTick_(ticks()) {}

  // Returns: the time.
  TimePoint now() {
    tick_ = ticks();
    return time_ = TimePoint::clock::now();
  }

  // The deadline that mayHaveCome() is asked about from now on. Requires: it is not before what now()
  // returned last, which was a moment ago.
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
