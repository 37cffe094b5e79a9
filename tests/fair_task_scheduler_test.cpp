// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/fair/task_scheduler.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "with_fair_scheduler.h"
#include "with_scheduler.h"

namespace weft::fair {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using tests::awaitOnThread;
using tests::scaled;

using FairSchedulerTest = tests::WithFairThreads;
WEFT_INSTANTIATE_WITH_FAIR_THREADS(FairSchedulerTest);

TEST_P(FairSchedulerTest, TheExampleOfTheTasksComment) {
  int left = 3;
  Task countdown([&](Task* self) {
    if (--left > 0) {
      TaskScheduler::current()->postDelay(self, 1ms);
    }
  });
  TaskScheduler scheduler("sessions", numThreads(), config());
  scheduler.post(&countdown);
  scheduler.waitEmpty();
  EXPECT_EQ(left, 0);
}

TEST_P(FairSchedulerTest, RunsEachPostOnceWhoeverPosts) {
  TaskScheduler scheduler("posts", numThreads(), config());
  constexpr int kPosters = 5;
  const int tasksEach = scaled(5'000, 500);
  constexpr int kRuns = 4;
  struct Counted {
    Task task;
    int left = kRuns;
  };
  std::atomic<int> numRuns{0};
  std::vector<std::vector<Counted>> tasks(kPosters);
  std::vector<std::thread> posters;
  for (auto& mine : tasks) {
    mine = std::vector<Counted>(static_cast<size_t>(tasksEach));
    posters.emplace_back([&] {
      for (Counted& each : mine) {
        each.task.setCallback([&](Task* self) {
          numRuns.fetch_add(1, std::memory_order_relaxed);
          if (--each.left > 0) {
            scheduler.post(self);
          }
        });
        scheduler.post(&each.task);
      }
    });
  }
  for (std::thread& poster : posters) {
    poster.join();
  }
  scheduler.waitEmpty();
  EXPECT_EQ(numRuns, kPosters * tasksEach * kRuns);
  uint64_t numSteps = 0;
  for (const auto& thread : scheduler.stats()) {
    numSteps += thread.numSteps;
  }
  EXPECT_EQ(numSteps, static_cast<uint64_t>(numRuns));
}

TEST_P(FairSchedulerTest, StepsStartInTheOrderOfThePosts) {
  TaskScheduler scheduler("order", numThreads(), config());
  const size_t numTasks = scaled(20'000u, 2'000u);
  std::atomic<size_t> numStarted{0};
  std::vector<size_t> started(numTasks);
  std::vector<std::unique_ptr<Task>> tasks;
  for (size_t i = 0; i < numTasks; ++i) {
    tasks.push_back(std::make_unique<Task>([&, i] { started[numStarted++] = i; }));
  }
  for (size_t i = 0; i < numTasks; ++i) {
    scheduler.post(tasks[i].get());
  }
  scheduler.waitEmpty();
  tests::expectStartedInOrder(started, numThreads());
}

TEST_P(FairSchedulerTest, StepsStartInTheOrderOfThePostsWhoeverPosts) {
  TaskScheduler scheduler("order", numThreads(), config());
  const size_t numTasks = scaled(20'000u, 2'000u);
  std::atomic<size_t> numStarted{0};
  std::vector<size_t> started(numTasks);
  std::mutex mutex;  // makes one order of the posts of all threads
  size_t numPosted = 0;
  std::vector<std::thread> posters;
  for (int i = 0; i < 5; ++i) {
    posters.emplace_back([&] {
      for (bool isMore = true; isMore;) {
        std::scoped_lock guard(mutex);
        isMore = numPosted < numTasks;
        if (isMore) {
          scheduler.postOneShot([&, index = numPosted++] { started[numStarted++] = index; });
        }
      }
    });
  }
  for (std::thread& poster : posters) {
    poster.join();
  }
  scheduler.waitEmpty();
  tests::expectStartedInOrder(started, numThreads());
}

TEST_P(FairSchedulerTest, AStepIsNotRunWhileTheLastOneRuns) {
  TaskScheduler scheduler("steps", numThreads(), config());
  std::atomic<int> numInside{0};
  int left = scaled(2'000, 300);
  Task task([&](Task* self) {
    EXPECT_EQ(numInside.fetch_add(1), 0);
    if (--left > 0) {
      scheduler.post(self);
    }
    numInside.fetch_sub(1);
  });
  scheduler.post(&task);
  scheduler.waitEmpty();
  EXPECT_EQ(left, 0);
}

// Each waits for all the others: were a thread idle, or did one hold several, this would not end.
TEST_P(FairSchedulerTest, NoThreadIsIdleWhileWorkWaits) {
  TaskScheduler scheduler("rendezvous", numThreads(), config());
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> numStarted{0};
    const auto meet = [&] {
      ++numStarted;
      awaitOnThread([&] { return numStarted == numThreads(); });
    };
    scheduler.postOneShot([&] {
      for (int i = 1; i < numThreads(); ++i) {
        scheduler.postOneShot(meet);
      }
      meet();
    });
    scheduler.waitEmpty();
    numStarted = 0;
    for (int i = 0; i < numThreads(); ++i) {
      scheduler.postOneShot(meet);
    }
    scheduler.waitEmpty();
  }
}

// Heavy tasks are many times longer than light ones: by their number alone they would all fall to one thread.
TEST_P(FairSchedulerTest, MixedTasksLeaveNoThreadIdle) {
  TaskScheduler scheduler("mixed", numThreads(), config());
  std::atomic<int> numHeavy{0};
  const int numRounds = numThreads() > 8 ? 3 : 20;  // of as many threads that wait for each other on few processors
  for (int round = 0; round < numRounds; ++round) {
    std::atomic<int> numInside{0};
    for (int i = 0; i < 100 * numThreads(); ++i) {
      scheduler.postOneShot([&, i] {
        if (i % 100 == 0) {
          ++numHeavy;
          ++numInside;
          awaitOnThread([&] { return numInside >= numThreads(); });
        }
      });
    }
    scheduler.waitEmpty();
  }
  EXPECT_EQ(numHeavy, numRounds * numThreads());
  for (const auto& thread : scheduler.stats()) {
    EXPECT_GE(thread.numSteps, static_cast<uint64_t>(numRounds));
  }
}

TEST_P(FairSchedulerTest, PostAllKeepsTheOrder) {
  TaskScheduler scheduler("range", 1, config());
  std::vector<int> order;
  std::vector<std::unique_ptr<Task>> tasks;
  std::vector<Task*> pointers;
  for (int i = 0; i < 100; ++i) {
    tasks.push_back(std::make_unique<Task>([&, i] { order.push_back(i); }));
    pointers.push_back(tasks.back().get());
  }
  scheduler.postAll(pointers);
  scheduler.postAll(std::vector<Task*>());
  scheduler.waitEmpty();
  EXPECT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(FairSchedulerTest, ABlockOfOneSlotWillDo) {
  for (const uint32_t blockSize : {1u, 2u, 5u, 10'000u}) {
    TaskScheduler scheduler("blocks", numThreads(), config().setBlockSize(blockSize));
    std::atomic<int> numRuns{0};
    for (int i = 0; i < 1'000; ++i) {
      scheduler.postOneShot([&] { ++numRuns; });
    }
    scheduler.waitEmpty();
    EXPECT_EQ(numRuns, 1'000);
  }
}

TEST_P(FairSchedulerTest, DeadlinesAreNeverEarlyAndComeInTheirOrder) {
  TaskScheduler scheduler("deadlines", numThreads(), config());
  std::atomic<int> numLate{0};
  std::vector<std::unique_ptr<Task>> tasks;
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const auto deadline = Clock::now() + std::chrono::microseconds(random() % 20'000);
    tasks.push_back(std::make_unique<Task>([&, deadline](Task* self) {
      numLate += Clock::now() >= deadline ? 1 : 0;
      EXPECT_TRUE(self->isExpired());
      EXPECT_EQ(self->deadline(), Clock::time_point::min());
    }));
    scheduler.postDeadline(tasks.back().get(), deadline);
  }
  scheduler.waitEmpty();
  EXPECT_EQ(numLate, 300);
}

// All threads are busy for ever with tasks that post themselves again, until the deadline's task ends them.
TEST_P(FairSchedulerTest, DeadlinesFireUnderFullLoad) {
  TaskScheduler scheduler("load", numThreads(), config());
  for (const auto length : {0us, 50us}) {
    std::atomic<bool> isOver{false};
    std::vector<std::unique_ptr<Task>> busy;
    for (int i = 0; i < 2 * numThreads(); ++i) {
      busy.push_back(std::make_unique<Task>([&](Task* self) {
        for (const auto end = Clock::now() + length; Clock::now() < end;) {
        }
        if (!isOver) {
          scheduler.post(self);
        }
      }));
      scheduler.post(busy.back().get());
    }
    Task timer([&] { isOver = true; });
    scheduler.postDelay(&timer, 2ms);
    scheduler.waitEmpty();
    EXPECT_TRUE(isOver);
  }
}

TEST_P(FairSchedulerTest, AWakeupEndsAWait) {
  TaskScheduler scheduler("wakeups", numThreads(), config());
  int data = 0;  // handed over by the wakeups alone
  std::atomic<int> numSeen{-1};
  Task task([&](Task* self) {
    EXPECT_EQ(self->isExpired(), data == 0);
    const int seen = data;
    if (seen < 100) {
      scheduler.postWait(self);
    }
    numSeen = seen;
  });
  scheduler.post(&task);
  for (int i = 1; i <= 100; ++i) {
    awaitOnThread([&] { return numSeen == i - 1; });
    data = i;
    scheduler.wakeup(&task);
  }
  scheduler.waitEmpty();
}

TEST_P(FairSchedulerTest, AWakeupOfAPendingTaskTakesEffectAtItsNextDispatch) {
  TaskScheduler scheduler("pending", numThreads(), config());
  int numRuns = 0;
  Task task([&](Task* self) {
    if (++numRuns == 1) {
      scheduler.wakeup(self);
      scheduler.postWait(self);
    } else {
      EXPECT_FALSE(self->isExpired());
    }
  });
  scheduler.wakeup(&task);
  scheduler.postDelay(&task, std::chrono::hours(1));
  scheduler.waitEmpty();
  EXPECT_EQ(numRuns, 2);
}

TEST_P(FairSchedulerTest, ATaskWithASignalRunsAtOnceUntilItHasReceivedIt) {
  TaskScheduler scheduler("signals", numThreads(), config());
  int numRuns = 0;
  Task task([&](Task* self) {
    EXPECT_TRUE(self->isSignaled());
    EXPECT_FALSE(self->isExpired());
    if (++numRuns < 3) {
      scheduler.postWait(self);
    } else {
      EXPECT_TRUE(self->receiveSignal());
      EXPECT_FALSE(self->receiveSignal());
    }
  });
  scheduler.signal(&task);
  scheduler.signal(&task);
  scheduler.postWait(&task);
  scheduler.waitEmpty();
  EXPECT_EQ(numRuns, 3);
  EXPECT_FALSE(task.isSignaled());
}

// A request with a timeout: it is answered or expires, and deletes itself when the answer has come.
TEST_P(FairSchedulerTest, ATaskMayDeleteItselfWhenItHasReceivedItsSignal) {
  TaskScheduler scheduler("requests", numThreads(), config());
  const int numRequests = scaled(3'000, 500);
  std::atomic<int> numAnswered{0}, numExpired{0};
  struct Request {
    Request(TaskScheduler& owner, std::atomic<int>& answered, std::atomic<int>& expired)
        : scheduler(owner), numAnswered(answered), numExpired(expired), task(this, &Request::step) {}
    void step(Task* self) {
      if (self->receiveSignal()) {
        ++numAnswered;
        delete this;
        return;
      }
      EXPECT_TRUE(self->isExpired());
      ++numExpired;
      scheduler.postWait(self);
    }
    TaskScheduler& scheduler;
    std::atomic<int>& numAnswered;
    std::atomic<int>& numExpired;
    Task task;
  };
  std::mt19937 random(2);
  for (int i = 0; i < numRequests; ++i) {
    auto* request = new Request(scheduler, numAnswered, numExpired);
    scheduler.postDelay(&request->task, std::chrono::microseconds(random() % 30));
    for (auto spin = random() % 1'000; spin > 0; --spin) {
      asm volatile("");
    }
    scheduler.signal(&request->task);
  }
  scheduler.waitEmpty();
  EXPECT_EQ(numAnswered, numRequests);
}

// The same with a count of references instead of the signal: docs/fair.md shows it.
TEST_P(FairSchedulerTest, ATaskMayBeDeletedByWhoeverLetsGoOfItLast) {
  TaskScheduler scheduler("counted", numThreads(), config());
  std::atomic<int> numDeleted{0};
  struct Request {
    explicit Request(std::atomic<int>& deleted) : numDeleted(deleted), task(this, &Request::step) {}
    ~Request() { ++numDeleted; }
    void step() {
      if (isReady) {
        letGo();
        return;
      }
      TaskScheduler::current()->postWait(&task);
    }
    void letGo() {
      if (numUsers.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        delete this;
      }
    }
    std::atomic<int>& numDeleted;
    std::atomic<bool> isReady{false};
    std::atomic<int> numUsers{2};
    Task task;
  };
  const int numRequests = scaled(2'000, 300);
  for (int i = 0; i < numRequests; ++i) {
    auto* request = new Request(numDeleted);
    scheduler.postDelay(&request->task, std::chrono::microseconds(i % 20));
    request->isReady = true;
    scheduler.wakeup(&request->task);
    request->letGo();
  }
  scheduler.waitEmpty();
  EXPECT_EQ(numDeleted, numRequests);
}

// Whatever comes together from five threads, counts match: runs and posts, edges of the signal and receives.
TEST_P(FairSchedulerTest, AStormOfWakeupsSignalsAndDeadlinesLosesNothing) {
  TaskScheduler scheduler("storm", numThreads(), config());
  constexpr int kStormers = 5;
  constexpr size_t kTasks = 20;
  struct Stormed {
    Task task;
    std::atomic<uint64_t> numSent{0};
    uint64_t numSeen = 0;
    uint64_t numReceived = 0;
    uint64_t numRuns = 0;
    uint64_t numPosts = 1;
  };
  std::array<Stormed, kTasks> tasks;
  std::atomic<bool> isOver{false};
  for (Stormed& each : tasks) {
    each.task.setCallback([&](Task* self) {
      ++each.numRuns;
      if (self->receiveSignal()) {
        ++each.numReceived;
        each.numSeen = each.numSent.load(std::memory_order_relaxed);
      }
      if (isOver.load(std::memory_order_relaxed) && !self->isSignaled()) {
        return;
      }
      ++each.numPosts;
      if (each.numRuns % 3 == 0) {
        scheduler.postDelay(self, std::chrono::microseconds(each.numRuns % 50));
      } else if (each.numRuns % 3 == 1) {
        scheduler.post(self);
      } else {
        scheduler.postWait(self);
      }
    });
    scheduler.post(&each.task);
  }
  std::vector<std::thread> stormers;
  for (int i = 0; i < kStormers; ++i) {
    stormers.emplace_back([&, i] {
      std::mt19937 random(static_cast<unsigned>(i));
      for (int j = 0; j < scaled(20'000, 2'000); ++j) {
        Stormed& each = tasks[random() % kTasks];
        if (random() % 2 == 0) {
          scheduler.wakeup(&each.task);
        } else {
          each.numSent.fetch_add(1, std::memory_order_relaxed);
          scheduler.signal(&each.task);
        }
      }
    });
  }
  for (std::thread& stormer : stormers) {
    stormer.join();
  }
  isOver = true;
  for (Stormed& each : tasks) {
    scheduler.wakeup(&each.task);
  }
  scheduler.waitEmpty();
  for (Stormed& each : tasks) {
    EXPECT_EQ(each.numRuns, each.numPosts);
    EXPECT_LE(each.numReceived, each.numSent.load());
    EXPECT_FALSE(each.task.isSignaled());
    EXPECT_EQ(each.numSeen, each.numSent.load()) << "the last signal was received after all were sent";
  }
}

TEST_P(FairSchedulerTest, OneShotsOwnWhatTheyCapture) {
  const auto token = std::make_shared<int>(0);
  {
    TaskScheduler scheduler("one-shots", numThreads(), config());
    std::array<char, 200> large{};
    large[199] = 7;
    std::atomic<int> sum{0};
    scheduler.postOneShot([token, unique = std::make_unique<int>(1), &sum] { sum += *unique; });
    scheduler.postOneShot([token, large, &sum] { sum += large[199]; });
    scheduler.waitEmpty();
    EXPECT_EQ(sum, 8);
    EXPECT_EQ(token.use_count(), 1);
    scheduler.stop();
    scheduler.postOneShot([token] {});
  }
  EXPECT_EQ(token.use_count(), 1) << "one that never ran is destroyed";
}

TEST_P(FairSchedulerTest, TasksMoveBetweenSchedulers) {
  TaskScheduler first("first", numThreads(), config()), second("second", 2, config());
  int hops = 0;
  std::atomic<bool> isLast{false};
  Task task([&](Task* self) {
    EXPECT_EQ(TaskScheduler::current(), hops % 2 == 0 ? &first : &second);
    if (++hops < 200) {
      (hops % 2 == 0 ? first : second).post(self);
    } else {
      isLast = true;
    }
  });
  EXPECT_EQ(TaskScheduler::current(), nullptr);
  first.post(&task);
  // Each may be empty now and then before.
  awaitOnThread([&] { return isLast.load(); });
  first.waitEmpty();
  second.waitEmpty();
  EXPECT_EQ(hops, 200);
}

TEST_P(FairSchedulerTest, WaitEmptyReturnsWhenTheLastStepHasEndedAndNotBefore) {
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

TEST_P(FairSchedulerTest, FibersSuspendInWaitEmpty) {
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

TEST_P(FairSchedulerTest, StopsAndStartsUnderLoad) {
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

TEST_P(FairSchedulerTest, TakesBackWhatIsQueuedAndWhatWaits) {
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

TEST_P(FairSchedulerTest, TakesBackInTheOrderOfPostsAndWakeups) {
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

TEST_P(FairSchedulerTest, DestructionGivesTasksBackWithoutRunningThem) {
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
TEST_P(FairSchedulerTest, MayBeDestroyedAsSoonAsItIsEmptyWhileASignallerReturns) {
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

// The scheduler is stopped, so that only one of two posts can be right. Posts of other tasks come before, until both threads go
// at the same pace.
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
  check([](TaskScheduler& scheduler) { scheduler.post(nullptr); }, "post\\(\\) was given a null pointer. Give it");
  check([](TaskScheduler& scheduler) { scheduler.postWait(nullptr); }, "post\\(\\) was given a null pointer");
  check([](TaskScheduler& scheduler) { scheduler.postDelay(nullptr, 1s); }, "post\\(\\) was given a null pointer");
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
      "a fair::Task was posted that has no callback. Give it one");
  EXPECT_DEATH(Task task{std::function<void()>()}, "was given nothing to call");
  EXPECT_DEATH(Task task{static_cast<void (*)(Task*)>(nullptr)}, "was given nothing to call");
  EXPECT_DEATH(Task().setCallback(static_cast<std::string*>(nullptr), &std::string::clear),
               "was given nothing to call");
  EXPECT_DEATH(TaskScheduler("no function").postOneShot(std::function<void()>()), "was given nothing to call");
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
}  // namespace weft::fair
