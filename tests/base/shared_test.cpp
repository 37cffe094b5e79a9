// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/base/shared.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "with_scheduler.h"

namespace weft::inline v0_1::detail {
namespace {

using tests::scaled;

struct State : SharedState {
  State(Allocator* from, int* liveCount, int initial)
      : SharedState(from), numLive(liveCount), value(initial) {
    ++*numLive;
  }
  ~State() { --*numLive; }
  int* numLive;
  int value;
};

struct LargeState : State {
  using State::State;
  char bytes[200] = {};
};

class SharedTest : public tests::WithAllocator {
 protected:
  void TearDown() override {
    EXPECT_EQ(numLive_, 0);
    WithAllocator::TearDown();
  }
  int numLive_ = 0;
};

TEST_F(SharedTest, KeepsItsStateUntilTheLastHandleGoes) {
  for (Allocator* from : {Allocator::Default, static_cast<Allocator*>(allocator())}) {
    Shared<State> first(from, &numLive_, 7);
    EXPECT_EQ(first->value, 7);
    EXPECT_EQ(numLive_, 1);
    {
      Shared<State> second = first;
      EXPECT_EQ(second.get(), first.get());
      first = Shared<State>(from, &numLive_, 8);
      EXPECT_EQ(numLive_, 2);
      EXPECT_EQ(second->value, 7);
    }
    EXPECT_EQ(numLive_, 1);
    EXPECT_EQ((*first).value, 8);
  }
}

TEST_F(SharedTest, UsesTheAllocatorThatItWasGiven) {
  const Shared<State> small(allocator(), &numLive_, 1);
  EXPECT_EQ(allocator()->stats().numAllocations(), 1u);
  const Shared<LargeState> large(allocator(), &numLive_, 1);
  EXPECT_EQ(allocator()->stats().numAllocations(), 2u);
  const Shared<LargeState> largeOfDefault(Allocator::Default, &numLive_, 1);
  EXPECT_EQ(allocator()->stats().numAllocations(), 2u);
}

// A program that sets the default allocator may have objects with static storage already.
TEST_F(SharedTest, GivesAStateBackToWhereItCameFromAlsoWhereTheDefaultAllocatorHasChanged) {
  struct WithDefault {
    explicit WithDefault(Allocator* other) : before(std::exchange(Allocator::Default, other)) {}
    ~WithDefault() { Allocator::Default = before; }
    Allocator* const before;
  };
  Shared<State> ofDefault(Allocator::Default, &numLive_, 1);
  Shared<State> ofAnother(allocator(), &numLive_, 2);
  {
    const WithDefault set(allocator());
    ofDefault = Shared<State>(allocator(), &numLive_, 3);
    EXPECT_EQ(allocator()->stats().numAllocations(), 1u);
    ofAnother = ofDefault;
    EXPECT_EQ(allocator()->stats().numAllocations(), 0u);
    EXPECT_EQ(numLive_, 1);
  }
  // Made while `allocator()` was the default one.
  EXPECT_EQ(ofDefault->value, 3);
}

TEST_F(SharedTest, MoveLeavesAHandleThatMayBeAssignedTo) {
  Shared<State> first(allocator(), &numLive_, 7);
  Shared<State> second = std::move(first);
  EXPECT_EQ(first.get(), nullptr);
  EXPECT_EQ(second->value, 7);
  first = second;
  EXPECT_EQ(first.get(), second.get());
  first = std::move(second);
  EXPECT_EQ(first->value, 7);
  Shared<State>& self = first;
  first = self;
  EXPECT_EQ(first->value, 7);
}

TEST_F(SharedTest, TryRetainFailsOnceTheLastHandleHasGone) {
  State state(allocator(), &numLive_, 1);
  EXPECT_TRUE(state.tryRetain());
  EXPECT_FALSE(state.releaseReference(true));
  EXPECT_TRUE(state.releaseReference(true));
  EXPECT_FALSE(state.tryRetain());
}

TEST_F(SharedTest, AdoptTakesOverAReferenceThatWasCounted) {
  const Shared<State> first(allocator(), &numLive_, 7);
  first->retain();
  const Shared<State> second = Shared<State>::adopt(first.get());
  EXPECT_EQ(second.get(), first.get());
}

// What each thread did with the state comes before its destruction, whichever drops the last handle.
TEST_F(SharedTest, IsDestroyedAfterAllThatItsHandlesDid) {
  struct Slots : SharedState {
    Slots(Allocator* from, std::atomic<int>* total) : SharedState(from), sum(total) {}
    ~Slots() { *sum += values[0] + values[1] + values[2]; }
    std::atomic<int>* sum;
    int values[3] = {};
  };
  const int rounds = scaled(2'000, 200);
  std::atomic<int> sum{0};
  for (int i = 0; i < rounds; ++i) {
    std::vector<std::thread> threads;
    {
      const Shared<Slots> slots(allocator(), &sum);
      for (int t = 0; t < 3; ++t) {
        threads.emplace_back([slots, t] { slots->values[t] = 1; });
      }
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  EXPECT_EQ(sum, 3 * rounds);
}

}  // namespace
}  // namespace weft::inline v0_1::detail
