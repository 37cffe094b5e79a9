// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/memory.h>
#include <weft/thread.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "fake_machine.h"
#include "os/affinity_policy.h"
#include "os/topology.h"

namespace {

using weft::Allocator;
using weft::TrackedAllocator;
using weft::tests::FakeMachine;
using weft::tests::indicesOf;
using Affinity = weft::Thread::Affinity;
using Policy = weft::Thread::Affinity::Policy;
using Numbers = std::vector<int>;

// Every test ends with nothing allocated.
class AffinityPolicyTest : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(allocator.stats().numAllocations(), 0U); }

  std::shared_ptr<Policy> spreadOver(const Affinity& affinity) {
    return weft::detail::spreadOver(weft::detail::Topology(machine.root(), affinity), &allocator);
  }
  Numbers numbersOf(const std::shared_ptr<Policy>& policy, uint32_t thread) {
    return indicesOf(policy->get(thread, &allocator));
  }
  // The lowest processors of the threads from 0 on.
  Numbers lowestOf(const std::shared_ptr<Policy>& policy, uint32_t numThreads) {
    Numbers result;
    for (uint32_t i = 0; i < numThreads; ++i) {
      result.push_back(numbersOf(policy, i).at(0));
    }
    return result;
  }

  FakeMachine machine;
  TrackedAllocator allocator{Allocator::Default};
};

TEST_F(AffinityPolicyTest, SpreadGivesEachThreadTheProcessorsOfOneCache) {
  machine.beComplexes();
  const auto policy = spreadOver(FakeMachine::processors(0, 64));
  EXPECT_EQ(numbersOf(policy, 0), (Numbers{0, 1, 2, 3, 32, 33, 34, 35}));
  EXPECT_EQ(numbersOf(policy, 7), (Numbers{28, 29, 30, 31, 60, 61, 62, 63}));
  EXPECT_EQ(lowestOf(policy, 9), (Numbers{0, 4, 8, 12, 16, 20, 24, 28, 0}));
}

TEST_F(AffinityPolicyTest, SpreadTakesTheNodesInTurn) {
  machine.setOnlineNodes("0-1");
  machine.addNode(0, "0-3", "10 20");
  machine.addNode(1, "4-7", "20 10");
  for (int i = 0; i < 8; ++i) {
    const int first = i & ~1;
    machine.addCpu({i, i / 4, i, std::to_string(i), std::to_string(first) + "-" + std::to_string(first + 1)});
  }
  EXPECT_EQ(lowestOf(spreadOver(FakeMachine::processors(0, 8)), 5), (Numbers{0, 4, 2, 6, 0}));
}

TEST_F(AffinityPolicyTest, SpreadGivesACacheNoMoreThreadsThanProcessorsBeforeTheOthersAreFull) {
  machine.beComplexes();
  // Two processors of the first complex, and four of the second one.
  const auto policy = spreadOver(FakeMachine::processors(2, 6));
  EXPECT_EQ(lowestOf(policy, 6), (Numbers{2, 4, 2, 4, 4, 4}));
  EXPECT_EQ(lowestOf(policy, 12), (Numbers{2, 4, 2, 4, 4, 4, 2, 4, 2, 4, 4, 4}));
}

TEST_F(AffinityPolicyTest, SpreadOverAFlatMachineIsAnyOf) {
  const auto policy = spreadOver(FakeMachine::processors(0, 4));
  EXPECT_EQ(numbersOf(policy, 0), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(numbersOf(policy, 4'000'000'000), (Numbers{0, 1, 2, 3}));
}

TEST_F(AffinityPolicyTest, SpreadOverNothingIsNothing) {
  EXPECT_EQ(numbersOf(spreadOver(Affinity()), 3), Numbers{});
  EXPECT_EQ(Policy::spread(Affinity(), &allocator)->get(0, &allocator).count(), 0U);
}

TEST_F(AffinityPolicyTest, SpreadOverThisMachineUsesEachProcessor) {
  const Affinity all = Affinity::all();
  const auto policy = Policy::spread(all, &allocator);
  Affinity used;
  for (uint32_t i = 0; i < all.count(); ++i) {
    used.add(policy->get(i, &allocator));
  }
  EXPECT_TRUE(used == all);
}

TEST_F(AffinityPolicyTest, GroupsAskTheirOwnPolicies) {
  const auto policy = Policy::groups({{Policy::anyOf(FakeMachine::processors(0, 4), &allocator), 2},
                                      {Policy::anyOf(FakeMachine::processors(6, 1), &allocator), 0},
                                      {Policy::oneOf(FakeMachine::processors(8, 2), &allocator), 3}},
                                     &allocator);
  EXPECT_EQ(numbersOf(policy, 0), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(numbersOf(policy, 1), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(lowestOf(policy, 5), (Numbers{0, 0, 8, 9, 8}));
  EXPECT_EQ(lowestOf(policy, 8), (Numbers{0, 0, 8, 9, 8, 0, 0, 8})) << "further threads begin anew";
  EXPECT_EQ(numbersOf(policy, 4'294'967'295), (Numbers{0, 1, 2, 3}));
}

TEST_F(AffinityPolicyTest, GroupsOfOneAreThatOne) {
  const auto policy = Policy::groups({{Policy::oneOf(FakeMachine::processors(3, 2)), 2}}, &allocator);
  EXPECT_EQ(lowestOf(policy, 3), (Numbers{3, 4, 3}));
}

TEST_F(AffinityPolicyTest, GroupsOfNoThreadsAreNothing) {
  EXPECT_EQ(numbersOf(Policy::groups({}, &allocator), 1), Numbers{});
  EXPECT_EQ(numbersOf(Policy::groups({{Policy::anyOf(FakeMachine::processors(0, 1)), 0}}, &allocator), 0),
            Numbers{});
}

TEST_F(AffinityPolicyTest, AnExceptionOfAGroupsPolicyComesThrough) {
  struct Throws : Policy {
    Affinity get(uint32_t, Allocator*) const override { throw std::runtime_error("no idea"); }
  };
  const auto policy = Policy::groups({{std::make_shared<Throws>(), 1}}, &allocator);
  EXPECT_THROW(static_cast<void>(policy->get(0, &allocator)), std::runtime_error);
}

TEST(AffinityPolicyDeathTest, MisuseIsReported) {
  EXPECT_DEATH(static_cast<void>(Policy::groups({{nullptr, 1}})), "groups\\(\\): a group has no policy");
  EXPECT_DEATH(static_cast<void>(Policy::groups({{Policy::anyOf(Affinity()), -1}})),
               "groups\\(\\): a group of -1 threads");
  EXPECT_DEATH(static_cast<void>(Policy::groups({}, nullptr)), "groups\\(\\): the allocator is null");
  EXPECT_DEATH(static_cast<void>(Policy::spread(Affinity(), nullptr)), "spread\\(\\): the allocator is null");
  EXPECT_DEATH(static_cast<void>(Affinity::performanceCores(nullptr)),
               "performanceCores\\(\\): the allocator is null");
}

TEST(PerformanceCoresTest, AreAmongAll) {
  const Affinity all = Affinity::all();
  const Affinity cores = Affinity::performanceCores();
  EXPECT_GE(cores.count(), 1U);
  EXPECT_EQ(Affinity(cores, Allocator::Default).add(all).count(), all.count());
}

}  // namespace
