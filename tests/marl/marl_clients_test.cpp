// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What large programs that were written for marl have come to depend on, each as such a program does it.

#include <marl/conditionvariable.h>
#include <marl/defer.h>
#include <marl/event.h>
#include <marl/future.h>
#include <marl/scheduler.h>
#include <marl/waitgroup.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "waiting.h"

namespace {

using std::chrono::milliseconds;
using weft::tests::awaitThat;
using weft::tests::scaled;
using weft::tests::smallConfig;

class MarlClientsTest : public weft::tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(MarlClientsTest);

// Tests that make schedulers of their own.
class MarlClientsOwnTest : public weft::tests::WithAllocator {};

// A mutex of the system is held across a wait that suspends, and unlocked on the thread that locked it, which
// it insists on.

TEST_P(MarlClientsTest, AnOsMutexIsHeldAcrossASuspensionAndUnlockedOnTheSameThread) {
  constexpr int kTasks = 20;
  const marl::WaitGroup done(kTasks);
  const marl::Event go(marl::Event::Mode::Manual);
  const auto guards = std::make_shared<std::array<std::recursive_mutex, kTasks>>();
  for (size_t i = 0; i < kTasks; ++i) {
    marl::schedule([=] {
      const auto thread = std::this_thread::get_id();
      {
        const std::scoped_lock held((*guards)[i]);
        go.wait();
        EXPECT_FALSE(go.wait_for(milliseconds(0)) && std::this_thread::get_id() != thread);
        EXPECT_TRUE((*guards)[i].try_lock()) << "held by another thread";
        (*guards)[i].unlock();
      }
      done.done();
    });
  }
  marl::schedule([=] { go.signal(); });
  done.wait();
  for (std::recursive_mutex& guard : *guards) {
    ASSERT_TRUE(guard.try_lock()) << "still held";
    guard.unlock();
  }
}

// A bound thread blocks in a condition variable of the standard library, fibers of its own pending meanwhile.

TEST_P(MarlClientsTest, ABoundThreadBlocksInAStdConditionVariableWhileItsFibersPend) {
  const marl::Event first(marl::Event::Mode::Manual), second(marl::Event::Mode::Manual);
  const marl::WaitGroup done(10);
  std::mutex mutex;
  std::condition_variable variable;
  bool isReady = false;
  std::atomic<int> numPending{0};
  std::thread bound([&] {
    scheduler().bind();
    for (int i = 0; i < 10; ++i) {
      marl::schedule(marl::Task(
          [&numPending, first, second, done] {
            ++numPending;
            first.wait();
            second.wait();
            done.done();
          },
          marl::Task::Flags::SameThread));
    }
    // Lets them start, and leaves them in their waits.
    awaitThat([&] { return numPending == 10; });
    {
      std::unique_lock held(mutex);
      variable.wait(held, [&] { return isReady; });
    }
    second.signal();
    done.wait();
    marl::Scheduler::unbind();
  });
  awaitThat([&] { return numPending == 10; });
  first.signal();  // wakes all of them while their thread is in the system
  {
    const std::scoped_lock held(mutex);
    isReady = true;
  }
  variable.notify_one();
  bound.join();
}

TEST(MarlClientsDeathTest, ASchedulerMayOutliveTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static auto* const leaked = new marl::Scheduler(marl::Scheduler::Config().setWorkerThreadCount(2));
        leaked->bind();
        const marl::Event started;
        for (int i = 0; i < 10; ++i) {
          marl::schedule([=] {
            for (;;) {
              started.signal();
              marl::Event().wait_for(std::chrono::microseconds(1));
            }
          });
        }
        started.wait();
        std::exit(7);
      },
      testing::ExitedWithCode(7), weft::tests::kSilence);
}

// Values are signalled, through copies in lambdas, as a fork of marl's has it.

TEST_P(MarlClientsTest, AFutureCarriesAValueOverATask) {
  const marl::Future<std::vector<int>> future;
  EXPECT_FALSE(future.test());
  marl::schedule([future] { future.signal(3u, 7); });
  EXPECT_EQ(future.wait(), std::vector<int>(3, 7));
  EXPECT_TRUE(future.isSignalled());
  future.wait().push_back(1);
  EXPECT_EQ(future.wait().size(), 4u);
  future.clear();
  EXPECT_FALSE(future.test());
}

// Frames of half a mebibyte on stacks of one.

[[gnu::noinline]] int useLargeFrame(int seed) {
  char frame[512 * 1024];
  for (size_t i = 0; i < sizeof frame; i += 1024) {
    frame[i] = static_cast<char>(seed + static_cast<int>(i / 1024));
  }
  const marl::Event event;
  marl::schedule([=] { event.signal(); });
  event.wait();
  int sum = 0;
  for (size_t i = 0; i < sizeof frame; i += 1024) {
    sum += frame[i] == static_cast<char>(seed + static_cast<int>(i / 1024)) ? 1 : 0;
  }
  return sum;
}

TEST_F(MarlClientsOwnTest, FramesOfHalfAMebibyteFitTheDefaultStack) {
  for (int numWorkers : {0, 1, 4}) {
    marl::Scheduler scheduler(
        marl::Scheduler::Config().setWorkerThreadCount(numWorkers).setAllocator(allocator()));
    scheduler.bind();
    defer(marl::Scheduler::unbind());
    const marl::WaitGroup done(8);
    for (int i = 0; i < 8; ++i) {
      marl::schedule([=] {
        EXPECT_EQ(useLargeFrame(i), 512);
        done.done();
      });
    }
    done.wait();
  }
}

TEST(MarlClientsDeathTest, AFutureTakesNoNullAllocator) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(const marl::Future<int> future(nullptr), "weft: fatal: marl::Future: the allocator is null");
}

}  // namespace
