// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/fiber_sampler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "inspect/arena.h"
#include "inspect/images.h"
#include "inspect/process_memory.h"
#include "scheduler/core/layout.h"
#include "spin_until.h"
#include "weft/detail/wait/patience.h"
#include "weft/event.h"
#include "weft/mutex.h"
#include "weft/scheduler.h"
#include "weft/sleep.h"
#include "weft/waitgroup.h"

namespace fiber_sampler_test {

using namespace weft::detail::inspect;
using Config = weft::Scheduler::Config;
using SteadyClock = std::chrono::steady_clock;

// Samples of the process itself.
class FiberSamplerTest : public testing::Test {
 protected:
  void SetUp() override {
    char release[16];
    ASSERT_EQ(readOffsets(memory_, reinterpret_cast<Address>(&weft::detail::layoutTable), offsets_, release),
              TableState::Good);
    ASSERT_TRUE(images_.readMaps(getpid()));
  }

  void begin(const FiberSampler::Most& most) {
    sampler_ = std::make_unique<FiberSampler>(memory_, offsets_, unwinder_, snapshot_, most);
  }

  // Returns: for how many fibers those in that state stand.
  double look(Fiber::State state = Fiber::State::Blocked) {
    sampler_->look();
    double sum = 0;
    numStacks_ = 0;
    for (uint32_t i = 0; i < snapshot_.fibers.size(); ++i) {
      const Fiber& fiber = snapshot_.fibers[i];
      if (fiber.state == state && !fiber.isMain) {
        sum += sampler_->weightOf(i);
        numStacks_ += fiber.numFrames > 2 ? 1 : 0;
        seen_.insert(fiber.address);
      }
    }
    return sum;
  }

  // Begins tasks on the worker of this thread that wait for the event.
  void block(int count, const weft::Event& event, const weft::WaitGroup& ended) {
    ended.add(static_cast<unsigned>(count));
    const weft::WaitGroup begun(static_cast<unsigned>(count));
    for (int i = 0; i < count; ++i) {
      weft::schedule([=] {
        begun.done();
        event.wait();
        ended.done();
      });
    }
    begun.wait();
  }

  ProcessMemory memory_{getpid()};
  Offsets offsets_;
  Arena arena_;
  Images images_{&arena_};
  Unwinder unwinder_{images_, &arena_};
  Snapshot snapshot_{std::pmr::new_delete_resource()};
  std::unique_ptr<FiberSampler> sampler_;
  std::set<Address> seen_;
  int numStacks_ = 0;
};

TEST_F(FiberSamplerTest, TellsAllOfFewFibers) {
  weft::Scheduler scheduler(Config().setWorkerThreadCount(0));
  scheduler.bind();
  begin({});
  const weft::Event event(weft::Event::Mode::Manual);
  const weft::WaitGroup ended;
  block(5, event, ended);
  EXPECT_EQ(look(), 5);
  EXPECT_EQ(numStacks_, 5);
  EXPECT_EQ(seen_.size(), 5u);
  EXPECT_EQ(snapshot_.workers.size(), 1u);
  EXPECT_EQ(snapshot_.names[snapshot_.fibers.back().what], "Event");
  event.signal();
  ended.wait();
  EXPECT_EQ(look(), 0);
  scheduler.unbind();
  sampler_->look();
  EXPECT_TRUE(snapshot_.workers.empty());
}

TEST_F(FiberSamplerTest, FewStandForMany) {
  constexpr int kNumFibers = 1000;
  weft::Scheduler scheduler(Config().setWorkerThreadCount(0));
  scheduler.bind();
  begin({.some = 8, .someBlocks = 16});
  const weft::Event event(weft::Event::Mode::Manual);
  const weft::WaitGroup ended;
  block(kNumFibers, event, ended);
  for (int i = 0; i < 400; ++i) {
    EXPECT_DOUBLE_EQ(look(), kNumFibers);
    EXPECT_EQ(numStacks_, 8);
  }
  // A fiber is left out by a look with the chance 1 - 8 / 1000, and by 400 of them with that of 1 in 25.
  EXPECT_GT(seen_.size(), kNumFibers * 9u / 10);
  event.signal();
  ended.wait();
  scheduler.unbind();
}

TEST_F(FiberSamplerTest, FibersWithoutATaskCountForNothing) {
  constexpr int kNumIdle = 960;
  constexpr int kNumBlocked = 40;
  weft::Scheduler scheduler(Config().setWorkerThreadCount(0));
  scheduler.bind();
  begin({.some = 4, .someBlocks = 16, .manyBlocks = 256});
  const weft::Event first(weft::Event::Mode::Manual);
  const weft::Event second(weft::Event::Mode::Manual);
  const weft::WaitGroup ended;
  const weft::WaitGroup endedLater;
  block(kNumIdle, first, ended);
  first.signal();
  ended.wait();
  block(kNumBlocked, second, endedLater);
  constexpr int kNumLooks = 400;
  double sum = 0;
  for (int i = 0; i < kNumLooks; ++i) {
    sum += look();
    EXPECT_LE(numStacks_, 4);
  }
  // The same numbers at each run: the order of the picks is.
  EXPECT_NEAR(sum / kNumLooks, kNumBlocked, kNumBlocked * 0.2);
  EXPECT_EQ(seen_.size(), static_cast<size_t>(kNumBlocked));
  second.signal();
  endedLater.wait();
  scheduler.unbind();
}

TEST_F(FiberSamplerTest, FollowsWorkersThatComeAndGo) {
  begin({});
  for (int round = 0; round < 20; ++round) {
    weft::Scheduler scheduler(Config().setWorkerThreadCount(0));
    scheduler.bind();
    const weft::Event event(weft::Event::Mode::Manual);
    const weft::WaitGroup ended;
    block(1, event, ended);
    EXPECT_EQ(look(), 1);
    block(100 * (round % 3), event, ended);  // needs more slabs
    EXPECT_DOUBLE_EQ(look(), 1 + 100 * (round % 3));
    event.signal();
    ended.wait();
    EXPECT_EQ(look(), 0);
    scheduler.unbind();
    EXPECT_EQ(look(), 0);
  }
}

TEST_F(FiberSamplerTest, ReadsTheFiberThatAThreadIsOn) {
  weft::Scheduler scheduler(Config().setWorkerThreadCount(0));
  scheduler.bind();
  begin({});
  const weft::WaitGroup ended(1);
  weft::schedule([&] {
    std::thread([&] {  // for this thread the other one stands still
      sampler_->look();
      ASSERT_EQ(snapshot_.workers.size(), 1u);
      const uint32_t index = sampler_->addCurrent(0);
      ASSERT_NE(index, kNone);
      const Fiber& fiber = snapshot_.fibers[index];
      EXPECT_EQ(fiber.state, Fiber::State::Running);
      EXPECT_NE(fiber.task, 0u);
      EXPECT_FALSE(fiber.isMain);
      EXPECT_EQ(sampler_->weightOf(index), 1);
    })
        .join();
    ended.done();
  });
  ended.wait();
  scheduler.unbind();
}

TEST_F(FiberSamplerTest, TellsThatTheFiberOfAThreadHasBegunToWait) {
  weft::Scheduler scheduler(Config().setWorkerThreadCount(0));
  scheduler.bind();
  begin({});
  const weft::Event event(weft::Event::Mode::Manual);
  std::thread looker([&] {
    do {
      sampler_->look();
    } while (snapshot_.workers.at(0).state != Worker::State::Asleep);
    const uint32_t index = sampler_->addCurrent(0);
    event.signal();
    ASSERT_NE(index, kNone);
    EXPECT_EQ(snapshot_.fibers[index].state, Fiber::State::Blocked);
    EXPECT_TRUE(snapshot_.fibers[index].isMain);
  });
  event.wait();
  looker.join();
  scheduler.unbind();
}

TEST_F(FiberSamplerTest, AFiberWhoseTimeHasComeIsReady) {
  weft::Scheduler scheduler(Config().setWorkerThreadCount(0));
  scheduler.bind();
  begin({});
  // The fiber has to be seen before its time has come, so it may take a longer time.
  bool isSeen = false;
  for (auto time = std::chrono::milliseconds(2); !isSeen; time *= 2) {
    const weft::WaitGroup begun(1);
    const weft::WaitGroup ended(1);
    SteadyClock::time_point due;
    weft::schedule([&] {
      due = SteadyClock::now() + time;
      begun.done();
      weft::sleep_until(due);
      ended.done();
    });
    begun.wait();
    isSeen = look() == 1;
    if (isSeen) {
      weft::tests::spinUntil(due);
      EXPECT_EQ(look(Fiber::State::Ready), 1);
      EXPECT_EQ(numStacks_, 1);
      EXPECT_EQ(look(Fiber::State::Blocked), 0);
    }
    ended.wait();
  }
  scheduler.unbind();
}

TEST_F(FiberSamplerTest, AFiberThatWouldOnlyLookAtALockAgainWaits) {
  weft::Scheduler scheduler(Config().setWorkerThreadCount(0));
  scheduler.bind();
  begin({});
  weft::mutex mutex;
  const weft::WaitGroup begun(1);
  const weft::WaitGroup ended(1);
  std::unique_lock lock(mutex);
  weft::schedule([&] {
    begun.done();
    std::unique_lock mine(mutex, std::chrono::hours(1));
    ended.done();
  });
  begun.wait();
  // It looks again a millisecond after it has begun to wait.
  weft::tests::spinFor(2 * weft::detail::kPatience);
  EXPECT_EQ(look(Fiber::State::Ready), 0);
  EXPECT_EQ(look(), 1);
  lock.unlock();
  ended.wait();
  scheduler.unbind();
}

}  // namespace fiber_sampler_test
