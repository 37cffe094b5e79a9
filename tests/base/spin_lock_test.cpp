// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/base/spin_lock.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "os/relax.h"
#include "with_scheduler.h"

namespace weft::detail {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = tests::scaled(30'000, 3'000);

template <class F>
void onThreads(F f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back(f);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST(TinyLockTest, ExcludesOthers) {
  SpinLock lock;
  int count = 0;
  onThreads([&] {
    for (int i = 0; i < kRounds; ++i) {
      std::scoped_lock guard(lock);
      ++count;
    }
  });
  EXPECT_EQ(count, kThreads * kRounds);
}

TEST(TinyLockTest, BitOfAWordExcludesOthersAndKeepsTheOtherBits) {
  constexpr uint32_t kBit = 2;
  std::atomic<uint32_t> word{0};
  int count = 0;
  onThreads([&] {
    for (int i = 0; i < kRounds; ++i) {
      EXPECT_EQ(lockBit<uint32_t>(word, kBit) & kBit, 0u);
      ++count;
      word.fetch_and(~kBit, std::memory_order_release);
      word.fetch_add(4, std::memory_order_relaxed);  // the others' bits change while it is held, too
    }
  });
  EXPECT_EQ(count, kThreads * kRounds);
  EXPECT_EQ(word.load(), 4u * kThreads * kRounds);
}

TEST(TinyLockTest, LockBitReturnsTheOtherBits) {
  std::atomic<uint64_t> word{0xf0f0'0000'0000'0001};
  EXPECT_EQ(lockBit<uint64_t>(word, uint64_t{1} << 40), 0xf0f0'0000'0000'0001);
  EXPECT_EQ(word.load(), 0xf0f0'0100'0000'0001);
}

TEST(TinyLockTest, RelaxCountsItsRounds) {
  uint32_t round = 0;
  for (uint32_t i = 0; i < 200; ++i) {
    EXPECT_EQ(round, i);
    relax(round);
  }
}

// What a waiting thread does, a letter for each step.
struct Steps {
  void pause() { taken += 'p'; }
  void yield() { taken += 'y'; }
  void sleepBriefly() { taken += 's'; }
  std::string taken;
};

TEST(RelaxTest, SpinsThenYieldsThenSleeps) {
  Steps steps;
  uint32_t round = 0;
  for (int i = 0; i < 1'000; ++i) {
    relaxBy(round, steps);
  }
  // To the end: a real-time thread that only yields keeps the processor from the thread that it waits for.
  const size_t firstYield = steps.taken.find('y');
  const size_t firstSleep = steps.taken.find('s');
  ASSERT_NE(firstYield, std::string::npos);
  ASSERT_NE(firstSleep, std::string::npos);
  EXPECT_EQ(steps.taken, std::string(firstYield, 'p') + std::string(firstSleep - firstYield, 'y') +
                             std::string(1'000 - firstSleep, 's'));
}

}  // namespace
}  // namespace weft::detail
