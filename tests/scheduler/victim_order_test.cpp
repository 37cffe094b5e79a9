// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/policy/victim_order.h"

#include <weft/memory.h>
#include <weft/thread.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "fake_machine.h"
#include "os/topology.h"

namespace {

using weft::Allocator;
using weft::Thread;
using weft::TrackedAllocator;
using weft::detail::Topology;
using weft::detail::VictimOrder;
using weft::tests::FakeMachine;
using Numbers = std::vector<int>;
using Rings = std::vector<Numbers>;

struct Server : FakeMachine {
  Server() { beServer(); }
};
struct Complexes : FakeMachine {
  Complexes() { beComplexes(); }
};

// Threads on a machine of files, each by the processors that it may use. Every test ends with nothing
// allocated.
class VictimOrderTest : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(allocator.stats().numAllocations(), 0U); }

  // At first the machine is flat. The others are made once for all tests.
  void useServer() {
    static const Server server;
    machine_ = &server;
  }
  void useComplexes() {
    static const Complexes complexes;
    machine_ = &complexes;
  }

  void bind(int first, int count = 1) { affinities.push_back(FakeMachine::processors(first, count)); }
  void bindEach(const Numbers& processors) {
    for (const int processor : processors) {
      bind(processor);
    }
  }

  std::vector<VictimOrder> orders() { return weft::detail::victimOrders(affinities, root(), &allocator); }
  Rings ringsOf(size_t worker) {
    const std::vector<VictimOrder> all = orders();
    return worker < all.size() ? ringsOf(all[worker]) : Rings{{-1}};
  }
  static Rings ringsOf(const VictimOrder& order) {
    Rings rings;
    size_t begin = 0;
    for (const size_t end : order.ringEnds) {
      const auto at = order.victims.begin();
      rings.emplace_back(at + static_cast<ptrdiff_t>(begin), at + static_cast<ptrdiff_t>(end));
      begin = end;
    }
    return rings;
  }
  // The processors of the workers' homes.
  Numbers homes() {
    Thread::Affinity used;
    for (const Thread::Affinity& affinity : affinities) {
      used.add(affinity);
    }
    Numbers result;
    for (const auto& home : weft::detail::homesOf(affinities, Topology(root(), used))) {
      result.push_back(home.index);
    }
    return result;
  }

  const std::string& root() const { return machine_->root(); }

  std::vector<Thread::Affinity> affinities;
  TrackedAllocator allocator{Allocator::Default};

 private:
  FakeMachine flat_;
  const FakeMachine* machine_ = &flat_;
};

TEST_F(VictimOrderTest, GoesFromTheCoreToTheNodeAndToTheOtherSocket) {
  useServer();
  bindEach({24, 0, 4, 8, 16, 1, 12, 0});
  EXPECT_EQ(ringsOf(1), (Rings{{7}, {4}, {5}, {2}, {0, 3, 6}}));
  EXPECT_EQ(ringsOf(0), (Rings{{3}, {6}, {1, 2, 4, 5, 7}}));
}

TEST_F(VictimOrderTest, GoesFromTheCoreToTheComplexAndToTheOtherComplexes) {
  useComplexes();
  bindEach({0, 1, 32, 4, 36, 2});
  EXPECT_EQ(ringsOf(0), (Rings{{2}, {1, 5}, {3, 4}}));
  EXPECT_EQ(ringsOf(3), (Rings{{4}, {0, 1, 2, 5}}));
}

TEST_F(VictimOrderTest, HasEachOtherWorkerOnce) {
  useServer();
  for (int i = 0; i < 64; ++i) {
    bind(i * 7 % 32);
  }
  const std::vector<VictimOrder> all = orders();
  ASSERT_EQ(all.size(), 64U);
  for (size_t worker = 0; worker < all.size(); ++worker) {
    Numbers victims(all[worker].victims.begin(), all[worker].victims.end());
    std::sort(victims.begin(), victims.end());
    Numbers others;
    for (int other = 0; other < 64; ++other) {
      if (other != static_cast<int>(worker)) {
        others.push_back(other);
      }
    }
    EXPECT_EQ(victims, others) << worker;
    ASSERT_FALSE(all[worker].ringEnds.empty());
    EXPECT_EQ(all[worker].ringEnds.back(), 63U);
  }
}

TEST_F(VictimOrderTest, CallsWorkersOfOneCacheNeighbours) {
  useComplexes();
  for (const int first : {0, 4, 0, 4}) {
    bind(first, 4);
  }
  EXPECT_EQ(homes(), (Numbers{0, 4, 0, 4}));
  EXPECT_EQ(ringsOf(0), (Rings{{2}, {1, 3}}));
  EXPECT_EQ(ringsOf(3), (Rings{{1}, {0, 2}}));
}

TEST_F(VictimOrderTest, HasNoRingsForAWorkerThatIsEquallyFarFromAllOthers) {
  useComplexes();
  bindEach({0, 1, 4});
  EXPECT_EQ(ringsOf(0), (Rings{{1}, {2}}));
  EXPECT_EQ(ringsOf(2), Rings{});
}

TEST_F(VictimOrderTest, HasNoRingsWhereTheMachineIsFlat) {
  bindEach({0, 1, 2, 3});
  ASSERT_EQ(homes().size(), 4U);
  for (const VictimOrder& order : orders()) {
    EXPECT_TRUE(order.victims.empty());
    EXPECT_TRUE(order.ringEnds.empty());
  }
}

TEST_F(VictimOrderTest, IsThereForNoWorkerIfOneIsUnbound) {
  useServer();
  bindEach({0, 1, 8});
  affinities.emplace_back();
  EXPECT_EQ(homes(), Numbers{});
  EXPECT_TRUE(orders().empty());
}

TEST_F(VictimOrderTest, IsThereForNoWorkerIfOneMayUseTwoCaches) {
  useServer();
  bindEach({0, 1, 8});
  EXPECT_EQ(orders().size(), 3U);
  bind(3, 2);
  EXPECT_EQ(homes(), Numbers{});
  EXPECT_TRUE(orders().empty());
}

TEST_F(VictimOrderTest, IsThereForNoWorkerOfTwo) {
  useServer();
  bindEach({0, 8});
  EXPECT_TRUE(orders().empty());
}

TEST_F(VictimOrderTest, IsNotLookedForWhereAllHaveOneAffinity) {
  useServer();
  for (int i = 0; i < 4; ++i) {
    bind(0, 4);
  }
  EXPECT_EQ(homes(), (Numbers{0, 0, 0, 0}));
  EXPECT_TRUE(orders().empty());
}

TEST_F(VictimOrderTest, IsThereForNoWorkerIfTheTopologyLacksAProcessor) {
  useServer();
  bindEach({0, 1, 8});
  EXPECT_TRUE(weft::detail::homesOf(affinities, Topology(root(), FakeMachine::processors(0, 2))).empty());
}

}  // namespace
