// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include "weft/detail/base/sync.h"

namespace weft::detail {

// How long a thread that has nothing to run looks for work before it sleeps.
//
// A wake costs the waker some 5 us, and the woken thread starts 30 to 50 us later. So where work comes at
// short gaps, the thread stays awake for twice the last gap, at most for `longest`. It gives its processor
// away between looks, because the threads that are to bring it work may need that processor. Where work is
// sparse, the thread looks for 4 us.
//
// The gaps that a thread learns from include those that it slept through. Otherwise it would not notice that
// it slept too early. Two things show that long searches do not pay: a search ends in vain, or a thread that
// computes has taken the processor that was given away. Then a number of gaps teach nothing, twice as many
// each time, until long searches succeed again. So at least seven of ten long searches succeed, and a program
// that computes delays about one request of a thousand.
class SearchBudget {
 public:
  using Duration = std::chrono::nanoseconds;

  static constexpr Duration kShortest = std::chrono::microseconds(4);
  static constexpr Duration kUsual = std::chrono::microseconds(40);  // about what a wake costs
  // Threads that wait for tasks to end need their processor for those tasks.
  static constexpr Duration kLongestOfOthers = kUsual;
  // A thread that also looks for work never keeps a processor for this long.
  static constexpr Duration kTakenAway = std::chrono::milliseconds(1);

  constexpr explicit SearchBudget(Duration longest)
      : longest_(longest), length_(std::min(kUsual / 2, longest)) {}

  // How long the next search may take.
  Duration length() const { return length_; }
  // Whether it gives the processor away between looks.
  bool yields() const { return numUntaught_ == 0; }

  // Called between two looks; `now` is the time of the one before, and becomes that of the next. `mayYield`:
  // the processor may be given away.
  // Returns: whether the search goes on. It does not if the processor was taken away.
  bool giveWay(TimePoint& now, bool mayYield) {
    if (mayYield && yields()) {
      std::this_thread::yield();
    }
    const TimePoint before = std::exchange(now, TimePoint::clock::now());
    if (now - before < kTakenAway) {
      return true;
    }
    noteTakenAway();
    return false;
  }

  // Records that work came `gap` after the thread had run out of it.
  void noteWork(Duration gap) {
    if (gap > longest_) {
      return;
    }
    length_ = std::max(length_, std::min({2 * length_, kUsual, longest_}));
    if (numUntaught_ != 0) {
      --numUntaught_;
      return;
    }
    distrust_ -= (distrust_ + 3) / 4;
    length_ = std::max(length_, std::min(2 * gap, longest_));
  }

  // A search has ended without work.
  void noteVain() {
    if (length_ > kUsual) {
      length_ = kUsual;
      distrust(2);
    } else {
      length_ = std::max(length_ / 2, std::min(kShortest, longest_));
    }
  }

  // The thread got its processor back only after kTakenAway.
  void noteTakenAway() {
    length_ = std::min(kShortest, longest_);
    distrust(16);
  }

 private:
  static constexpr uint32_t kMostDistrust = 1024;

  void distrust(uint32_t least) {
    distrust_ = std::min(2 * distrust_ + least, kMostDistrust);
    numUntaught_ = distrust_;
  }

  Duration longest_;
  Duration length_;
  uint32_t distrust_ = 0;     // how many gaps teach nothing after the next long search that does not pay
  uint32_t numUntaught_ = 0;  // how many still do
};

}  // namespace weft::detail
