// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace weft::detail {

// Tells whether the oldest task of a queue whose newest is taken first starves, or only waits as it is meant
// to.
//
// In a recursion the oldest tasks wait for long: they are those nearest to the root. Whoever starts one
// early opens a large subtree beside those that are open, and needs stacks for it. But there the queue's
// end moves: a task is taken, puts its children into the queue, they are taken, and then the next task, which
// lies lower. The oldest task starves where that does not happen, since the worker goes on with fibers, or
// with tasks that come again and again:
//
//   - the end was at the same place at 17 turns in a row, which are 1,037 dequeues; or
//   - the lowest place of the end was the same in two windows of some 8 ms; or
//   - the lowest place has not become lower for 64 windows. This is for loads that look like a recursion. A
//     real one is delayed by nothing, and opens two subtrees a second.
//
// After its turn the next oldest has its turn at once, unless the end is higher then, or more fibers wait:
// the task has scheduled others, which come first, or waits for something that may come after it.
//
// Rejected: a turn after each 1,037 dequeues. A recursion of 100 million tasks had 100,000 fibers, and as
// many stacks.
class OldestWatch {
 public:
  static constexpr uint32_t kTurns = 17;
  static constexpr uint32_t kWindows = 64;

  // What goes on where it is nobody's turn.
  enum class Next { Newest, Oldest, Other };

  // At each turn of others. The queue has the tasks with the indices [begin, end), and `numBlocked` fibers of
  // the worker wait.
  void note(int64_t begin, int64_t end, uint64_t numBlocked, Next next) {
    isWaiting_ = next != Next::Oldest && end - begin > (next == Next::Newest ? 1 : 0);
    if (!isWaiting_) {
      starves_ = false;
      numSame_ = 0;
    }
    if (end != end_ || begin != begin_) {
      // It was another task, or the end has moved.
      starves_ = starves_ && end <= mark_ && numBlocked <= blockedMark_;
      numSame_ = 0;
      end_ = end;
      begin_ = begin;
    }
    low_ = std::min(low_, end);
    high_ = std::max(high_, end);
    numBlocked_ = numBlocked;
    if (++numSame_ > kTurns) {
      starves_ = true;
      mark_ = end;
      blockedMark_ = numBlocked;
    }
  }

  // At a turn, after note(), some 8 ms after the last call.
  void endWindow() {
    const bool isSameTask = begin_ == windowBegin_ && begin_ < low_;
    if (!isSameTask || low_ < floor_) {
      floor_ = low_;
      numWindows_ = 0;
    }
    if (isSameTask && isWaiting_ && (low_ == lastLow_ || ++numWindows_ >= kWindows)) {
      starves_ = true;
      mark_ = high_;
      blockedMark_ = std::numeric_limits<uint64_t>::max();
      numWindows_ = 0;
    }
    windowBegin_ = begin_;
    lastLow_ = low_;
    low_ = std::numeric_limits<int64_t>::max();
    high_ = end_;
  }

  bool starves() const { return starves_; }

  // The oldest has had its turn.
  void noteTurn() {
    mark_ = end_;
    blockedMark_ = numBlocked_;
    numSame_ = 0;
  }

 private:
  int64_t begin_ = 0, end_ = 0;  // at the last turn
  uint32_t numSame_ = 0;         // turns for which they were that
  bool isWaiting_ = false;       // whether there is a task that something else goes before
  bool starves_ = false;
  int64_t mark_ = 0;                                   // where the end is higher, the oldest starves no more
  uint64_t numBlocked_ = 0, blockedMark_ = 0;          // likewise
  int64_t low_ = std::numeric_limits<int64_t>::max();  // the lowest end of this window
  int64_t high_ = 0;                                   // the highest
  int64_t windowBegin_ = 0;                            // at the end of the last window
  int64_t lastLow_ = 0;                                // of the last window
  int64_t floor_ = 0;        // the lowest end since the oldest task became the oldest
  uint32_t numWindows_ = 0;  // for which floor_ has not become lower
};

}  // namespace weft::detail
