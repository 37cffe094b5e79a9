// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/object_waiters.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "hand_made.h"

namespace {
namespace object_waiters_test {

using namespace std::chrono_literals;

using weft::detail::inspect::Address;
using weft::detail::inspect::countWaiters;
using weft::detail::inspect::Fiber;
using weft::tests::HandMade;
using weft::tests::ScarceMemory;

struct OneWorker : HandMade {
  explicit OneWorker(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : HandMade(memory) {
    scheduler(0x5000);
    worker(0, 4712);
  }

  // Returns: how many wait for the object of each fiber, and how many of them at the other side.
  std::vector<std::pair<uint32_t, uint32_t>> numbers() const {
    std::vector<std::pair<uint32_t, uint32_t>> all;
    for (const Fiber& fiber : snapshot.fibers) {
      all.emplace_back(fiber.numWaiters, fiber.numOpposite);
    }
    return all;
  }
};

using Numbers = std::vector<std::pair<uint32_t, uint32_t>>;

TEST(ObjectWaitersTest, CountsThoseThatWaitForOneObject) {
  OneWorker made;
  made.blocked(0, 'A', "Event", 0x10, 1s);
  made.blocked(1, 'B', "Event", 0x10, 1s);
  made.blocked(2, 'B', "Event", 0x20, 1s);
  made.blocked(3, 'B', "mutex", 0x10, 1s);  // the first member of another object
  made.blocked(4, 'B', "Event", 0x10, 1s).state = Fiber::State::Ready;
  countWaiters(made.snapshot, 0);
  EXPECT_EQ(made.numbers(), (Numbers{{2, 0}, {2, 0}, {1, 0}, {1, 0}, {0, 0}}));
}

TEST(ObjectWaitersTest, TakesSendersAndReceiversOfAChannelTogether) {
  OneWorker made;
  made.blocked(0, 'A', "Channel::send", 0x10, 1s);
  made.blocked(1, 'A', "Channel::send", 0x10, 1s);
  made.blocked(2, 'B', "Channel::receive", 0x10, 1s);
  made.blocked(3, 'B', "Channel::receive", 0x20, 1s);
  countWaiters(made.snapshot, 0);
  EXPECT_EQ(made.numbers(), (Numbers{{3, 1}, {3, 1}, {3, 2}, {1, 0}}));
}

TEST(ObjectWaitersTest, CountsNoneWhereNoObjectIsShared) {
  OneWorker made;
  for (uint32_t i = 0; i < 2; ++i) {
    made.blocked(i, 'A', "sleep", 0, 1s);
    made.blocked(i, 'A', "io::read", 7, 1s);
    made.blocked(i, 'A', "Fiber::wait", 0x10, 1s);
    made.blocked(i, 'A', "Event", 0x10, 1s).what = weft::detail::inspect::kNone;
  }
  countWaiters(made.snapshot, 0);
  EXPECT_EQ(made.numbers(), Numbers(8));
}

TEST(ObjectWaitersTest, LeavesFibersOfAnotherCopyOfWeftAlone) {
  OneWorker made;
  made.blocked(0, 'A', "Channel::send", 0x10, 1s);
  made.snapshot.names.emplace_back("Channel::receive");
  made.snapshot.names.emplace_back("Channel::send");
  made.blocked(1, 'A', "Channel::receive", 0x20, 1s);
  made.blocked(2, 'A', "", 0x20, 1s).what = 2;  // the second copy's own name
  countWaiters(made.snapshot, 1);
  EXPECT_EQ(made.numbers(), (Numbers{{0, 0}, {2, 1}, {2, 1}}));
}

// Compared with what a map counts.
TEST(ObjectWaitersTest, CountsAmongVeryManyFibers) {
  constexpr uint32_t kCount = 20'000;
  OneWorker made;
  std::map<Address, uint32_t> expected;
  for (uint32_t i = 0; i < kCount; ++i) {
    const Address object = 0x7f0000000000 + (i * 2654435761u >> 7) % 5000 * 64;
    made.blocked(i, 'A', "Event", object, 1s);
    ++expected[object];
  }
  countWaiters(made.snapshot, 0);
  for (const Fiber& fiber : made.snapshot.fibers) {
    EXPECT_EQ(fiber.numWaiters, expected[fiber.object]);
  }
}

TEST(ObjectWaitersTest, CountsNothingWithoutMemory) {
  ScarceMemory memory;
  OneWorker made(&memory);
  made.blocked(0, 'A', "Event", 0x10, 1s);
  memory.numLeft = 0;
  countWaiters(made.snapshot, 0);
  EXPECT_EQ(made.numbers(), Numbers(1));
}

}  // namespace object_waiters_test
}  // namespace
