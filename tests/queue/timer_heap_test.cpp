// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/queue/timer_heap.h>

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace weft::inline v0_1::detail {
namespace {

struct Timer {
  TimePoint deadline;
  uint32_t timerIndex = kNotInHeap;
};

TimePoint at(int64_t ns) { return TimePoint(std::chrono::nanoseconds(ns)); }

TEST(TimerHeapTest, PopExpiredGivesTheEarliestUpToNow) {
  TimerHeap<Timer> heap;
  EXPECT_EQ(heap.earliest(), nullptr);
  EXPECT_EQ(heap.popExpired(TimePoint::max()), nullptr);
  Timer late{at(30)}, early{at(10)}, middle{at(20)};
  for (Timer* timer : {&late, &early, &middle}) {
    heap.add(timer);
  }
  EXPECT_EQ(heap.size(), 3u);
  EXPECT_EQ(heap.earliest(), &early);
  EXPECT_EQ(heap.popExpired(at(9)), nullptr);
  EXPECT_EQ(heap.popExpired(at(20)), &early);
  EXPECT_EQ(heap.popExpired(at(20)), &middle);
  EXPECT_EQ(heap.popExpired(at(20)), nullptr);
  EXPECT_EQ(early.timerIndex, kNotInHeap);
  heap.remove(&late);
  heap.remove(&late);
  EXPECT_TRUE(heap.empty());
}

TEST(TimerHeapTest, AgreesWithASortedListUnderRandomUse) {
  std::mt19937 random(1);
  TimerHeap<Timer> heap;
  std::vector<Timer> timers(500);
  std::vector<Timer*> inside;
  const auto earlier = [](const Timer* a, const Timer* b) { return a->deadline < b->deadline; };
  for (int step = 0; step < 50'000; step++) {
    Timer& timer = timers[random() % timers.size()];
    if (timer.timerIndex == kNotInHeap) {
      timer.deadline = at(static_cast<int64_t>(random() % 1'000));
      heap.add(&timer);
      inside.push_back(&timer);
    } else if (random() % 4 != 0) {
      heap.remove(&timer);
      std::erase(inside, &timer);
    } else {
      const TimePoint least = (*std::min_element(inside.begin(), inside.end(), earlier))->deadline;
      Timer* popped = heap.popExpired(least);
      ASSERT_NE(popped, nullptr);
      ASSERT_EQ(popped->deadline, least);
      std::erase(inside, popped);
    }
    ASSERT_EQ(heap.size(), inside.size());
    if (!inside.empty()) {
      ASSERT_EQ(heap.earliest()->deadline,
                (*std::min_element(inside.begin(), inside.end(), earlier))->deadline);
    }
  }
}

TEST(TimerHeapTest, SteadyStateDoesNotAllocateAndNothingStays) {
  TrackedAllocator allocator(Allocator::Default);
  {
    TimerHeap<Timer> heap(&allocator);
    std::vector<Timer> timers(1'000);
    for (Timer& timer : timers) {
      heap.add(&timer);
    }
    for (Timer& timer : timers) {
      heap.remove(&timer);
    }
    const size_t bytes = allocator.stats().bytesAllocated();
    for (Timer& timer : timers) {
      heap.add(&timer);
    }
    EXPECT_EQ(allocator.stats().bytesAllocated(), bytes);
    EXPECT_EQ(allocator.stats().numAllocations(), 1u);
  }
  EXPECT_EQ(allocator.stats().bytesAllocated(), 0u);
}

}  // namespace
}  // namespace weft::inline v0_1::detail
