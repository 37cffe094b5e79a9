// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/lock_cycles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "hand_made.h"

namespace {

using namespace std::chrono_literals;

using weft::detail::inspect::Fiber;
using weft::detail::inspect::findCycles;
using weft::detail::inspect::kNone;
using weft::detail::inspect::LockCycles;
using weft::tests::HandMade;
using weft::tests::ScarceMemory;

using Cycles = std::vector<std::vector<uint32_t>>;

HandMade fibersWithHolders(const std::vector<uint32_t>& holders) {
  HandMade made;
  made.scheduler(0x5000);
  made.worker(0, 4712);
  for (uint32_t i = 0; i < holders.size(); ++i) {
    made.blocked(i, 'A', "mutex", 0x100 + i, 1s).holder = holders[i];
  }
  return made;
}

Cycles cyclesOf(const HandMade& made) {
  const LockCycles found = findCycles(made.snapshot, std::pmr::get_default_resource());
  Cycles cycles;
  for (size_t i = 0; i < found.size(); ++i) {
    cycles.emplace_back(found[i].begin(), found[i].end());
  }
  std::ranges::sort(cycles, {}, [](const std::vector<uint32_t>& cycle) { return cycle.front(); });
  return cycles;
}

Cycles cyclesOf(const std::vector<uint32_t>& holders) { return cyclesOf(fibersWithHolders(holders)); }

TEST(LockCyclesTest, FindsNoneInChains) {
  EXPECT_EQ(cyclesOf(std::vector<uint32_t>{}), Cycles{});
  EXPECT_EQ(cyclesOf({kNone, kNone}), Cycles{});
  EXPECT_EQ(cyclesOf({1, 2, 3, kNone}), Cycles{});
  EXPECT_EQ(cyclesOf({kNone, 0, 1, 2, 1}), Cycles{});
}

TEST(LockCyclesTest, FindsAFiberThatWaitsForItsOwnLock) { EXPECT_EQ(cyclesOf({kNone, 1}), (Cycles{{1}})); }

TEST(LockCyclesTest, BeginsACycleWithItsFirstFiber) {
  EXPECT_EQ(cyclesOf({4, 3, 1, 2, 2}), (Cycles{{1, 3, 2}}));  // by way of 0 and 4
}

TEST(LockCyclesTest, FindsSeveral) {
  EXPECT_EQ(cyclesOf({1, 0, 3, 4, 2, 5, 0, 6, 5}), (Cycles{{0, 1}, {2, 3, 4}, {5}}));
}

TEST(LockCyclesTest, LooksAtFibersThatWaitOnly) {
  HandMade made = fibersWithHolders({1, 0});
  made.snapshot.fibers[1].state = Fiber::State::Running;
  EXPECT_EQ(cyclesOf(made), Cycles{});
  made.snapshot.fibers[1].state = Fiber::State::Ready;
  EXPECT_EQ(cyclesOf(made), (Cycles{{0, 1}}));
}

TEST(LockCyclesTest, IgnoresHoldersThatAreNoFibers) { EXPECT_EQ(cyclesOf({2, 7}), Cycles{}); }

// A search that begins anew at each fiber of a chain would not end in time.
TEST(LockCyclesTest, FindsACycleAtTheEndOfALongChain) {
  constexpr uint32_t kCount = 400'000;
  std::vector<uint32_t> holders(kCount);
  for (uint32_t i = 0; i < kCount; ++i) {
    holders[i] = i == 0 ? 1 : i - 1;
  }
  EXPECT_EQ(cyclesOf(holders), (Cycles{{0, 1}}));
  std::ranges::generate(holders, [next = uint32_t{1}]() mutable { return next++; });
  holders.back() = kCount - 2;
  EXPECT_EQ(cyclesOf(holders), (Cycles{{kCount - 2, kCount - 1}}));
}

TEST(LockCyclesTest, SaysThatThereIsNoMemory) {
  const HandMade made = fibersWithHolders({0});
  ScarceMemory memory;
  int numRefused = 0;
  for (int numLeft = 0; numLeft < 10; ++numLeft) {
    memory.numLeft = numLeft;
    numRefused += findCycles(made.snapshot, &memory).isRefused();
  }
  EXPECT_EQ(numRefused, 3);
}

TEST(LockCyclesTest, NeedsNoMemoryIfNobodyHoldsALock) {
  const HandMade made = fibersWithHolders({kNone, kNone});
  ScarceMemory memory;
  memory.numLeft = 0;
  EXPECT_FALSE(findCycles(made.snapshot, &memory).isRefused());
}

}  // namespace
