// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

// How long a thread that has nothing to run looks for work before it sleeps.
//
// A wake costs the waker some 5 us, and the woken thread starts 30 to 50 us later. So where work comes at
// short gaps, the thread stays awake for twice the last gap, at most for `longest`; otherwise for 4 us.
//
// Between looks it always gives its processor away: threads that are to bring it work may need it. Where more
// threads were awake than there were processors, searches that kept theirs made requests of 8 us take 100.
//
// Gaps slept through count too: otherwise it would not notice a sleep that was too early. After a long search
// in vain it ignores some gaps, twice as many each time, until long searches succeed. So at least seven of
// ten long ones do. If it ignored none, searches in vain would take 60 % of the time instead of 3 % where
// gaps of 100 and 300 us alternate, and 18 % instead of 2 % where random gaps have a mean of 300 us. If it
// ignored 16 each time, it would sleep through 64 instead of 47 of 100 random gaps with a mean of 100 us.
//
// A program that computes takes the processor that is given away, for some time slices: 4 to 28 ms on Linux.
// A search that finds work saves a wake. If the searches since the last such loss have saved less than this
// loss, they do not pay. Then the thread sleeps without a search for four times the loss, and twice as long
// each time, up to 64 times. So searches beside programs that compute cost some hundredths of the time.
class SearchBudget {
 public:
  using Duration = std::chrono::nanoseconds;

  static constexpr Duration kShortest = std::chrono::microseconds(4);
  static constexpr Duration kUsual = std::chrono::microseconds(40);  // about what a wake costs
  static constexpr Duration kSaved = std::chrono::microseconds(5);   // what a wake costs the waker
  // Threads that wait for tasks to end need their processor for those tasks.
  static constexpr Duration kLongestOfOthers = kUsual;
  // A thread that also looks for work keeps a processor for less than this; one that computes, for longer.
  static constexpr Duration kTakenAway = std::chrono::microseconds(500);

  constexpr explicit SearchBudget(Duration longest)
      : longest_(longest), length_(std::min(kUsual / 2, longest)) {}

  // How long a search that begins at `now` may take; 0: the thread should sleep at once.
  Duration length(TimePoint now) const { return rests(now) ? Duration(0) : length_; }

  // Between two looks. `now`: the time of the last look, replaced by the next. `mayYield`: may give way.
  // Returns: whether the search goes on. It does not if the processor was taken away.
  bool giveWay(TimePoint& now, bool mayYield) {
    if (mayYield) {
      std::this_thread::yield();
    }
    const TimePoint before = std::exchange(now, TimePoint::clock::now());
    return recordLooks(before, now);
  }

  // Records two looks in a row. Returns: false if the processor was taken away between them.
  bool recordLooks(TimePoint before, TimePoint now) {
    const Duration lost = now - before;
    if (lost < kTakenAway) {
      return true;
    }
    // A thread that does not search loses its processor too, but not by a search.
    if (!rests(before)) {
      const bool hasPaid = std::exchange(numHits_, 0) * kSaved >= lost;
      restFactor_ = hasPaid ? 0 : std::clamp(2 * restFactor_, kShortestRest, kLongestRest);
      restUntil_ = now + restFactor_ * lost;
    }
    return false;
  }

  // Records that a search found work `gap` after the thread had run out of it.
  void recordHit(Duration gap) {
    // What the first look finds needs no search.
    numHits_ += gap > Duration(0) && numHits_ < kMostHits ? 1 : 0;
    recordGap(gap);
  }

  // Records that work came `gap` after the thread had run out of it.
  void recordGap(Duration gap) {
    if (gap > longest_) {
      return;
    }
    length_ = std::max(length_, std::min({2 * length_, kUsual, longest_}));
    if (gapsToIgnore_ != 0) {
      --gapsToIgnore_;
      return;
    }
    backOff_ -= (backOff_ + 3) / 4;
    length_ = std::max(length_, std::min(2 * gap, longest_));
  }

  // A search has ended without work at `now`.
  void recordMiss(TimePoint now) {
    if (rests(now)) {
      return;  // it was a single look
    }
    if (length_ > kUsual) {
      length_ = kUsual;
      backOff_ = std::min(2 * backOff_ + 2, kMostBackOff);
      gapsToIgnore_ = backOff_;
    } else {
      length_ = std::max(length_ / 2, std::min(kShortest, longest_));
    }
  }

 private:
  static constexpr uint32_t kMostBackOff = 1024;
  static constexpr int kMostHits = 1'000'000;
  // In times what was lost.
  static constexpr int kShortestRest = 4;
  static constexpr int kLongestRest = 64;

  bool rests(TimePoint now) const { return now < restUntil_; }

  Duration longest_;
  Duration length_;
  uint32_t backOff_ = 0;       // gaps to ignore after the next miss of a long search
  uint32_t gapsToIgnore_ = 0;  // gaps still to ignore
  int numHits_ = 0;            // searches that found work since the processor was taken away
  int restFactor_ = 0;         // the last rest, in times what was lost
  TimePoint restUntil_{};
};

}  // namespace weft::inline v0_1::detail
