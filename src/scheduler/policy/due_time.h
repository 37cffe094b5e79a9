// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "os/tick_counter.h"
#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

// Tells cheaply that a time has not come yet, by the processor's counter of ticks: a third of a clock's cost.
//
// Windows of some milliseconds measure the counter's speed too low, never too high: the first tick is read
// after its time, and the last before its time. The time left is shortened by more than the system may change
// its clock's speed. So mayHaveCome() may be true too early, never too late. After a true that is too early
// the clock is read. It is always true where the counter's speed may change or is not known yet.
//
// What must not happen: while a machine is suspended or moved, the clock stands still and the counter goes
// on. The counter then seems fast, and deadlines are found late. So windows are short, since most then see
// nothing of it, and each raises the estimate by a hundredth at most. A counter that begins anew lies before
// `from_`, which the subtraction takes for very far behind it.
//
// Rejected: one window from the beginning on. It keeps what it has seen of a suspension for ever.
template <class Clock>
class BasicDueTime {
 public:
  TimePoint now() {
    tick_ = Clock::ticks();
    return time_ = Clock::now();
  }

  // Sets the deadline that mayHaveCome() is asked about from now on.
  // Requires: the deadline is not before the last result of now(), which was a moment ago.
  void expect(TimePoint deadline) {
    measure();
    const double ticksLeft = nanoseconds(deadline - time_) * kSlack * speed_;
    from_ = tick_;
    left_ = ticksLeft < kMost ? static_cast<uint64_t>(ticksLeft) : std::numeric_limits<uint64_t>::max();
  }

  // Returns: false only if the deadline has not come.
  bool mayHaveCome() const { return Clock::ticks() - from_ >= left_; }

 private:
  static constexpr auto kShortestWindow = std::chrono::milliseconds(1);
  static constexpr auto kLongestWindow = std::chrono::milliseconds(100);
  static constexpr double kFastest = 16;  // ticks a nanosecond: no counter is as fast
  static constexpr double kGrowth = 1.01;
  // Linux lets a clock run faster or slower by 0.05 percent; and see kGrowth.
  static constexpr double kSlack = 0.98;
  static constexpr double kMost = 1e18;

  static double nanoseconds(TimePoint::duration time) {
    return std::chrono::duration<double, std::nano>(time).count();
  }

  void measure() {
    static const bool isSteady = Clock::isSteady();
    const TimePoint::duration window = time_ - begunAt_;
    if (!isSteady || window < kShortestWindow) {
      return;
    }
    const double measured = static_cast<double>(tick_ - beginTick_) / nanoseconds(window);
    if (window <= kLongestWindow && tick_ > beginTick_ && measured < kFastest) {
      speed_ = speed_ == 0 ? measured : std::min(measured, speed_ * kGrowth);
    }
    begunAt_ = Clock::now();
    beginTick_ = Clock::ticks();
  }

  TimePoint begunAt_ = Clock::now();  // of the window
  uint64_t beginTick_ = Clock::ticks();
  double speed_ = 0;   // ticks a nanosecond; 0: not known yet
  uint64_t tick_ = 0;  // read before time_
  TimePoint time_{};
  uint64_t from_ = 0, left_ = 0;  // mayHaveCome() is true from `left_` ticks after `from_` on
};

using DueTime = BasicDueTime<MachineClock>;

}  // namespace weft::inline v0_1::detail
