// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <weft/fair/task_scheduler.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "with_scheduler.h"

// What wrong use of weft::fair gets: a message that says how to mend it, and the end of the program.
namespace weft::inline v0_1::fair {
namespace {

using namespace std::chrono_literals;
using tests::scaled;

using FairSchedulerDeathTest = tests::DeathTest;

TEST_F(FairSchedulerDeathTest, PostedTwice) {
  EXPECT_DEATH(
      {
        TaskScheduler scheduler("twice");
        Task task([] {});
        scheduler.postWait(&task);
        scheduler.post(&task);
      },
      "fair::Task was given a deadline while a scheduler has it|fair::Task was posted to \"twice\" while a "
      "scheduler has it");
  EXPECT_DEATH(
      {
        TaskScheduler scheduler("twice");
        Task task([&](Task* self) {
          scheduler.post(self);
          scheduler.post(self);
        });
        scheduler.post(&task);
        scheduler.waitEmpty();
      },
      "posted to \"twice\" while a scheduler has it");
}

// The scheduler is stopped, so that only one of two posts can be right. Posts of other tasks come before,
// until both threads go at the same pace.
void postFromTwoThreadsAtTheSameTime() {
  TaskScheduler scheduler("simultaneous");
  scheduler.stop();
  constexpr size_t kSteps = 100;
  std::array<Task, 2 * kSteps + 1> tasks;
  std::atomic<size_t> numThere{0};
  const auto post = [&](size_t self) {
    for (size_t step = 0; step <= kSteps; ++step) {
      Task* const task = &tasks[step == kSteps ? 2 * kSteps : 2 * step + self];
      ++numThere;
      while (numThere < 2 * (step + 1)) {
      }
      scheduler.post(task);
    }
  };
  std::thread other(post, 1);
  post(0);
  other.join();
  std::_Exit(0);  // both posts went through: the queue is no list any more
}

TEST_F(FairSchedulerDeathTest, PostedTwiceAtTheSameTime) {
  for (int round = 0; round < scaled(12, 3); ++round) {
    EXPECT_DEATH(postFromTwoThreadsAtTheSameTime(),
                 "fair::Task was posted to \"simultaneous\" while a scheduler has it");
  }
}

TEST_F(FairSchedulerDeathTest, NoTaskAtAll) {
  const auto check = [](void (*use)(TaskScheduler&), const char* message) {
    EXPECT_DEATH(
        {
          TaskScheduler scheduler("nothing");
          use(scheduler);
        },
        message);
  };
  check([](TaskScheduler& scheduler) { scheduler.post(nullptr); },
        "post\\(\\) was given a null pointer. Give it");
  check([](TaskScheduler& scheduler) { scheduler.postWait(nullptr); }, "post\\(\\) was given a null pointer");
  check([](TaskScheduler& scheduler) { scheduler.postDelay(nullptr, 1s); },
        "post\\(\\) was given a null pointer");
  check([](TaskScheduler& scheduler) { scheduler.wakeup(nullptr); }, "wakeup\\(\\) was given a null pointer");
  check([](TaskScheduler& scheduler) { scheduler.signal(nullptr); }, "signal\\(\\) was given a null pointer");
  check([](TaskScheduler& scheduler) { scheduler.postAll(std::array<Task*, 2>{}); },
        "postAll\\(\\) was given a null pointer");
}

TEST_F(FairSchedulerDeathTest, NothingToCall) {
  EXPECT_DEATH(
      {
        TaskScheduler scheduler("no callback");
        Task task;
        scheduler.post(&task);
        scheduler.waitEmpty();
      },
      "a fair::Task without a callback was posted. Give it one");
  EXPECT_DEATH(Task task{std::function<void()>()}, "a fair::Task was given an empty function");
  EXPECT_DEATH(Task task{static_cast<void (*)(Task*)>(nullptr)}, "a fair::Task was given an empty function");
  EXPECT_DEATH(Task().setCallback(static_cast<std::string*>(nullptr), &std::string::clear),
               "a fair::Task was given an empty function");
  EXPECT_DEATH(
      {
        std::string text;
        Task().setCallback(&text, static_cast<decltype(&std::string::shrink_to_fit)>(nullptr));
      },
      "a fair::Task was given an empty function");
  EXPECT_DEATH(TaskScheduler("no function").postOneShot(std::function<void()>()),
               "a fair::Task was given an empty function");
}

TEST_F(FairSchedulerDeathTest, ChangedOrDestroyedWhileASchedulerHasIt) {
  EXPECT_DEATH(
      {
        TaskScheduler scheduler("has it");
        Task task;
        scheduler.postWait(&task);
      },
      "fair::Task was destroyed while a scheduler has it");
  EXPECT_DEATH(
      {
        TaskScheduler scheduler("has it");
        auto* task = new Task;
        scheduler.postWait(task);
        task->setCallback([] {});
      },
      "fair::Task was given a callback while a scheduler has it");
}

TEST_F(FairSchedulerDeathTest, WaitsForItself) {
  EXPECT_DEATH(
      {
        TaskScheduler scheduler("itself");
        scheduler.postOneShot([&] { scheduler.waitEmpty(); });
        scheduler.waitEmpty();
      },
      "waitEmpty\\(\\) was called in a step of the same scheduler");
  EXPECT_DEATH(
      {
        TaskScheduler scheduler("itself");
        scheduler.postOneShot([&] { scheduler.stop(); });
        scheduler.waitEmpty();
      },
      "stop\\(\\) was called in a step of the same scheduler");
}

TEST_F(FairSchedulerDeathTest, TakenBackFromRunningThreads) {
  EXPECT_DEATH((void)TaskScheduler("runs").takeBack(),
               "takeBack\\(\\) on \"runs\", whose threads run. Call stop\\(\\) first");
}

TEST_F(FairSchedulerDeathTest, NumbersThatMakeNoSense) {
  EXPECT_DEATH(TaskScheduler("none", 0), "with 0 threads: ask for 1 to 4096");
  EXPECT_DEATH(TaskScheduler("none", 1, TaskScheduler::Config().setBlockSize(0)), "with a block size of 0");
  EXPECT_DEATH(TaskScheduler("full").reserve((size_t{1} << 32) + 10),
               "reserve\\(4294967306\\) on \"full\": at most 1073741824 tasks can wait at the same time");
}

TEST_F(FairSchedulerDeathTest, ANullAllocator) {
  EXPECT_DEATH(TaskScheduler("none", 1, TaskScheduler::Config().setAllocator(nullptr)),
               "\"none\": Config::allocator is null. Leave it at Allocator::Default");
}

TEST_F(FairSchedulerDeathTest, DestroyedWhileSomebodyWaits) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(tests::smallConfig(0));
        const Scheduler::Binding bound(scheduler);
        auto fair = std::make_unique<TaskScheduler>("awaited");
        fair->stop();
        Task task([] {});
        fair->post(&task);
        schedule([&] { fair->waitEmpty(); });
        const WaitGroup done(1);
        schedule([&, done] {
          fair.reset();
          done.done();
        });
        done.wait();
      },
      "TaskScheduler was destroyed while somebody waits in waitEmpty\\(\\). Let it return first");
}

TEST_F(FairSchedulerDeathTest, AnExceptionEscapes) {
  EXPECT_DEATH(
      {
        TaskScheduler scheduler("throws");
        scheduler.postOneShot([] { throw std::runtime_error("what went wrong"); });
        scheduler.waitEmpty();
      },
      "an exception escaped from a step of a fair::Task: std::runtime_error: what went wrong.*Catch it");
}

}  // namespace
}  // namespace weft::inline v0_1::fair
