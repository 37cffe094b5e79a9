// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/queues/task_queues.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include <weft/memory.h>

// The order of one worker's tasks, without fibers and without threads: nobody runs the tasks.
namespace weft::inline v0_1::detail {
namespace {

uint64_t numQueuedIn(const TaskQueues& queues) { return queues.numPinned() + queues.stealable.size(); }

class TaskQueuesTest : public ::testing::Test {
 protected:
  static constexpr bool kOfTask = true, kFromOutside = false;
  static constexpr int kDequeSize = static_cast<int>(StealableTasks::Deque::kCapacity);

  void SetUp() override { worker_.stealable.local.deque = &deque_; }

  // The queues of a worker with a thread, and of a bound thread that has forked.
  TaskQueues& worker() { return worker_; }
  TaskQueues& boundThread() {
    bound_.stealable.local.deque = &boundDeque_;
    return bound_;
  }

  TaskNode* node(int number) {
    nodes_.resize(std::max<size_t>(nodes_.size(), static_cast<size_t>(number) + 1));
    auto& node = nodes_[static_cast<size_t>(number)];
    if (node == nullptr) {
      node = std::make_unique<TaskNode>();
    }
    return node.get();
  }
  // Returns: the number of a task, -1 for none.
  int numberOf(const TaskNode* task) const {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (task != nullptr && nodes_[i].get() == task) {
        return static_cast<int>(i);
      }
    }
    return -1;
  }

  void push(int first, int end) {
    for (int i = first; i < end; ++i) {
      worker_.stealable.push(node(i));
    }
  }
  void inject(int first, int end) {
    for (int i = first; i < end; ++i) {
      injector_.push(node(i));
    }
  }

  // Returns: what take() gives, again and again, until there is no more.
  template <class Take>
  std::vector<int> all(Take take) {
    std::vector<int> numbers;
    while (TaskNode* task = take()) {
      numbers.push_back(numberOf(task));
    }
    return numbers;
  }
  std::vector<int> allNext(TaskQueues& tasks) {
    return all([&] { return tasks.next(); });
  }
  // What a worker takes in turn that takes batches where it has run dry.
  std::vector<int> allNextAndBatches(TaskQueues& tasks) {
    return all([&] {
      TaskNode* task = tasks.next();
      return task != nullptr ? task : tasks.takeBatch(64);
    });
  }
  static std::vector<int> upTo(int first, int end) {
    std::vector<int> numbers(static_cast<size_t>(end - first));
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
  }

  // Beside fibers that are always ready, or as it is told.
  TaskNode* oldestInTurn(OldestWatch::Next next = OldestWatch::Next::Other) {
    for (int i = 0; i < 2; ++i) {
      worker_.watchOldest(false, {numDequeues_, 0, next});
      numDequeues_ += OldestWatch::kDequeues;
    }
    return worker_.oldestInTurn();
  }

  uint64_t numDequeues_ = 0;
  uint64_t numInjected() { return injector_.size(); }
  uint64_t numOverflowed() const { return overflow_.size(); }
  size_t numAllocationsOfBoundThread() { return allocatorOfBound_.stats().numAllocations(); }

 private:
  StealableTasks::Injector injector_;
  TaskOverflow overflow_{Allocator::Default};
  IdleSet<> idle_{2};
  StealGate<> gate_;
  const StealableTasks::Shared shared_{injector_, overflow_, idle_, gate_, 2};
  StealableTasks::Deque deque_, boundDeque_;
  TaskQueues worker_{shared_, true, Allocator::Default};
  TrackedAllocator allocatorOfBound_{Allocator::Default};
  TaskQueues bound_{shared_, false, &allocatorOfBound_};
  std::vector<std::unique_ptr<TaskNode>> nodes_;
};

TEST_F(TaskQueuesTest, TasksForThisThreadComeFirstOfTasksThenFromOutside) {
  push(0, 2);
  worker().pushPinned(node(2), kFromOutside);
  worker().pushPinned(node(3), kFromOutside);
  worker().pushPinned(node(4), kOfTask);
  worker().pushPinned(node(5), kOfTask);
  EXPECT_EQ(numQueuedIn(worker()), 6u);
  EXPECT_FALSE(worker().isEmpty());
  EXPECT_EQ(allNext(worker()), (std::vector<int>{5, 4, 2, 3, 1, 0}));
  EXPECT_TRUE(worker().isEmpty());
}

TEST_F(TaskQueuesTest, HoweverManyTasksForThisThreadFromOutsideNeedNoMemory) {
  constexpr int kTasks = 1'000;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kTasks; ++i) {
      boundThread().pushPinned(node(i), kFromOutside);
    }
    EXPECT_EQ(numQueuedIn(boundThread()), uint64_t{kTasks});
    EXPECT_EQ(allNext(boundThread()), upTo(0, kTasks));
    EXPECT_EQ(numQueuedIn(boundThread()), 0u);
    EXPECT_TRUE(boundThread().isEmpty());
  }
  EXPECT_EQ(numAllocationsOfBoundThread(), 0u);
}

TEST_F(TaskQueuesTest, WhereTheOldestIsPreferredItComesFirst) {
  push(0, 3);
  worker().pushPinned(node(3), kOfTask);
  worker().pushPinned(node(4), kOfTask);
  worker().preferOldest();
  EXPECT_EQ(numberOf(worker().next()), 3);
  EXPECT_EQ(numberOf(worker().next()), 4);
  EXPECT_EQ(numberOf(worker().next()), 0);
  worker().preferNewest();
  EXPECT_EQ(allNext(worker()), (std::vector<int>{2, 1}));
}

TEST_F(TaskQueuesTest, ABatchFromTheInjectorStartsInOrder) {
  inject(0, 10);
  EXPECT_EQ(numberOf(worker().takeBatch(64)), 0);
  EXPECT_EQ(allNext(worker()), upTo(1, 6));
  EXPECT_TRUE(worker().stealable.seesBatch());
}

TEST_F(TaskQueuesTest, AWorkerTakesAFairShareOfTheInjector) {
  inject(0, 40);
  EXPECT_EQ(numberOf(worker().takeBatch(64)), 0);
  EXPECT_EQ(numQueuedIn(worker()), 20u);
  EXPECT_EQ(numInjected(), 19u) << "it took half, of two workers, and one more";
}

TEST_F(TaskQueuesTest, NewerTasksComeBeforeTheBatchAndItsOrderStays) {
  inject(0, 8);
  EXPECT_EQ(numberOf(worker().takeBatch(64)), 0);
  push(8, 10);
  EXPECT_EQ(allNext(worker()), (std::vector<int>{9, 8, 1, 2, 3, 4}));
}

TEST_F(TaskQueuesTest, TheOldestFromOutsideIsForThisThreadThenOfTheBatchThenInTheInjector) {
  inject(0, 4);
  EXPECT_EQ(numberOf(worker().takeBatch(64)), 0);
  push(4, 6);
  worker().pushPinned(node(6), kFromOutside);
  EXPECT_TRUE(worker().hasFromOutside());
  // What the worker's tasks have scheduled lies above the batch, and is not from outside.
  EXPECT_EQ(all([&] { return worker().oldestFromOutside(); }), (std::vector<int>{6, 1, 2, 3}));
  EXPECT_FALSE(worker().hasFromOutside());
  EXPECT_EQ(allNext(worker()), (std::vector<int>{5, 4}));
}

TEST_F(TaskQueuesTest, ABatchInTheDequeIsFromOutsideWhereTheInjectorIsEmptyToo) {
  inject(0, 3);
  EXPECT_EQ(numberOf(worker().takeBatch(64)), 0);
  EXPECT_TRUE(worker().hasFromOutside());
  push(3, 5);
  EXPECT_TRUE(worker().hasFromOutside());
  EXPECT_EQ(all([&] { return worker().oldestFromOutside(); }), (std::vector<int>{1, 2}));
  EXPECT_FALSE(worker().hasFromOutside());
}

TEST_F(TaskQueuesTest, WhatWasPlacedHereAndTheInjectorHaveTurnsByTurns) {
  inject(0, 4);
  EXPECT_EQ(numberOf(worker().takeBatch(64)), 0);
  for (int i = 4; i < 9; ++i) {
    worker().pushPinned(node(i), kFromOutside);
  }
  EXPECT_EQ(all([&] { return worker().oldestFromOutside(); }), (std::vector<int>{4, 1, 5, 2, 6, 3, 7, 8}));
}

TEST_F(TaskQueuesTest, ABoundThreadLeavesTheInjectorToTheWorkers) {
  inject(0, 1);
  EXPECT_FALSE(boundThread().hasFromOutside());
  EXPECT_EQ(boundThread().oldestFromOutside(), nullptr);
  EXPECT_TRUE(worker().hasFromOutside());
  boundThread().pushPinned(node(1), kFromOutside);
  EXPECT_FALSE(boundThread().isEmpty());
  EXPECT_TRUE(boundThread().hasFromOutside());
  EXPECT_EQ(numberOf(boundThread().oldestFromOutside()), 1);
}

TEST_F(TaskQueuesTest, TheOldestInTurnIsForThisThreadAndForThievesByTurns) {
  push(0, 3);
  for (int i = 3; i < 5; ++i) {
    worker().pushPinned(node(i), kOfTask);
  }
  EXPECT_EQ(worker().oldestInTurn(), nullptr) << "they do not starve";
  EXPECT_EQ(all([&] { return oldestInTurn(); }), (std::vector<int>{3, 0, 4, 1, 2}));
}

TEST_F(TaskQueuesTest, OfTheOldestInTurnABatchComesBeforeWhatLiesAboveIt) {
  inject(0, 4);
  EXPECT_EQ(numberOf(worker().takeBatch(64)), 0);
  push(4, 6);
  EXPECT_EQ(all([&] { return oldestInTurn(); }), (std::vector<int>{1, 2, 4, 5}));
}

// Halves of a loop are for thieves. The loop comes to them.
TEST_F(TaskQueuesTest, BesidePiecesTasksAboveHalvesOfTheLoopHaveTurns) {
  push(0, 6);
  for (int i = 1; i < 4; ++i) {
    node(i)->flags = kForked;
  }
  const auto besidePieces = [&] { return oldestInTurn(OldestWatch::Next::Piece); };
  EXPECT_EQ(all(besidePieces), (std::vector<int>{5, 4}));
  EXPECT_EQ(numQueuedIn(worker()), 4u);
  EXPECT_EQ(all([&] { return oldestInTurn(); }), (std::vector<int>{0, 1, 2, 3})) << "beside fibers";
}

TEST_F(TaskQueuesTest, ABatchIsNoLargerThanItsLimit) {
  inject(0, 1000);
  EXPECT_EQ(numberOf(worker().takeBatch(1)), 0);
  EXPECT_TRUE(worker().isEmpty());
  EXPECT_EQ(numberOf(worker().takeBatch(7)), 1);
  EXPECT_EQ(numQueuedIn(worker()), 6u);
}

TEST_F(TaskQueuesTest, KnowsWhetherWhatIsFromOutsideComesNextAnyway) {
  EXPECT_FALSE(worker().isOutsideNext());
  inject(0, 4);
  EXPECT_EQ(numberOf(worker().takeBatch(64)), 0);
  EXPECT_TRUE(worker().isOutsideNext());
  push(4, 5);
  EXPECT_FALSE(worker().isOutsideNext());
  worker().pushPinned(node(5), kFromOutside);
  EXPECT_TRUE(worker().isOutsideNext());
  worker().pushPinned(node(6), kOfTask);
  EXPECT_FALSE(worker().isOutsideNext());
}

TEST_F(TaskQueuesTest, AFullDequeMovesItsOlderHalfToTheOverflow) {
  push(0, kDequeSize);
  EXPECT_EQ(numOverflowed(), 0u);
  EXPECT_FALSE(worker().stealable.seesBatch());
  push(kDequeSize, kDequeSize + 1);
  EXPECT_EQ(numOverflowed(), static_cast<uint64_t>(kDequeSize / 2));
  EXPECT_EQ(numQueuedIn(worker()), static_cast<uint64_t>(kDequeSize / 2) + 1);
  EXPECT_TRUE(worker().stealable.seesBatch());
  EXPECT_FALSE(worker().hasFromOutside()) << "a task has scheduled them";
}

TEST_F(TaskQueuesTest, HoweverManyThereAreTheNewestComesFirst) {
  constexpr int kTasks = 3 * kDequeSize;
  inject(kTasks, kTasks + 1);
  push(0, kTasks);
  std::vector<int> expected = upTo(0, kTasks);
  std::reverse(expected.begin(), expected.end());
  expected.push_back(kTasks);  // from outside, which has its turns
  EXPECT_EQ(allNextAndBatches(worker()), expected);
  EXPECT_FALSE(worker().stealable.seesBatch());
}

TEST_F(TaskQueuesTest, WhatHasOverflowedIsOlderThanTheDeque) {
  inject(kDequeSize + 1, kDequeSize + 2);
  push(0, kDequeSize + 1);
  worker().preferOldest();
  EXPECT_EQ(allNext(worker()), upTo(0, kDequeSize + 1));
  EXPECT_EQ(numInjected(), 1u) << "what is from outside waits for its turn";
}

TEST_F(TaskQueuesTest, WhereTheOldestIsPreferredWhatHasOverflowedComesOldestFirst) {
  push(0, kDequeSize + 1);
  EXPECT_EQ(allNext(worker()).back(), kDequeSize / 2);
  worker().preferOldest();
  EXPECT_EQ(allNextAndBatches(worker()), upTo(0, kDequeSize / 2));
}

TEST_F(TaskQueuesTest, TheOldestInTurnIsOneThatHasOverflowed) {
  push(0, kDequeSize + 1);
  EXPECT_EQ(numberOf(oldestInTurn()), 0);
  EXPECT_EQ(numberOf(oldestInTurn()), 1);
  EXPECT_EQ(allNext(worker()).size(), static_cast<size_t>(kDequeSize / 2) + 1);
  EXPECT_EQ(numberOf(oldestInTurn()), 2) << "beside an empty deque too";
  EXPECT_EQ(numberOf(oldestInTurn(OldestWatch::Next::Piece)), 3) << "and beside the pieces of a loop";
}

TEST_F(TaskQueuesTest, OnlyTheNewestIsTakenToRunInPlace) {
  push(0, 2);
  EXPECT_FALSE(worker().takeIfNewest(node(0)));
  EXPECT_TRUE(worker().takeIfNewest(node(1)));
  worker().pushPinned(node(2), kOfTask);
  EXPECT_FALSE(worker().takeIfNewest(node(0))) << "one for this thread is newer";
  EXPECT_TRUE(worker().takeIfNewest(node(2)));
  EXPECT_TRUE(worker().takeIfNewest(node(0)));
  EXPECT_TRUE(worker().isEmpty());
}

TEST_F(TaskQueuesTest, AWorkerTakesWhatABoundThreadHasGivenAway) {
  for (int i = 0; i < 5; ++i) {
    boundThread().stealable.push(node(i));
  }
  EXPECT_TRUE(boundThread().stealable.giveAway());
  EXPECT_FALSE(boundThread().stealable.giveAway());
  EXPECT_TRUE(boundThread().isEmpty());
  EXPECT_EQ(allNextAndBatches(worker()), (std::vector<int>{4, 3, 2, 1, 0}));
}

}  // namespace
}  // namespace weft::inline v0_1::detail
