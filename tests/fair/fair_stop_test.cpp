// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/fair/task_scheduler.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "with_fair_scheduler.h"
#include "with_scheduler.h"

// When a fair::TaskScheduler is empty, and what becomes of its tasks when it stops or is destroyed.
namespace weft::inline v0_1::fair {
namespace {

using namespace std::chrono_literals;
using tests::awaitOnThread;
using tests::scaled;

using FairStopTest = tests::WithFairThreads;
WEFT_INSTANTIATE_WITH_FAIR_THREADS(FairStopTest);

TEST_P(FairStopTest, WaitEmptyReturnsWhenTheLastStepHasEndedAndNotBefore) {
  TaskScheduler scheduler("empty", numThreads(), config());
  scheduler.waitEmpty();
  EXPECT_TRUE(scheduler.isEmpty());
  for (int round = 0; round < scaled(500, 100); ++round) {
    int left = 5;
    Task task([&](Task* self) {
      if (--left == 2) {
        scheduler.postDelay(self, 10us);
      } else if (left > 0) {
        scheduler.post(self);
      }
    });
    scheduler.post(&task);
    scheduler.waitEmpty();
    ASSERT_EQ(left, 0);
  }
  Task waiting([] {});
  scheduler.postWait(&waiting);
  EXPECT_FALSE(scheduler.isEmpty());
  EXPECT_FALSE(scheduler.waitEmpty(1ms)) << "a task that waits counts";
  scheduler.wakeup(&waiting);
  EXPECT_TRUE(scheduler.waitEmpty(1h));
}

TEST_P(FairStopTest, FibersSuspendInWaitEmpty) {
  Scheduler fibers(tests::smallConfig(1));
  fibers.bind();
  TaskScheduler scheduler("for fibers", numThreads(), config());
  Event gate;
  WaitGroup done(2);
  // The first fiber must be suspended for the second one to run, which lets it go on.
  scheduler.postOneShot([gate] { gate.wait(); });
  schedule([&, done] {
    scheduler.waitEmpty();
    done.done();
  });
  schedule([&, done] {
    gate.signal();
    done.done();
  });
  done.wait();
  done.add();
  schedule([&, done] {
    scheduler.stop();
    done.done();
  });
  done.wait();
  Scheduler::unbind();
}

TEST_P(FairStopTest, StopsAndStartsUnderLoad) {
  TaskScheduler scheduler("restarts", numThreads(), config());
  std::atomic<int> numInside{0};
  std::vector<std::unique_ptr<Task>> tasks;
  std::atomic<bool> isOver{false};
  for (int i = 0; i < 20; ++i) {
    tasks.push_back(std::make_unique<Task>([&, i](Task* self) {
      ++numInside;
      if (!isOver) {
        if (i % 2 == 0) {
          scheduler.post(self);
        } else {
          scheduler.postDelay(self, 20us);
        }
      }
      --numInside;
    }));
    scheduler.post(tasks.back().get());
  }
  for (int round = 0; round < scaled(50, 10); ++round) {
    scheduler.stop();
    EXPECT_EQ(numInside, 0);
    EXPECT_FALSE(scheduler.isEmpty());
    scheduler.stop();
    scheduler.start();
    scheduler.start();
  }
  isOver = true;
  scheduler.waitEmpty();
}

TEST_P(FairStopTest, TakesBackWhatIsQueuedAndWhatWaits) {
  TaskScheduler scheduler("taken back", numThreads(), config());
  std::atomic<int> numRuns{0};
  Task queued([&] { ++numRuns; }), waiting([&] { ++numRuns; }), later([&] { ++numRuns; }),
      woken([&] { ++numRuns; });
  scheduler.postWait(&waiting);
  scheduler.postDelay(&later, 1h);
  scheduler.postWait(&woken);
  scheduler.postOneShot([] {});
  awaitOnThread([&] { return scheduler.stats()[0].numSteps != 0 || numThreads() > 1; });
  scheduler.stop();
  scheduler.post(&queued);
  scheduler.wakeup(&woken);
  std::vector<Task*> taken = scheduler.takeBack();
  EXPECT_EQ(taken.size(), 4u);
  EXPECT_TRUE(scheduler.takeBack().empty()) << "but perhaps for the one-shot task, which stays";
  scheduler.start();
  for (Task* task : taken) {
    scheduler.post(task);
    scheduler.wakeup(task);
  }
  scheduler.waitEmpty();
  EXPECT_EQ(numRuns, 4);
}

TEST_P(FairStopTest, TakesBackInTheOrderOfPostsAndWakeups) {
  TaskScheduler scheduler("taken back", numThreads(), config());
  std::array<Task, 5> tasks;
  for (Task& task : tasks) {
    task.setCallback([] {});
  }
  scheduler.postWait(&tasks[4]);
  scheduler.postWait(&tasks[1]);
  std::atomic<bool> hasRun{false};
  scheduler.postOneShot([&] { hasRun = true; });  // after the two were looked at
  awaitOnThread([&] { return hasRun.load(); });
  scheduler.stop();
  scheduler.post(&tasks[0]);
  scheduler.wakeup(&tasks[1]);
  scheduler.post(&tasks[2]);
  scheduler.post(&tasks[3]);
  const std::vector<Task*> expected{&tasks[0], &tasks[1], &tasks[2], &tasks[3], &tasks[4]};
  EXPECT_EQ(scheduler.takeBack(), expected);
}

TEST_P(FairStopTest, DestructionGivesTasksBackWithoutRunningThem) {
  for (int round = 0; round < scaled(50, 10); ++round) {
    std::atomic<int> numBegun{0}, numEnded{0};
    Task running([&] {
      ++numBegun;
      std::this_thread::yield();
      ++numEnded;
    });
    Task queued([&] { ++numEnded; }), waiting([&] { ++numEnded; }), later([&] { ++numEnded; });
    {
      TaskScheduler scheduler("short-lived", numThreads(), config());
      scheduler.postWait(&waiting);
      scheduler.postDelay(&later, 1h);
      scheduler.post(&running);
      scheduler.postOneShot([&] { scheduler.postOneShot([] {}); });
      if (round % 2 == 0) {
        awaitOnThread([&] { return numEnded == 1; });
      } else {
        scheduler.stop();
        scheduler.post(&queued);
      }
    }
    EXPECT_LE(numEnded, 1);
    EXPECT_EQ(numEnded, numBegun) << "what ran has ended";
  }
}

// A signaller may still be on its way out when the scheduler that its signal has emptied is destroyed.
TEST_P(FairStopTest, MayBeDestroyedAsSoonAsItIsEmptyWhileASignallerReturns) {
  for (int round = 0; round < scaled(200, 50); ++round) {
    auto scheduler = std::make_unique<TaskScheduler>("brief", numThreads() > 8 ? 8 : numThreads(), config());
    auto* task = new Task;
    task->setCallback([](Task* self) {
      EXPECT_TRUE(self->receiveSignal());
      delete self;
    });
    scheduler->postWait(task);
    std::thread signaller([task, scheduler = scheduler.get()] { scheduler->signal(task); });
    scheduler->waitEmpty();
    scheduler.reset();
    signaller.join();
  }
}

}  // namespace
}  // namespace weft::inline v0_1::fair
