// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/fiber_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <utility>
#include <vector>

#include "hand_made.h"

namespace {
namespace fiber_groups_test {

using namespace std::chrono_literals;

using weft::detail::inspect::Address;
using weft::detail::inspect::Fiber;
using weft::detail::inspect::FiberGroup;
using weft::detail::inspect::FiberGroups;
using weft::tests::FakeNames;
using weft::tests::HandMade;
using weft::tests::kAcquire;
using weft::tests::kBlock;
using weft::tests::kMain;
using weft::tests::kRunTask;
using weft::tests::kServe;
using weft::tests::kSuspend;
using weft::tests::ScarceMemory;

struct OneWorker : HandMade {
  OneWorker() {
    scheduler(0x5000);
    worker(0, 4712);
  }
};

class CountedMemory final : public std::pmr::memory_resource {
 public:
  size_t most = 0;  // bytes at a time
  size_t used = 0;

 private:
  void* do_allocate(size_t size, size_t alignment) override {
    used += size;
    most = std::max(most, used);
    return std::pmr::new_delete_resource()->allocate(size, alignment);
  }
  void do_deallocate(void* memory, size_t size, size_t alignment) override {
    used -= size;
    std::pmr::new_delete_resource()->deallocate(memory, size, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
};

FakeNames names;

TEST(FiberGroupsTest, HasNoneIfNobodyWaits) {
  OneWorker made;
  made.fiber(1, 'A', Fiber::State::Running);
  const FiberGroups groups(made.snapshot, names, std::pmr::get_default_resource());
  EXPECT_FALSE(groups.isRefused());
  EXPECT_TRUE(groups.all().empty());
}

TEST(FiberGroupsTest, PutsTheLargestFirstThenTheOldest) {
  OneWorker made;
  made.blocked(0, 'A', "Event", 0x1, 1s);
  made.blocked(1, 'B', "Event", 0x1, 3s);
  made.fiber(2, 'C', Fiber::State::Ready);
  made.blocked(3, 'C', "Event", 0x1, 1s);
  made.blocked(4, 'C', "Event", 0x1, 1s);
  made.blocked(5, 'D', "Event", 0x1, 1s);
  const FiberGroups groups(made.snapshot, names, std::pmr::get_default_resource());
  std::vector<uint32_t> firsts;
  for (const FiberGroup& group : groups.all()) {
    firsts.push_back(group.first);
  }
  EXPECT_EQ(firsts, (std::vector<uint32_t>{3, 1, 0, 5}));
}

TEST(FiberGroupsTest, PutsTheCodeOfThreadsLast) {
  OneWorker made;
  for (int i = 0; i < 2; ++i) {
    made.worker(-1, 4711 + i);
    made.block(made.main(), "WaitGroup", 0x1, 9s);
  }
  made.blocked(1, 'A', "Event", 0x2, 1s);
  const FiberGroups groups(made.snapshot, names, std::pmr::get_default_resource());
  ASSERT_EQ(groups.all().size(), 2u);
  EXPECT_EQ(groups.all()[0].first, 2u);
  EXPECT_EQ(groups.all()[1].numMembers, 2u);
}

// Compared with groups that a map makes, by how many calls there are and the address of each.
TEST(FiberGroupsTest, FindsAllMembersAmongVeryManyFibers) {
  constexpr uint32_t kCount = 20'000;
  OneWorker made;
  std::map<std::pair<size_t, Address>, std::vector<uint32_t>> expected;
  for (uint32_t i = 0; i < kCount; ++i) {
    const uint32_t random = i * 2654435761u >> 7;
    const std::vector<Address> frames(1 + random % 5, kServe + random % 1000);
    made.blocked(i, 'A', "Event", 0x1000 + random % 64, std::chrono::milliseconds(1 + i), frames);
    expected[{frames.size(), frames[0]}].push_back(i);
  }
  CountedMemory memory;
  {
    const FiberGroups groups(made.snapshot, names, &memory);
    ASSERT_EQ(groups.all().size(), expected.size());
    EXPECT_LE(memory.most, kCount * 28 + expected.size() * 40);
    for (const FiberGroup& group : groups.all()) {
      std::vector<uint32_t> members(groups.members(group).begin(), groups.members(group).end());
      std::map<Address, int> objects;
      for (const uint32_t i : members) {
        ++objects[made.snapshot.fibers[i].object];
      }
      std::ranges::sort(members);
      const auto frames = made.snapshot.framesOf(made.snapshot.fibers[group.first]);
      EXPECT_EQ(members, (expected[{frames.size(), frames[0]}]));
      EXPECT_EQ(group.first, members.front());
      EXPECT_EQ(group.numObjects, objects.size());
      EXPECT_EQ(group.shortest, made.snapshot.fibers[members.front()].blockedFor);
      EXPECT_EQ(group.longest, made.snapshot.fibers[members.back()].blockedFor);
    }
  }
  EXPECT_EQ(memory.used, 0u);
}

// So many that some meet in the hash table.
TEST(FiberGroupsTest, TellsTasksAndKindsOfObjectsApart) {
  constexpr uint32_t kCount = 5000;
  OneWorker tasks;
  OneWorker kinds;
  for (uint32_t i = 0; i < kCount; ++i) {
    tasks.blocked(i, 'A', "Event", 0x1, 1s).task = 0x1000 + i;
    kinds.blocked(i, 'A', "Event", 0x1, 1s).what = i;
  }
  EXPECT_EQ(FiberGroups(tasks.snapshot, names, std::pmr::get_default_resource()).all().size(), kCount);
  EXPECT_EQ(FiberGroups(kinds.snapshot, names, std::pmr::get_default_resource()).all().size(), kCount);
}

// Where a worker sleeps on the stack of the last of them.
TEST(FiberGroupsTest, LeavesOutTheInnermostFramesThatAreWeftsOwn) {
  OneWorker made;
  made.blocked(0, 'A', "Event", 0x1, 1s, {kBlock, kServe, kRunTask});
  made.blocked(1, 'A', "Event", 0x1, 1s, {kSuspend, kAcquire, kServe, kRunTask});
  made.blocked(2, 'A', "Event", 0x1, 1s, {kBlock, kMain, kRunTask});
  const FiberGroups groups(made.snapshot, names, std::pmr::get_default_resource());
  ASSERT_EQ(groups.all().size(), 2u);
  EXPECT_EQ(groups.all()[0].numMembers, 2u);
}

TEST(FiberGroupsTest, SaysThatThereIsNoMemory) {
  OneWorker made;
  made.blocked(0, 'A', "Event", 0x1, 1s);
  int numRefused = 0;
  for (int numLeft = 0; numLeft < 10; ++numLeft) {
    ScarceMemory memory;
    memory.numLeft = numLeft;
    const FiberGroups groups(made.snapshot, names, &memory);
    numRefused += groups.isRefused();
    EXPECT_EQ(groups.isRefused(), groups.all().empty());
  }
  EXPECT_EQ(numRefused, 5);
}

}  // namespace fiber_groups_test
}  // namespace
