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
// short gaps, the thread stays awake for twice the last gap, at most for `longest`. Where work is sparse, the
// thread looks for 4 us.
//
// Between looks it gives its processor away, always: the threads that are to bring it work may need that
// processor. Where more threads were awake than there were processors, searches that kept theirs made
// requests of 8 us take 100.
//
// The gaps that a thread learns from include those that it slept through. Otherwise it would not notice that
// it slept too early. A long search that ends in vain shows that long searches do not pay. Then the thread
// ignores a number of gaps, twice as many each time, until long searches succeed again. So at least seven of
// ten long searches succeed. If it ignored none, searches in vain would take 60 % of the time instead of 3 %
// where gaps of 100 and 300 us take turns, and 18 % instead of 2 % where random gaps have a mean of 300 us.
// If it ignored 16 each time, it would sleep through 64 instead of 47 of 100 random gaps with a mean of 100
// us.
//
// A program that computes takes the processor that is given away, and keeps it for some time slices: 4 to 28
// ms on Linux. Each search that finds work saves a wake. If the searches since the last loss have saved less
// than this one took, they do not pay. Then the thread does not search at all, but sleeps at once, for four
// times as long as the loss took, and for twice as long each time, up to 64 times. So beside programs that go
// on computing a thread loses some hundredths of its time to searches, and a program that computes now and
// then does not stop them.
class SearchBudget {
 public:
  using Duration = std::chrono::nanoseconds;

  static constexpr Duration kShortest = std::chrono::microseconds(4);
  static constexpr Duration kUsual = std::chrono::microseconds(40);  // about what a wake costs
  static constexpr Duration kSaved = std::chrono::microseconds(5);   // what a wake costs the waker
  // Threads that wait for tasks to end need their processor for those tasks.
  static constexpr Duration kLongestOfOthers = kUsual;
  // A thread that also looks for work never keeps a processor for this long; one that computes keeps it for
  // longer.
  static constexpr Duration kTakenAway = std::chrono::microseconds(500);

  constexpr explicit SearchBudget(Duration longest)
      : longest_(longest), length_(std::min(kUsual / 2, longest)) {}

  // How long a search that begins at `now` may take; 0: the thread should sleep at once.
  Duration length(TimePoint now) const { return rests(now) ? Duration(0) : length_; }

  // Called between two looks; `now` is the time of the one before, and becomes that of the next. `mayYield`:
  // the processor may be given away.
  // Returns: whether the search goes on. It does not if the processor was taken away.
  bool giveWay(TimePoint& now, bool mayYield) {
    if (mayYield) {
      std::this_thread::yield();
    }
    const TimePoint before = std::exchange(now, TimePoint::clock::now());
    return recordLooks(before, now);
  }

  // Records two looks in a row.
  // Returns: false if the processor was taken away between them.
  bool recordLooks(TimePoint before, TimePoint now) {
    const Duration lost = now - before;
    if (lost < kTakenAway) {
      return true;
    }
    // A thread that does not search loses its processor, too, but the search is not to blame.
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
