// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "weft/detail/base/sync.h"
#include "weft/detail/wait/poll_list.h"

namespace weft::inline v0_1::detail {

// When the requests of a poll source are tested, and how many at a time. Only who tests uses it.
//
// A round tests each request once. The next round comes after an eighth of the time since something happened:
// a request was started, or was found done. So a request that takes 80 us is found 10 us late at most, and
// the number of rounds grows with the logarithm of the time that nothing happens. A round comes after a
// millisecond at the latest, since some sources, like MPI, go on only while they are tested. Where it takes
// long it comes later, so that testing takes a 32nd of a processor. The fastest round since something
// happened tells how long one takes: others may have lost the processor to other threads for milliseconds.
//
// A window, which is tested without a look at anything else, has as many requests as take some microseconds.
class PollPace {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  static constexpr size_t kLeastWindow = 8;

  size_t window() const { return window_; }

  // A window of `count` of `size` requests was tested from `began` to `ended`. `hasHappened`: requests were
  // started before, or found done. Returns: when the next window is to be tested.
  TimePoint next(size_t count, size_t size, TimePoint began, TimePoint ended, bool hasHappened) {
    const Nanoseconds cost = ended - began;
    adapt(count, cost);
    cost_ += cost;
    tested_ += count;
    if (hasHappened) {
      happened_ = began;
      leastCost_ = Nanoseconds::max();
    }
    if (tested_ < size) {
      return ended;
    }
    leastCost_ = std::min(leastCost_, cost_);
    const Nanoseconds quiet = ended - happened_;
    const Nanoseconds least = quiet > kPart * kMostGap ? leastCost_ * kShare : Nanoseconds();
    tested_ = 0;
    cost_ = {};
    return ended + std::max(gap(quiet), least);
  }

  // How long after a round the next one comes, where nothing has happened for the time `quiet`.
  static Nanoseconds gap(Nanoseconds quiet) {
    return std::clamp<Nanoseconds>(quiet / kPart, kLeastGap, kMostGap);
  }

 private:
  static constexpr int kPart = 8;
  static constexpr int kShare = 32;
  static constexpr Nanoseconds kLeastGap = std::chrono::microseconds(1);
  static constexpr Nanoseconds kMostGap = std::chrono::milliseconds(1);
  static constexpr Nanoseconds kQuick = std::chrono::microseconds(2);
  static constexpr Nanoseconds kSlow = std::chrono::microseconds(8);

  void adapt(size_t count, Nanoseconds cost) {
    if (cost > kSlow) {
      window_ = std::max(kLeastWindow, window_ / 2);
    } else if (cost < kQuick && count == window_) {
      window_ = std::min(kMostPolled, window_ * 2);
    }
  }

  size_t window_ = 32;
  size_t tested_ = 0;                           // in this round
  Nanoseconds cost_{};                          // of this round
  Nanoseconds leastCost_ = Nanoseconds::max();  // of the rounds since something happened
  TimePoint happened_{};
};

}  // namespace weft::inline v0_1::detail
