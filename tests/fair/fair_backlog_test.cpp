// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "fair/backlog.h"

#include <deque>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace weft::inline v0_1::detail {
namespace {

// A backlog beside a plain queue of what it must hold.
class FairBacklogTest : public ::testing::Test {
 protected:
  FairTask* nextTask() {
    tasks_.emplace_back(nullptr);
    expected_.push_back(&tasks_.back());
    return &tasks_.back();
  }
  void append(int count) {
    for (int i = 0; i < count; ++i) {
      backlog_.append(nextTask());
    }
  }
  void appendReversed(int count) {
    std::vector<FairTask*> oldestFirst;
    for (int i = 0; i < count; ++i) {
      oldestFirst.push_back(nextTask());
    }
    FairBacklog::Reversed reversed(backlog_);
    for (auto task = oldestFirst.rbegin(); task != oldestFirst.rend(); ++task) {
      reversed.prepend(*task);
    }
    reversed.append();
  }
  void expectPops(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      ASSERT_FALSE(backlog_.isEmpty());
      ASSERT_EQ(backlog_.pop(), expected_.front());
      expected_.pop_front();
    }
  }
  void expectRest() {
    expectPops(expected_.size());
    EXPECT_TRUE(backlog_.isEmpty());
  }
  uint64_t numBytes() const { return allocator_.stats().bytesAllocated(); }

  TrackedAllocator allocator_{Allocator::Default};
  FairBacklog backlog_{&allocator_};
  std::deque<FairTask> tasks_;
  std::deque<FairTask*> expected_;
};

TEST_F(FairBacklogTest, GivesTasksInTheirOrder) {
  EXPECT_TRUE(backlog_.isEmpty());
  append(1);
  expectRest();
  append(3000);
  expectPops(10);
  appendReversed(1);
  appendReversed(3000);
  append(7);
  expectRest();
  appendReversed(5000);
  expectRest();
}

TEST_F(FairBacklogTest, AnEmptyListIsNone) {
  appendReversed(0);
  EXPECT_TRUE(backlog_.isEmpty());
}

TEST_F(FairBacklogTest, KeepsTheOrderOverRandomSteps) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const int count = 1 << (random() % 11);
    switch (random() % 3) {
      case 0:
        append(count);
        break;
      case 1:
        appendReversed(count);
        break;
      default:
        expectPops(std::min<size_t>(expected_.size(), static_cast<size_t>(2 * count)));
        break;
    }
  }
  expectRest();
}

// A thousand tasks that each come back by themselves take three chunks at most, not one each.
TEST_F(FairBacklogTest, TasksThatComeOneByOneShareChunks) {
  append(1000);
  for (int i = 0; i < 10'000; ++i) {
    appendReversed(1);
    expectPops(1);
    ASSERT_LE(numBytes(), 3u * 32 * 1024);
  }
}

// Each chunk costs a call of the allocator, and in a thread's arena of glibc a system call.
TEST_F(FairBacklogTest, TakesOneChunkForFourThousandTasks) {
  appendReversed(1'000'000);
  EXPECT_LE(allocator_.stats().numAllocations(), 1'000'000u / 4'000);
}

TEST_F(FairBacklogTest, GivesMemoryBack) {
  appendReversed(1'000'000);
  EXPECT_LE(numBytes(), 10'000'000u);
  expectRest();
  EXPECT_LE(numBytes(), 3u * 32 * 1024);
}

}  // namespace
}  // namespace weft::inline v0_1::detail
