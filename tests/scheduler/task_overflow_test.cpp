// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/queues/task_overflow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <weft/memory.h>

namespace weft::inline v0_1::detail {
namespace {

constexpr uint32_t kBatch = TaskOverflow::kBatch;

class TaskOverflowTest : public ::testing::Test {
 protected:
  static constexpr int kTasks = 10 * static_cast<int>(kBatch);

  void push(int first, uint32_t count) {
    std::vector<TaskNode*> batch(count);
    for (uint32_t i = 0; i < count; ++i) {
      batch[i] = &nodes_[static_cast<size_t>(first) + i];
    }
    overflow_.push(batch.data(), count);
  }
  // Returns: the numbers of the tasks, the oldest first.
  std::vector<int> takeNewest() {
    TaskNode* batch[kBatch];
    std::vector<int> numbers;
    for (uint32_t i = 0, count = overflow_.takeNewest(batch); i < count; ++i) {
      numbers.push_back(numberOf(*batch[i]));
    }
    return numbers;
  }
  // Returns: the number of the task, -1 for none.
  int takeOldest() {
    TaskNode* task = overflow_.takeOldest();
    return task != nullptr ? numberOf(*task) : -1;
  }
  int numberOf(const TaskNode& task) const { return static_cast<int>(&task - nodes_.data()); }

  TrackedAllocator allocator_{Allocator::Default};
  TaskOverflow overflow_{&allocator_};
  std::vector<TaskNode> nodes_ = std::vector<TaskNode>(kTasks);
};

TEST_F(TaskOverflowTest, TheNewestBatchComesFirstAndKeepsItsOrder) {
  push(0, 2);
  push(2, 3);
  EXPECT_EQ(overflow_.size(), 5u);
  EXPECT_EQ(takeNewest(), (std::vector<int>{2, 3, 4}));
  EXPECT_EQ(takeNewest(), (std::vector<int>{0, 1}));
  EXPECT_EQ(takeNewest(), std::vector<int>());
  EXPECT_TRUE(overflow_.isEmpty());
}

TEST_F(TaskOverflowTest, TheOldestTaskMayBeTakenAlone) {
  push(0, 2);
  push(2, 3);
  EXPECT_EQ(takeOldest(), 0);
  EXPECT_EQ(takeOldest(), 1);
  EXPECT_EQ(takeOldest(), 2) << "of the next batch";
  push(5, 1);
  EXPECT_EQ(overflow_.size(), 3u);
  EXPECT_EQ(takeNewest(), (std::vector<int>{5}));
  EXPECT_EQ(takeNewest(), (std::vector<int>{3, 4})) << "what is left of it";
  EXPECT_EQ(takeOldest(), -1);
  push(6, 1);
  EXPECT_EQ(takeOldest(), 6) << "after it was empty from either end";
  EXPECT_EQ(takeNewest(), std::vector<int>());
}

TEST_F(TaskOverflowTest, KeepsTheMemoryOfWhatWasTakenForWhatComes) {
  push(0, kBatch);
  push(0, kBatch);
  takeNewest();
  takeNewest();
  const size_t bytes = allocator_.stats().bytesAllocated();
  push(0, kBatch);
  push(0, 1);
  takeOldest();
  EXPECT_EQ(allocator_.stats().bytesAllocated(), bytes);
}

TEST_F(TaskOverflowTest, EachTaskIsTakenOnceByWhicheverThread) {
  constexpr int kThreads = 4;
  std::vector<std::atomic<int>> numTaken(kTasks);
  std::atomic<int> numLeft{kTasks};
  const auto take = [&](const TaskNode& task) {
    ++numTaken[static_cast<size_t>(numberOf(task))];
    --numLeft;
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      constexpr uint32_t kSome = 5;
      for (int first = thread; first < kTasks / static_cast<int>(kSome); first += kThreads) {
        push(first * static_cast<int>(kSome), kSome);
      }
      while (numLeft > 0) {
        TaskNode* batch[kBatch];
        for (uint32_t i = 0, count = overflow_.takeNewest(batch); i < count; ++i) {
          take(*batch[i]);
        }
        if (TaskNode* task = overflow_.takeOldest()) {
          take(*task);
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(std::all_of(numTaken.begin(), numTaken.end(), [](const auto& number) { return number == 1; }));
  EXPECT_TRUE(overflow_.isEmpty());
}

}  // namespace
}  // namespace weft::inline v0_1::detail
