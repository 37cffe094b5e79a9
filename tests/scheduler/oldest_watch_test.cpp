// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/policy/oldest_watch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

// Which oldest task starves: on a stack of numbers that stands for a queue, without a worker and a clock.
namespace weft::inline v0_1::detail {
namespace {

class OldestWatchTest : public ::testing::Test {
 protected:
  static constexpr int kTurnsInWindow = 100;

  void push(int count = 1) { end_ += count; }
  void takeNewest() { --end_; }
  // What a worker does at a turn. Each 100th ends a window. Returns: whether the oldest was given the turn.
  bool turn(bool isFiberNext = false) {
    numDequeues_ += 61;
    watch_.note(
        begin_, end_,
        {numDequeues_, numBlocked_, isFiberNext ? OldestWatch::Next::Other : OldestWatch::Next::Newest});
    if (++numTurns_ % kTurnsInWindow == 0) {
      watch_.endWindow();
    }
    if (!watch_.starves()) {
      return false;
    }
    ++begin_;
    watch_.noteTurn(end_, true);
    return true;
  }
  // Returns: the number of turns up to that of the oldest.
  int turnsUntilOldest(const std::function<void()>& work, bool isFiberNext = false) {
    int count = 1;
    for (work(); !turn(isFiberNext); work()) {
      ++count;
    }
    return count;
  }

  int64_t size() const { return end_ - begin_; }
  void block() { ++numBlocked_; }

 private:
  OldestWatch watch_;
  int64_t begin_ = 0, end_ = 0;
  uint64_t numDequeues_ = 0, numBlocked_ = 0;
  int numTurns_ = 0;
};

TEST_F(OldestWatchTest, BesideFibersThatAreAlwaysReadyTheOldestStarvesAfter1037Dequeues) {
  push(3);
  EXPECT_LE(turnsUntilOldest([] {}, true), 18);
  EXPECT_EQ(turnsUntilOldest([] {}, true), 1) << "the next one follows";
  EXPECT_EQ(turnsUntilOldest([] {}, true), 1);
  EXPECT_FALSE(turn(true)) << "there is none";
}

TEST_F(OldestWatchTest, BesideATaskThatSchedulesItselfToo) {
  push(3);
  EXPECT_LE(turnsUntilOldest([] {}), 18);
  EXPECT_EQ(turnsUntilOldest([] {}), 1);
  EXPECT_FALSE(turn()) << "the last one runs next anyway";
}

TEST_F(OldestWatchTest, BesideTasksThatScheduleOthersItStarvesAfterThreeWindows) {
  push(3);
  unsigned i = 0;
  const int turns = turnsUntilOldest([&] {  // between 1 and 5 tasks above it
    i = i * 1103515245 + 12345;
    const int64_t above = (i >> 16) % 5;
    while (size() > 3 + above) {
      takeNewest();
    }
    while (size() < 3 + above) {
      push();
    }
  });
  EXPECT_LE(turns, 3 * kTurnsInWindow);
}

// As eight fibers do that each schedule a task, wait for it and yield, again and again.
TEST_F(OldestWatchTest, BesideALoadThatRepeatsItselfItStarvesAfterFourRowsOfDequeues) {
  push(3);
  int i = 0;
  const int turns = turnsUntilOldest([&] {
    const int64_t above = ++i % 4;
    while (size() > 3 + above) {
      takeNewest();
    }
    while (size() < 3 + above) {
      push();
    }
  });
  EXPECT_LE(turns, 5 * 18);
}

TEST_F(OldestWatchTest, AfterATaskThatSchedulesOthersTheNextOldestWaitsAgain) {
  push(3);
  turnsUntilOldest([] {}, true);
  push(10);
  int i = 0;
  const int turns = turnsUntilOldest([&] { ++i % 2 == 0 ? push() : takeNewest(); }, true);
  EXPECT_GT(turns, 1);
}

TEST_F(OldestWatchTest, AfterATaskThatWaitsTooSinceOthersMayDoTheSame) {
  push(3);
  turnsUntilOldest([] {}, true);
  block();
  EXPECT_EQ(turnsUntilOldest([] {}, true), 18);
}

TEST_F(OldestWatchTest, WhereTheOldestIsNextItDoesNotStarve) {
  OldestWatch watch;
  for (int i = 0; i < 1'000; ++i) {
    watch.note(0, 3, {static_cast<uint64_t>(i) * 61, 0, OldestWatch::Next::Oldest});
    if (i % 100 == 0) {
      watch.endWindow();
    }
    EXPECT_FALSE(watch.starves());
  }
}

// Steps of a millisecond, with a turn at each. A window has `turnsInWindow`. end(i): of the queue, at turn i.
// Returns: the turns until the task at 0 starves, or `most`.
int longTurnsUntilOldest(OldestWatch::Next next, const std::function<int64_t(int)>& end, int most = 900,
                         int turnsInWindow = 8) {
  OldestWatch watch;
  for (int i = 0; i < most; ++i) {
    watch.note(0, end(i), {static_cast<uint64_t>(i), 0, next});
    if (i % turnsInWindow == turnsInWindow - 1) {
      watch.endWindow();
    }
    if (watch.starves()) {
      return i + 1;
    }
  }
  return most;
}

TEST(OldestWatchLongStepsTest, ItStarvesWhereTwoWindowsInARowAreAlike) {
  EXPECT_LE(longTurnsUntilOldest(OldestWatch::Next::Newest, [](int i) { return 3 + i % 2; }), 3 * 8);
}

TEST(OldestWatchLongStepsTest, AfterSixtyFourWhereTheyDiffer) {
  const int turns =
      longTurnsUntilOldest(OldestWatch::Next::Newest, [](int i) { return 3 + i % 2 + i / 8 % 2; });
  EXPECT_GE(turns, 64 * 8);
  EXPECT_LE(turns, 66 * 8);
}

// Returns: after how many windows, which are all alike, each of the first few turns comes, where the queue is
// longer by `growth` once after each turn.
std::vector<int> windowsBetweenTurns(int64_t growth) {
  OldestWatch watch;
  std::vector<int> windows;
  int numWindows = 0;
  int64_t begin = 0;
  uint64_t numDequeues = 0;
  const auto note = [&](int64_t size) {
    watch.note(begin, begin + size, {++numDequeues, 0, OldestWatch::Next::Newest});
  };
  while (windows.size() < 8) {
    for (const int64_t size : {3, 4, 3, 5}) {
      note(size);
    }
    watch.endWindow();
    ++numWindows;
    if (watch.starves()) {
      windows.push_back(std::exchange(numWindows, 0));
      ++begin;
      watch.noteTurn(begin + 3, true);
      note(5 + growth);
    }
  }
  return windows;
}

TEST(OldestWatchLongStepsTest, AfterATurnThatMakesTheQueueLongerTwiceAsManyMustBeAlike) {
  EXPECT_EQ(windowsBetweenTurns(0), (std::vector<int>{2, 2, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(windowsBetweenTurns(1), (std::vector<int>{2, 3, 5, 9, 17, 33, 65, 65}));
}

TEST(OldestWatchLongStepsTest, NeverWhereTheEndGoesDown) {
  EXPECT_EQ(longTurnsUntilOldest(OldestWatch::Next::Newest, [](int i) { return 1'000 - i / 8; }), 900);
}

TEST(OldestWatchLongStepsTest, BesideThePiecesOfALoopAfter1037OfThem) {
  EXPECT_EQ(longTurnsUntilOldest(OldestWatch::Next::Piece, [](int) { return 3; }, 2'000, 5'000), 1'038);
}

// The oldest is most likely a half of that loop.
TEST(OldestWatchLongStepsTest, ThenTheNewestTaskHasTheTurnAndElseTheOldest) {
  const auto firstTurn = [](OldestWatch::Next next) {
    OldestWatch watch;
    for (uint64_t i = 0; !watch.starves(); ++i) {
      watch.note(0, 3, {i, 0, next});
    }
    return watch.turn();
  };
  EXPECT_EQ(firstTurn(OldestWatch::Next::Piece), OldestWatch::Turn::Newest);
  EXPECT_EQ(firstTurn(OldestWatch::Next::InPlace), OldestWatch::Turn::Oldest) << "the newest goes on";
  EXPECT_EQ(firstTurn(OldestWatch::Next::Other), OldestWatch::Turn::Oldest);
}

TEST(OldestWatchLongStepsTest, AfterATurnThatNoOtherMayFollowItWaitsAsBefore) {
  OldestWatch watch;
  for (uint64_t i = 0; i < 4 * OldestWatch::kDequeues; ++i) {
    watch.note(0, 3, {i, 0, OldestWatch::Next::Piece});
    EXPECT_EQ(watch.starves(), i != 0 && i % OldestWatch::kDequeues == 0) << i;
    if (watch.starves()) {
      watch.noteTurn(3, false);
    }
  }
}

TEST(OldestWatchLongStepsTest, BesidePiecesThatLieDifferentlyAfterSixtyFourWindows) {
  const int turns = longTurnsUntilOldest(OldestWatch::Next::Piece, [](int i) { return 3 + i % 2; });
  EXPECT_GE(turns, 64 * 8);
  EXPECT_LE(turns, 66 * 8);
}

TEST(OldestWatchLongStepsTest, ThenTheNewestAndTheOldestHaveTheTurnByTurns) {
  OldestWatch watch;
  std::vector<OldestWatch::Turn> turns;
  for (int i = 0; turns.size() < 3; ++i) {
    watch.note(0, 3 + i % 2, {static_cast<uint64_t>(i), 0, OldestWatch::Next::Piece});
    watch.endWindow();
    if (watch.starves()) {
      turns.push_back(watch.turn());
      watch.noteTurn(3, false);
    }
  }
  using Turn = OldestWatch::Turn;
  EXPECT_EQ(turns, (std::vector<Turn>{Turn::NewestOrOldest, Turn::Oldest, Turn::NewestOrOldest}));
}

TEST(OldestWatchLongStepsTest, RowsOfPiecesThatAreAlikeTellNothing) {
  const auto end = [](int i) { return 3 + i % 2; };
  EXPECT_EQ(longTurnsUntilOldest(OldestWatch::Next::Piece, end, 8'000, 100'000), 8'000);
  EXPECT_EQ(longTurnsUntilOldest(OldestWatch::Next::InPlace, end, 8'000, 100'000), 8'000);
}

// Each task has ten children and ends after them: the newest is taken first. There is a turn after each
// `dequeues` tasks. Returns: how many turns the oldest had.
class Recursion {
 public:
  explicit Recursion(int dequeuesPerTurn, int windowTurns, int children)
      : dequeuesPerTurn_(dequeuesPerTurn), windowTurns_(windowTurns), children_(children) {}

  int run(int depth) {
    queue_.push_back(depth);
    while (begin_ < queue_.size()) {
      if (++numDequeues_ % dequeuesPerTurn_ == 0 && isOldestsTurn()) {
        ++numOldest_;
        const int oldest = queue_[begin_++];
        expand(oldest);
        continue;
      }
      const int newest = queue_.back();
      queue_.pop_back();
      expand(newest);
    }
    return numOldest_;
  }

 private:
  void expand(int depth) {
    for (int i = 0; depth > 0 && i < children_; ++i) {
      queue_.push_back(depth - 1);
    }
  }
  bool isOldestsTurn() {
    watch_.note(static_cast<int64_t>(begin_), static_cast<int64_t>(queue_.size()),
                {static_cast<uint64_t>(numDequeues_), 0, OldestWatch::Next::Newest});
    if (++numTurns_ % windowTurns_ == 0) {
      watch_.endWindow();
    }
    if (!watch_.starves()) {
      return false;
    }
    watch_.noteTurn(static_cast<int64_t>(queue_.size()), true);
    return true;
  }

  const int dequeuesPerTurn_, windowTurns_, children_;
  OldestWatch watch_;
  std::vector<int> queue_;
  size_t begin_ = 0;
  int numDequeues_ = 0, numTurns_ = 0, numOldest_ = 0;
};

// 61 tasks of 80 ns between two turns, and 1,600 turns in a window; and tasks of some milliseconds, with a
// turn at each and few in a window.
TEST(OldestWatchRecursionTest, InARecursionTheOldestHasFewTurns) {
  EXPECT_LE(Recursion(61, 1'600, 10).run(6), 4) << "of 1,111,111 tasks";
  EXPECT_LE(Recursion(61, 1'600, 2).run(22), 20) << "of 8,388,607 tasks";
  EXPECT_LE(Recursion(1, 3, 10).run(4), 10) << "of 11,111 tasks";
  EXPECT_LE(Recursion(1, 3, 2).run(13), 100) << "of 16,383 tasks";
}

}  // namespace
}  // namespace weft::inline v0_1::detail
