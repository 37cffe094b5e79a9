// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/forkjoin/fork_join.h>

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace weft::inline v0_1::detail {
namespace {

constexpr uint32_t kEnough = 8;

// A local deque whose children nobody calls.
class LocalDequeTest : public testing::Test {
 protected:
  LocalDequeTest() { localDeque_.setNumOthers(1); }

  void fork(size_t num) {
    for (size_t i = 0; i < num; ++i) {
      children_.push_back(std::make_unique<ForkNode>());
      localDeque_.fork(*children_.back());
    }
  }

  ForkNode& child(size_t index) { return *children_[index]; }

  size_t numExposed() const { return deque_->size(); }

  // Steals the oldest, which are the children from `first` on.
  void expectStolen(size_t first, size_t num) {
    for (size_t i = first; i < first + num; ++i) {
      EXPECT_EQ(deque_->steal().item, children_[i].get()) << i;
    }
  }

  std::unique_ptr<StealingDeque<TaskNode>> deque_ = std::make_unique<StealingDeque<TaskNode>>();
  IdleSet<> idle_{2};
  StealGate<> gate_;
  LocalDeque localDeque_{deque_.get(), idle_, StealGate<>::Stealer(gate_), 0, 1};
  std::vector<std::unique_ptr<ForkNode>> children_;
};

TEST_F(LocalDequeTest, KeepsAtMostAsManyAsItOffersBeyondEnough) {
  fork(kEnough);
  EXPECT_EQ(numExposed(), kEnough);
  fork(1);
  EXPECT_EQ(numExposed(), kEnough) << "the first one that nobody needs is kept";
  fork(1);
  EXPECT_EQ(numExposed(), kEnough + 2) << "one must be offered for that one";
  fork(3);
  EXPECT_EQ(numExposed(), kEnough + 2);
  fork(1);
  EXPECT_EQ(numExposed(), kEnough + 6);
}

TEST_F(LocalDequeTest, GivesBackTheNewestFirst) {
  fork(kEnough + 1);
  EXPECT_TRUE(localDeque_.takeBackKept(child(kEnough)));
  for (size_t i = kEnough; i-- > 0;) {
    EXPECT_FALSE(localDeque_.takeBackKept(child(i)));
    EXPECT_TRUE(localDeque_.takeBack(child(i)));
  }
  EXPECT_EQ(numExposed(), 0u);
}

TEST_F(LocalDequeTest, AForkAfterATheftExposesAll) {
  fork(kEnough + 5);
  ASSERT_EQ(numExposed(), kEnough + 2);
  expectStolen(0, 1);
  fork(1);
  EXPECT_EQ(numExposed(), kEnough + 5);
  expectStolen(1, kEnough + 5);
}

TEST_F(LocalDequeTest, AJoinAfterATheftExposesTheRest) {
  fork(kEnough + 5);
  expectStolen(0, 3);
  EXPECT_TRUE(localDeque_.takeBackKept(child(kEnough + 4)));
  EXPECT_EQ(numExposed(), kEnough + 1);
  expectStolen(3, kEnough + 1);
}

TEST_F(LocalDequeTest, WhatIsExposedLaterLiesAboveThem) {
  fork(kEnough + 5);
  TaskNode newer{};
  ASSERT_TRUE(localDeque_.push(newer));
  EXPECT_EQ(deque_->take(localDeque_.stealer), &newer);
  EXPECT_EQ(deque_->take(localDeque_.stealer), &child(kEnough + 4));
  expectStolen(0, kEnough + 4);
}

// Also where the deque was closed for them.
TEST_F(LocalDequeTest, ADequeTakesTasksAfterAllAreJoined) {
  fork(kEnough + 1);
  EXPECT_TRUE(localDeque_.takeBackKept(child(kEnough)));
  TaskNode newer{};
  ASSERT_TRUE(localDeque_.push(newer));
  EXPECT_EQ(deque_->take(localDeque_.stealer), &newer);
}

TEST_F(LocalDequeTest, KeepsAllWhereThereAreNoThieves) {
  localDeque_.setNumOthers(0);
  fork(3);
  EXPECT_EQ(numExposed(), 0u);
  for (size_t i = 3; i-- > 0;) {
    EXPECT_TRUE(localDeque_.takeBackKept(child(i)));
  }
}

TEST_F(LocalDequeTest, ExposesOneForEachThief) {
  localDeque_.setNumOthers(63);
  fork(64);
  EXPECT_EQ(numExposed(), 63u);
}

}  // namespace
}  // namespace weft::inline v0_1::detail
