// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <weft/fair/task_scheduler.h>

#include "with_fair_scheduler.h"
#include "with_scheduler.h"

// Deadlines, wakeups and signals of tasks.
namespace weft::inline v0_1::fair {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using tests::awaitOnThread;
using tests::scaled;

using FairWakeupTest = tests::WithFairThreads;
WEFT_INSTANTIATE_WITH_FAIR_THREADS(FairWakeupTest);

TEST_P(FairWakeupTest, DeadlinesAreNeverEarlyAndComeInTheirOrder) {
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
// That waits for a few steps on each thread. A thread that the system keeps from running, perhaps with the
// deadline's task in its hands, runs no steps, so that some thread has run only a few, however long that
// lasts.
TEST_P(FairWakeupTest, DeadlinesFireUnderFullLoad) {
  constexpr int kFewSteps = 100;
  for (const auto length : {0us, 50us}) {
    TaskScheduler scheduler("load", numThreads(), config());
    const auto deadline = Clock::now() + 2ms;
    std::atomic<bool> isOver{false};
    std::atomic<int> numThreadsWithMore{0};
    // Posted first, so that it is armed before any of them runs.
    Task timer([&] {
      EXPECT_LT(numThreadsWithMore, numThreads());
      isOver = true;
    });
    scheduler.postDeadline(&timer, deadline);
    std::vector<std::unique_ptr<Task>> busy;
    for (int i = 0; i < 2 * numThreads(); ++i) {
      busy.push_back(std::make_unique<Task>([&](Task* self) {
        thread_local int numStepsAfterIt = 0;  // the threads are this scheduler's
        if (Clock::now() >= deadline && ++numStepsAfterIt == kFewSteps + 1) {
          ++numThreadsWithMore;
        }
        for (const auto end = Clock::now() + length; Clock::now() < end;) {
        }
        if (!isOver) {
          scheduler.post(self);
        }
      }));
      scheduler.post(busy.back().get());
    }
    scheduler.waitEmpty();
    EXPECT_TRUE(isOver);
  }
}

TEST_P(FairWakeupTest, AWakeupEndsAWait) {
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

TEST_P(FairWakeupTest, AWakeupOfAPendingTaskTakesEffectAtItsNextDispatch) {
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

TEST_P(FairWakeupTest, ATaskWithASignalRunsAtOnceUntilItHasReceivedIt) {
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
TEST_P(FairWakeupTest, ATaskMayDeleteItselfWhenItHasReceivedItsSignal) {
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

// A count of references tells who is the last, instead of a signal: docs/fair.md shows it.
TEST_P(FairWakeupTest, ATaskMayBeDeletedByWhoeverLetsGoOfItLast) {
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
TEST_P(FairWakeupTest, AStormOfWakeupsSignalsAndDeadlinesLosesNothing) {
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

}  // namespace
}  // namespace weft::inline v0_1::fair
