// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/parallel.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/event.h>
#include <weft/sleep.h>

#include "count_mallocs.h"
#include "in_task.h"
#include "waiting.h"

namespace weft {
namespace {

using tests::inTask;
using tests::scaled;

// Yields the numbers below `end`, then nothing.
class Numbers {
 public:
  explicit Numbers(int end) : end_(end) {}
  std::optional<int> operator()() { return next_ < end_ ? std::optional<int>(next_++) : std::nullopt; }

 private:
  int next_ = 0;
  int end_;
};

const int kItems = scaled(2000, 200);

// How many are inside at the same time, at most.
class Crowd {
 public:
  void enter() {
    const int now = ++inside_;
    for (int most = most_.load(); now > most && !most_.compare_exchange_weak(most, now);) {
    }
  }
  void leave() { --inside_; }
  int most() const { return most_.load(); }

 private:
  std::atomic<int> inside_{0};
  std::atomic<int> most_{0};
};

class ParallelPipelineTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(ParallelPipelineTest);

void runInOrder(std::ptrdiff_t tokens) {
  std::vector<std::string> written;
  parallelPipeline(tokens, serialStage(Numbers(kItems)), parallelStage([](int i) {
                     if (i % 3 == 0) {
                       yield();
                     }
                     return std::make_unique<int>(i);
                   }),
                   serialOutOfOrderStage([](std::unique_ptr<int> i) { return std::to_string(*i); }),
                   serialStage([&](std::string text) { written.push_back(std::move(text)); }));
  ASSERT_EQ(written.size(), static_cast<size_t>(kItems));
  for (int i = 0; i < kItems; ++i) {
    ASSERT_EQ(written[static_cast<size_t>(i)], std::to_string(i));
  }
}

TEST(ParallelPipelineUnboundTest, TakesOneItemAfterTheOtherWhereNoSchedulerIsBound) { runInOrder(4); }

TEST_P(ParallelPipelineTest, ASerialStageSeesTheItemsInTheirOrder) {
  for (const std::ptrdiff_t tokens :
       {std::ptrdiff_t{1}, std::ptrdiff_t{2}, std::ptrdiff_t{5}, std::ptrdiff_t{100}, PTRDIFF_MAX}) {
    runInOrder(tokens);
    inTask([tokens] { runInOrder(tokens); });
  }
}

TEST_P(ParallelPipelineTest, SerialStagesRunOneItemAtATimeAndTokensBoundTheRest) {
  inTask([] {
    constexpr int kTokens = 3;
    Crowd serial, outOfOrder, parallel, all;
    const auto visit = [](Crowd& crowd, int i) {
      crowd.enter();
      yield();
      crowd.leave();
      return i;
    };
    parallelPipeline(kTokens, serialStage([&, next = Numbers(kItems)]() mutable {
                       const auto item = next();
                       if (item) {
                         all.enter();
                       }
                       return item;
                     }),
                     serialOutOfOrderStage([&](int i) { return visit(outOfOrder, i); }),
                     parallelStage([&](int i) { return visit(parallel, i); }),
                     serialStage([&](int i) { return visit(serial, i); }),
                     parallelStage([&](int) { all.leave(); }));
    EXPECT_EQ(serial.most(), 1);
    EXPECT_EQ(outOfOrder.most(), 1);
    EXPECT_LE(parallel.most(), kTokens);
    EXPECT_LE(all.most(), kTokens);
  });
}

// The first item goes on only when the second has come to the same stage.
TEST_P(ParallelPipelineTest, OtherItemsGoOnWhileOneWaits) {
  inTask([] {
    const Event secondHasCome;
    std::vector<int> order;
    parallelPipeline(2, serialStage(Numbers(2)), parallelStage([&](int i) {
                       i == 0 ? secondHasCome.wait() : secondHasCome.signal();
                       return i;
                     }),
                     serialStage([&](int i) { order.push_back(i); }));
    EXPECT_EQ(order, (std::vector<int>{0, 1}));
  });
}

TEST_P(ParallelPipelineTest, AnExceptionOfAnyStageArrivesAndTheRestIsDropped) {
  const auto throwAt = [](int stage) {
    const auto check = [stage](int here, int i) {
      yield();
      return stage == here && i == 50 ? throw std::runtime_error(std::to_string(here)) : i;
    };
    std::string what;
    try {
      parallelPipeline(4, serialStage([&, next = Numbers(1 << 30)]() mutable -> std::optional<int> {
                         return check(0, *next());
                       }),
                       parallelStage([&](int i) { return check(1, i); }),
                       serialOutOfOrderStage([&](int i) { return check(2, i); }),
                       serialStage([&](int i) { return check(3, i); }),
                       parallelStage([&](int i) { check(4, i); }));
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    EXPECT_EQ(what, std::to_string(stage));
  };
  for (int stage = 0; stage < 5; ++stage) {
    throwAt(stage);
    inTask([&] { throwAt(stage); });
  }
}

TEST_P(ParallelPipelineTest, OfSeveralExceptionsThatOfTheEarliestItemArrives) {
  inTask([] {
    // An item that has not begun its stage is dropped once another has thrown.
    const Event firstHasBegun;
    const Event secondHasBegun;
    int caught = -1;
    try {
      parallelPipeline(2, serialStage(Numbers(2)), parallelStage([&](int i) {
                         (i == 0 ? firstHasBegun : secondHasBegun).signal();
                         (i == 0 ? secondHasBegun : firstHasBegun).wait();
                         throw i;
                       }));
    } catch (int item) {
      caught = item;
    }
    EXPECT_EQ(caught, 0);
  });
}

// An item whose moves throw, from one of them on.
class Fragile {
 public:
  Fragile(int value, std::atomic<int>& movesLeft) : value_(value), movesLeft_(&movesLeft) {}
  Fragile(Fragile&& other) : value_(other.value_), movesLeft_(other.movesLeft_) {
    if (movesLeft_->fetch_sub(1) <= 0) {
      throw std::runtime_error("move");
    }
  }
  Fragile& operator=(Fragile&& other) {
    Fragile taken(std::move(other));
    value_ = taken.value_;
    return *this;
  }
  int value() const { return value_; }

 private:
  int value_;
  std::atomic<int>* movesLeft_;
};

TEST_P(ParallelPipelineTest, AMoveThatThrowsBetweenTwoStagesArrivesAndNoItemWaitsForItsTurn) {
  const auto breakAt = [](int numMoves) {
    std::atomic<int> movesLeft{numMoves};
    EXPECT_THROW(
        parallelPipeline(5, serialStage([&, next = Numbers(1000)]() mutable -> std::optional<Fragile> {
                           const std::optional<int> number = next();
                           return number ? std::optional<Fragile>(std::in_place, *number, movesLeft)
                                         : std::nullopt;
                         }),
                         parallelStage([](Fragile item) {
                           yield();
                           return item;
                         }),
                         serialStage([](Fragile&& item) -> Fragile { return std::move(item); }),
                         parallelStage([](Fragile item) { return item; }),
                         serialStage([](Fragile item) { EXPECT_GE(item.value(), 0); })),
        std::runtime_error)
        << numMoves;
  };
  for (int numMoves = 0; numMoves < 40; ++numMoves) {
    breakAt(numMoves);
    inTask([&] { breakAt(numMoves); });
  }
}

TEST_P(ParallelPipelineTest, ASourceThatThrowsIsNotCalledAgain) {
  inTask([] {
    std::atomic<int> numCalls{0};
    EXPECT_THROW(parallelPipeline(4, serialStage([&]() -> std::optional<int> {
                                    if (++numCalls == 10) {
                                      throw std::runtime_error("source");
                                    }
                                    return 1;
                                  }),
                                  parallelStage([](int) { yield(); })),
                 std::runtime_error);
    EXPECT_EQ(numCalls.load(), 10);
  });
}

TEST_P(ParallelPipelineTest, MayHaveOneStageOrNoItems) {
  inTask([] {
    parallelPipeline(3, serialStage(Numbers(10)));
    parallelPipeline(3, serialStage(Numbers(0)), parallelStage([](int) { FAIL() << "there is no item"; }));
    const auto source = serialOutOfOrderStage(Numbers(1));
    auto named = source;
    int numItems = 0;
    parallelPipeline(3, named, parallelStage([&](int) { ++numItems; }));
    EXPECT_EQ(numItems, 1);
  });
}

TEST_P(ParallelPipelineTest, CallsNoMallocInTheSteadyState) {
  if (numWorkers() > 1) {
    GTEST_SKIP() << "workers make their fibers when they first need them";
  }
  inTask([] {
    const auto run = [] {
      int sum = 0;
      parallelPipeline(4, serialStage(Numbers(100)), parallelStage([](int i) { return 2 * i; }),
                       serialStage([&](int i) { sum += i; }));
      EXPECT_EQ(sum, 9900);
    };
    run();
    const auto before = tests::numMallocs();
    run();
    EXPECT_EQ(tests::numMallocs(), before);
  });
}

TEST_P(ParallelPipelineTest, RefusesToRunWithoutAToken) {
  EXPECT_THROW(parallelPipeline(0, serialStage(Numbers(1))), std::invalid_argument);
  EXPECT_THROW(parallelPipeline(-1, serialStage(Numbers(1))), std::invalid_argument);
}

}  // namespace
}  // namespace weft
