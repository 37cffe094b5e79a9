// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/dag.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include <weft/event.h>
#include <weft/memory.h>

#include "count_mallocs.h"
#include "with_scheduler.h"

namespace weft {
namespace {

class DAGMemoryTest : public tests::WithScheduler {};
INSTANTIATE_TEST_SUITE_P(Workers, DAGMemoryTest, ::testing::Values(0, 1));

TEST_P(DAGMemoryTest, ARunTakesNoMemoryInTheSteadyState) {
  TrackedAllocator tracked(Allocator::Default);
  {
    DAG<int&>::Builder builder(&tracked);
    auto last = builder.node([](int& sum) { ++sum; });
    for (int i = 0; i < 200; ++i) {
      builder.addDependency(builder.root().then([](int&) {}), last);
    }
    auto dag = builder.build();
    int sum = 0;
    const Event done;
    // In a task, so that no queue of the scheduler has to grow for it.
    schedule([&, done] {
      for (int i = 0; i < 50; ++i) {
        dag->run(sum);
      }
      const size_t numBefore = tracked.stats().numAllocations();
      const uint64_t mallocsBefore = tests::numMallocs();
      for (int i = 0; i < 50; ++i) {
        dag->run(sum);
      }
      EXPECT_EQ(tracked.stats().numAllocations(), numBefore);
      EXPECT_EQ(tests::numMallocs(), mallocsBefore);
      done.signal();
    });
    done.wait();
    EXPECT_EQ(sum, 100);
  }
  tests::expectNothingAllocated(tracked);
}

class DAGAllocatorTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(DAGAllocatorTest);

TEST_P(DAGAllocatorTest, AnAllocatorForOneRunGetsItsMemoryBack) {
  TrackedAllocator forDag(Allocator::Default), forRun(Allocator::Default);
  bool isForRun = true;
  {
    DAG<>::Builder builder(&forDag);
    auto last = builder.node([&] { EXPECT_EQ(forRun.stats().numAllocations() != 0, isForRun); });
    for (int i = 0; i < 10; ++i) {
      builder.addDependency(builder.root().then([] {}), last);
    }
    auto dag = builder.build();
    for (int round = 0; round < 2; ++round) {
      dag->run(&forRun);
      tests::expectNothingAllocated(forRun);
      isForRun = false;
      dag->run();  // its memory is kept for later runs, but for none with another allocator
      isForRun = true;
    }
  }
  tests::expectNothingAllocated(forDag);
}

// Throws at one of its allocations.
class ThrowingOnce final : public Allocator {
 public:
  Allocation allocate(const Allocation::Request& request) override {
    if (untilThrow != 0 && --untilThrow == 0) {
      throw std::bad_alloc();
    }
    return Allocator::Default->allocate(request);
  }
  void free(const Allocation& allocation) override { Allocator::Default->free(allocation); }

  int untilThrow = 0;  // 0: never
};

TEST_P(DAGAllocatorTest, BuildMayBeTriedAgainOnceTheAllocatorHasThrown) {
  bool hasThrown = true;
  for (int at = 1; hasThrown; ++at) {
    ThrowingOnce allocator;
    std::atomic<int> numRun{0};
    bool isInOrder = true;
    DAG<>::Builder builder(&allocator);
    const auto root = builder.root();
    const auto left = root.then([&] { ++numRun; });
    const auto right = root.then([&] { ++numRun; });
    builder.node([&] { isInOrder = ++numRun == 3; }, {left, right});
    allocator.untilThrow = at;
    Allocator::unique_ptr<DAG<>> dag;
    try {
      dag = builder.build();
      hasThrown = false;
    } catch (const std::bad_alloc&) {
      dag = builder.build();
    }
    allocator.untilThrow = 0;
    for (int i = 0; i < 2; ++i) {
      numRun = 0;
      dag->run();
      EXPECT_EQ(numRun, 3) << at;
      EXPECT_TRUE(isInOrder) << at;
    }
  }
}

// A node that was added without its dependencies would end the program in build().
TEST_P(DAGAllocatorTest, ANodeWhoseAllocationThrowsWasNotAdded) {
  bool hasThrown = true;
  for (int at = 1; hasThrown; ++at) {
    ThrowingOnce allocator;
    hasThrown = false;
    int numAdded = 0;
    std::atomic<int> numRun{0};
    DAG<>::Builder builder(&allocator);
    const auto root = builder.root();
    auto last = root;
    // What does not fit in a node is allocated.
    const auto add = [&, large = std::array<char, 100>()] {
      last = builder.node(
          [&numRun, large] {
            (void)large;
            ++numRun;
          },
          {root, last});
      ++numAdded;
    };
    allocator.untilThrow = at;
    for (int i = 0; i < 40; ++i) {
      try {
        add();
      } catch (const std::bad_alloc&) {
        hasThrown = true;
      }
    }
    allocator.untilThrow = 0;
    EXPECT_EQ(numAdded, hasThrown ? 39 : 40);
    builder.build()->run();
    EXPECT_EQ(numRun, numAdded) << at;
  }
}

TEST_P(DAGAllocatorTest, AChoiceWhoseAllocationThrowsWasNotAdded) {
  bool hasThrown = true;
  for (int at = 1; hasThrown; ++at) {
    ThrowingOnce allocator;
    DAG<>::Builder builder(&allocator);
    std::atomic<int> numRun{0};
    const auto left = builder.root().then([&] { ++numRun; }), right = builder.root().then([&] { ++numRun; });
    hasThrown = false;
    allocator.untilThrow = at;
    try {
      builder.choice([large = std::array<char, 100>()] { return large[0]; }, {left, right},
                     {builder.root(), left.then([] {})});
    } catch (const std::bad_alloc&) {
      hasThrown = true;
    }
    allocator.untilThrow = 0;
    if (hasThrown) {  // the choice would make a cycle
      builder.build()->run();
      EXPECT_EQ(numRun, 2) << at;
    } else {
      EXPECT_NE(builder.dot().find("diamond"), std::string::npos);
    }
  }
}

TEST(DAGNamesMemoryTest, TheNamesLieInTheMemoryOfTheBuilder) {
  TrackedAllocator tracked(Allocator::Default);
  {
    DAG<>::Builder builder(&tracked);
    const auto node = builder.root().then([] {});
    const size_t numBefore = tracked.stats().numAllocations();
    std::string name(100, 'x');
    node.setName(name);
    EXPECT_GT(tracked.stats().numAllocations(), numBefore);
    name.assign(100, 'y');
    EXPECT_NE(builder.build()->dot().find(std::string(100, 'x')), std::string::npos);
  }
  tests::expectNothingAllocated(tracked);
}

TEST(DAGNamesMemoryTest, ANodeKeepsItsNameIfTheAllocatorThrows) {
  ThrowingOnce allocator;
  DAG<>::Builder builder(&allocator);
  const auto node = builder.root().then([] {}).setName("short");
  allocator.untilThrow = 1;
  EXPECT_THROW(node.setName(std::string(100, 'x')), std::bad_alloc);
  EXPECT_NE(builder.build()->dot().find("\"short\""), std::string::npos);
}

}  // namespace
}  // namespace weft
