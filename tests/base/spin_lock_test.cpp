// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/base/spin_lock.h>

#include <gtest/gtest.h>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <weft/event.h>

#include "os/relax.h"
#include "waiting.h"
#include "with_scheduler.h"

namespace weft::inline v0_1::detail {
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
  static uint32_t patience() { return kPatience; }
  void warn() { taken += 'w'; }
  static constexpr uint32_t kPatience = 2'000;
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

TEST(RelaxTest, WarnsOnceWhereItSleepsForLong) {
  Steps steps;
  uint32_t round = 0;
  for (int i = 0; i < 10'000; ++i) {
    relaxBy(round, steps);
  }
  const size_t firstSleep = steps.taken.find('s');
  ASSERT_NE(firstSleep, std::string::npos);
  EXPECT_EQ(steps.taken.find('w'), firstSleep + Steps::kPatience + 1);
  EXPECT_EQ(std::count(steps.taken.begin(), steps.taken.end(), 'w'), 1);
}

// What is patient for some 5 s, and not for minutes or for milliseconds: a sleep takes 50 us, and as long
// again or twice as long until the system ends it.
static_assert(kRelaxPatience >= 1'500'000 / 50 && kRelaxPatience <= 5'000'000 / 50);

constinit Event* eventOfHandler = nullptr;

// The handler has interrupted its thread while that held the lock bit of an Event.
TEST(RelaxTest, WarnsOfACallInASignalHandlerThatHangs) {
  const uint32_t patience = relaxPatience.exchange(10);
  Event event(Event::Mode::Manual);
  auto& word = (event.*member(tests::EventState{}))->core.*member(tests::EventWord{});
  eventOfHandler = &event;
  struct sigaction action = {};
  action.sa_handler = [](int) { eventOfHandler->signal(); };
  struct sigaction before = {};
  ASSERT_EQ(sigaction(SIGUSR2, &action, &before), 0);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int saved = dup(STDERR_FILENO);

  std::string text;
  std::thread helper([&] {
    // Without a warning it would wait forever: a minute is enough to fail.
    pollfd readable{ends[0], POLLIN, 0};
    if (poll(&readable, 1, 60'000) == 1) {
      char buffer[4096];
      text.assign(buffer, static_cast<size_t>(std::max<ssize_t>(read(ends[0], buffer, sizeof buffer), 0)));
    }
    word.bits.fetch_and(~word.kLocked, std::memory_order_release);
  });
  dup2(ends[1], STDERR_FILENO);
  word.lock();
  raise(SIGUSR2);
  helper.join();
  dup2(saved, STDERR_FILENO);
  for (const int fd : {saved, ends[0], ends[1]}) {
    close(fd);
  }
  sigaction(SIGUSR2, &before, nullptr);
  relaxPatience = patience;

  EXPECT_EQ(text.find("weft: warning: a thread has waited for seconds"), 0u) << text;
  EXPECT_NE(text.find("signal handler"), std::string::npos) << text;
  EXPECT_TRUE(event.isSignalled());
}

}  // namespace
}  // namespace weft::inline v0_1::detail
