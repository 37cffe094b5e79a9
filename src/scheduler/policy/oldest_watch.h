// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace weft::inline v0_1::detail {

// Tells whether the oldest task of a last-in, first-out queue starves, or only waits as it is meant to.
//
// In a recursion the oldest tasks, those nearest to the root, wait for long. Starting one early opens a large
// subtree beside those that are open, and needs stacks for it. But there the queue's end moves: a task is
// taken, its children are queued and taken, and then the next task, which lies lower. The oldest task starves
// where the end does not move so, since the worker goes on with fibers, or with recurring tasks:
//
//   - the end was at the same place at each turn of 1,037 dequeues, or its lowest place was the same in four
//     rows of 1,037 dequeues or a little more; or
//   - the lowest place of the end was the same in two windows of some 8 ms; or
//   - the lowest place has not become lower for 64 windows. This is for loads that look like a recursion. A
//     real one is delayed by nothing, and opens two subtrees a second.
//
// In a narrow recursion rows and windows may be alike by chance. So if the subtree of the task that had a
// turn has made the queue longer than before, twice as many must be alike next time, up to 64.
//
// Parallel loops put halves into the queue, for thieves, and take them back when they come to them. Beside
// the pieces of a loop the end stays where it is, and the oldest is most likely a half of that loop. Such a
// half, as a task, goes on for long and splits again. So there only the first half of the first rule and the
// last rule apply. By the first rule the newest has the turn, unless it is a half too. By the last rule the
// newest and the oldest have it by turns, and the oldest if the newest is a half. For the oldest, these two
// rules also apply beside a fiber that takes tasks of its group in place.
//
// After its turn the next oldest has one at once, except after a half of a loop, or if the end is higher or
// more fibers wait: then the task has scheduled others, which come first, or waits for a later one.
//
// Rejected: a turn after each 1,037 dequeues. A recursion of 100 million tasks had 100,000 stacks.
class OldestWatch {
 public:
  static constexpr uint64_t kDequeues = 1037;
  static constexpr uint32_t kWindows = 64;

  // What goes on where it is nobody's turn.
  // Piece: of an algorithm. InPlace: a task of a group, which the fiber that waits for the group takes.
  enum class Next { Newest, Oldest, Piece, InPlace, Other };

  // What a worker does, at a turn of others.
  struct Now {
    uint64_t numDequeues;  // so far
    uint64_t numBlocked;   // its fibers that wait
    Next next;
  };

  // Called at some turns in 1,037 dequeues, at each if the oldest starves. The queue is [begin, end).
  void note(int64_t begin, int64_t end, const Now& now) {
    const auto [numDequeues, numBlocked, next] = now;
    isWaiting_ = next != Next::Oldest && end - begin > (next == Next::Newest ? 1 : 0);
    isBesideLoop_ = next == Next::Piece;
    isBesidePieces_ = isBesideLoop_ || next == Next::InPlace;
    if (!isWaiting_) {
      starves_ = false;
      sameSince_ = numDequeues;
      patience_ = 1;
    }
    if (!hasGrown_ && end - begin > longest_) {
      hasGrown_ = true;
      patience_ = std::min(2 * patience_, kWindows);
    }
    if (end != end_ || begin != begin_) {
      // It was another task, or the end has moved.
      starves_ = starves_ && end <= mark_ && numBlocked <= blockedMark_;
      sameSince_ = numDequeues;
      end_ = end;
      begin_ = begin;
    }
    window_.note(end);
    row_.note(end);
    high_ = std::max(high_, end);
    numBlocked_ = numBlocked;
    numDequeues_ = numDequeues;
    if (numDequeues - sameSince_ >= kDequeues) {
      setStarving(end, numBlocked, isBesideLoop_ ? Turn::Newest : Turn::Oldest);
    }
    if (numDequeues - rowSince_ >= kDequeues) {
      endRow();
    }
  }

  // At a turn, after note(), some 8 ms after the last call.
  void endWindow() {
    const bool isSameTask = window_.hasKeptTask(begin_);
    if (!isSameTask || window_.low() < floor_) {
      floor_ = window_.low();
      numWindows_ = 0;
    }
    numSameWindows_ = isAlike(isSameTask, window_) ? numSameWindows_ + 1 : 0;
    if (numSameWindows_ >= patience_ || (isSameTask && isWaiting_ && ++numWindows_ >= kWindows)) {
      wasNewests_ = isBesideLoop_ && !wasNewests_;
      setStarvingByPlace(wasNewests_ ? Turn::NewestOrOldest : Turn::Oldest);
      numSameWindows_ = numWindows_ = 0;
    }
    window_.restart(begin_);
    high_ = end_;
  }

  bool starves() const { return starves_; }
  // The newest has no turn where it is a half of a loop.
  enum class Turn : uint8_t { Oldest, Newest, NewestOrOldest };
  Turn turn() const { return turn_; }

  // Who had the turn has had it. `end`: of the queue, after that. `mayGoOn`: the next one may follow at once.
  void noteTurn(int64_t end, bool mayGoOn) {
    starves_ = mayGoOn;
    mark_ = end_ = end;
    blockedMark_ = numBlocked_;
    sameSince_ = numDequeues_;
  }

 private:
  static constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();  // higher than any

  // The lowest place of the end in a number of turns, and in those before.
  class Span {
   public:
    void note(int64_t end) { low_ = std::min(low_, end); }
    int64_t low() const { return low_; }
    // Returns: whether the task at `begin` was the oldest at the last restart too, below all ends since.
    bool hasKeptTask(int64_t begin) const { return begin == begin_ && begin < low_; }
    bool isAlike() const { return low_ == lastLow_; }
    void restart(int64_t begin) {
      begin_ = begin;
      lastLow_ = low_;
      low_ = kNoEnd;
    }

   private:
    int64_t low_ = kNoEnd;
    int64_t lastLow_ = 0;
    int64_t begin_ = 0;
  };

  // The oldest starves as long as the end is not above `mark`, and no more than `numBlocked` fibers wait.
  void setStarving(int64_t mark, uint64_t numBlocked, Turn turn) {
    starves_ = true;
    turn_ = turn;
    mark_ = mark;
    blockedMark_ = numBlocked;
  }

  // Because the lowest place of the end has been the same for long.
  void setStarvingByPlace(Turn turn) {
    patience_ = hasGrown_ ? patience_ : 1;
    hasGrown_ = false;
    longest_ = high_ - begin_;
    setStarving(high_, kAnyNumber, turn);
  }

  bool isAlike(bool isSameTask, const Span& span) const {
    return isSameTask && isWaiting_ && !isBesidePieces_ && span.isAlike();
  }

  void endRow() {
    numSameRows_ = isAlike(row_.hasKeptTask(begin_), row_) ? numSameRows_ + 1 : 0;
    if (numSameRows_ >= kSameRows * patience_) {
      setStarvingByPlace(Turn::Oldest);
      numSameRows_ = 0;
    }
    row_.restart(begin_);
    rowSince_ = numDequeues_;
  }

  static constexpr uint32_t kSameRows = 3;  // after the first
  static constexpr uint64_t kAnyNumber = std::numeric_limits<uint64_t>::max();

  int64_t begin_ = 0, end_ = 0;  // at the last turn
  uint64_t numDequeues_ = 0;     // up to then
  uint64_t sameSince_ = 0;       // the dequeue since which they are that
  Span row_, window_;
  uint64_t rowSince_ = 0;  // the dequeue with which the row began
  uint32_t numSameRows_ = 0, numSameWindows_ = 0;
  uint32_t patience_ = 1;     // times as many rows and windows must be alike as at first
  int64_t longest_ = kNoEnd;  // how long the queue was before the last turn of this kind
  bool hasGrown_ = false;     // whether it has been longer since
  bool isBesideLoop_ = false;
  bool isBesidePieces_ = false;  // of a loop, or tasks in place
  bool isWaiting_ = false;       // whether there is a task that something else goes before
  bool starves_ = false;
  Turn turn_ = Turn::Oldest;
  bool wasNewests_ = false;                    // the last turn after 64 windows was the newest's
  int64_t mark_ = 0;                           // where the end is higher, the oldest starves no more
  uint64_t numBlocked_ = 0, blockedMark_ = 0;  // waiting fibers; with more, it starves no more
  int64_t high_ = 0;                           // the highest end of this window
  int64_t floor_ = kNoEnd;                     // the lowest since the oldest task became the oldest
  uint32_t numWindows_ = 0;                    // for which floor_ has not become lower
};

}  // namespace weft::inline v0_1::detail
