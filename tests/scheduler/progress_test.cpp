// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <thread>

#include <weft/channel.h>
#include <weft/conditionvariable.h>
#include <weft/event.h>
#include <weft/fiber.h>
#include <weft/future.h>
#include <weft/latch.h>
#include <weft/mutex.h>
#include <weft/scheduler.h>
#include <weft/select.h>
#include <weft/semaphore.h>
#include <weft/sharedmutex.h>
#include <weft/sleep.h>
#include <weft/taskgroup.h>
#include <weft/waitgroup.h>
#include <weft/waithandler.h>

#include "in_task.h"
#include "restless.h"
#include "spin_until.h"
#include "with_scheduler.h"
#include "workers.h"

// How much may come before what may run: tasks from outside, tasks that block, timers.
namespace weft {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using tests::queueTogether;
using tests::scaled;
using tests::spinFor;
using tests::spinUntil;

class ProgressTest : public tests::WithScheduler {};
// With one worker, or with none, the order is certain.
INSTANTIATE_TEST_SUITE_P(OneThread, ProgressTest, ::testing::Values(0, 1),
                         [](const auto& numWorkers) { return std::to_string(numWorkers.param); });

// The tasks of a group run in place of the one that waits for them, but for the oldest, whose turn comes.
TEST_P(ProgressTest, ALargeGroupLetsOthersRunAndGoesOnInPlace) {
  constexpr int kTasks = 4000;  // which a deque has room for
  WaitGroup done(1);
  Event go;
  int numRun = 0, numInPlace = 0, numBefore = 0;
  schedule([&, go] {
    go.wait();
    numBefore = numRun;
  });
  schedule([&, go, done] {
    const char* frame = static_cast<const char*>(__builtin_frame_address(0));
    TaskGroup group;
    for (int i = 0; i < kTasks; ++i) {
      group.run([&, go] {
        numRun += 1;
        const auto distance = frame - static_cast<const char*>(__builtin_frame_address(0));
        numInPlace += distance > 0 && distance < 4096 ? 1 : 0;
        go.signal();
      });
    }
    group.wait();
    done.done();
  });
  done.wait();
  EXPECT_EQ(numRun, kTasks);
  EXPECT_GT(numBefore, 0);
  EXPECT_LE(numBefore, 200) << "of the dequeues between two polls, twice";
  EXPECT_GE(numInPlace, kTasks * 9 / 10);
}

constexpr int kChildren = 20;
// A batch from outside is in the worker's queue already. Before each child others may have had a turn.
constexpr int kMostBeforeChildren = 64 + (kChildren + 1) * 62;

// The children of one task, the newest of which blocks at once, beside many tasks from outside. Returns: how
// many of these came before the last child.
int numFromOutsideBeforeChildren(Scheduler& scheduler) {
  constexpr int kOutside = 20'000;
  int numOutside = 0, numChildren = 0, numBefore = 0;
  WaitGroup done(kChildren + kOutside);
  Event go;
  queueTogether(scheduler, [&] {
    schedule([&, go, done] {
      for (int i = 0; i < kChildren; ++i) {
        schedule([&, i, go, done] {
          if (i == kChildren - 1) {
            go.wait();
          } else if (i == 0) {
            go.signal();
          }
          numBefore = ++numChildren == kChildren ? numOutside : 0;
          done.done();
        });
      }
    });
    for (int i = 0; i < kOutside; ++i) {
      schedule([&, done] {
        ++numOutside;
        done.done();
      });
    }
  });
  done.wait();
  return numBefore;
}

TEST_P(ProgressTest, ATaskThatBlocksAtOnceDoesNotPutTasksFromOutsideBeforeTheWorkersOwn) {
  EXPECT_LE(numFromOutsideBeforeChildren(scheduler()), kMostBeforeChildren);
}

TEST_P(ProgressTest, NeitherDoesOneOfAWorkerWhoseQueueHasOverflowedBefore) {
  constexpr unsigned kMany = 10'000;
  WaitGroup done(kMany);
  schedule([=] {
    for (unsigned i = 0; i < kMany; ++i) {
      schedule([=] { done.done(); });
    }
  });
  done.wait();
  EXPECT_LE(numFromOutsideBeforeChildren(scheduler()), kMostBeforeChildren);
}

TEST_P(ProgressTest, WhatHasOverflowedComesBeforeTheRestWhereATaskBlocksAtOnce) {
  // Each waits for the one before, which is older: newest first they would all block.
  constexpr int kTasks = 4000;  // which a deque has room for
  int numBlocked = 0;
  WaitGroup done(kTasks);
  schedule([&, done] {
    Event previous(Event::Mode::Manual, true);
    for (int i = 0; i < kTasks; ++i) {
      Event next(Event::Mode::Manual);
      schedule([&, previous, next, done] {
        numBlocked += previous.isSignalled() ? 0 : 1;
        previous.wait();
        next.signal();
        done.done();
      });
      previous = next;
    }
  });
  done.wait();
  EXPECT_LE(numBlocked, 100);
}

// Schedules itself until it is not wanted any more.
void runAgain(const std::atomic<int>& numLeft, const WaitGroup& done) {
  if (numLeft == 0) {
    done.done();
  } else {
    schedule([&numLeft, done] { runAgain(numLeft, done); });
  }
}

TEST_P(ProgressTest, WhatHasOverflowedRunsBesideATaskThatSchedulesItself) {
  constexpr int kTasks = 6000;
  std::atomic<int> numLeft{kTasks};
  WaitGroup done(1);
  schedule([&, done] {
    for (int i = 0; i < kTasks; ++i) {
      schedule([&] { --numLeft; });
    }
    runAgain(numLeft, done);
  });
  done.wait();
  EXPECT_EQ(numLeft, 0);
}

// Fails where wait() lets something else run.
template <class F>
void expectNotSuspended(const char* what, F wait) {
  schedule([] {});
  const uint64_t before = Scheduler::get()->stats().workers[0].numTasksRun;
  wait();
  EXPECT_EQ(Scheduler::get()->stats().workers[0].numTasksRun, before) << what;
}

// Waits for whatever there is, with a time limit that has passed.
void waitInVain() {
  const auto past = steady_clock::now() - milliseconds(1);
  const auto pastByWall = std::chrono::system_clock::now() - milliseconds(1);
  std::stop_source stop;
  const std::stop_token token = stop.get_token();
  expectNotSuspended("Event::wait_for", [&] { EXPECT_FALSE(Event().wait_for(milliseconds(0))); });
  expectNotSuspended("Event::wait_until", [&] { EXPECT_FALSE(Event().wait_until(past)); });
  expectNotSuspended("Event::wait_until by system_clock",
                     [&] { EXPECT_FALSE(Event().wait_until(pastByWall)); });
  expectNotSuspended("Event::wait_for with a token",
                     [&] { EXPECT_FALSE(Event().wait_for(milliseconds(-1), token)); });
  expectNotSuspended("WaitGroup", [&] { EXPECT_FALSE(WaitGroup(1).wait_for(milliseconds(0))); });
  expectNotSuspended("Semaphore", [&] { EXPECT_FALSE(Semaphore(0).try_acquire_for(milliseconds(0))); });
  expectNotSuspended("Latch", [&] { EXPECT_FALSE(Latch(1).wait_for(milliseconds(0))); });
  expectNotSuspended("Fiber", [&] { EXPECT_FALSE(Fiber::current()->wait(past)); });
  expectNotSuspended("Fiber with a token", [&] { EXPECT_FALSE(Fiber::current()->wait(past, token)); });
  expectNotSuspended("sleep_for", [&] { sleep_for(milliseconds(0)); });
  expectNotSuspended("sleep_until", [&] { sleep_until(past); });
  expectNotSuspended("sleep_until with a token", [&] { EXPECT_TRUE(sleep_until(past, token)); });
  expectNotSuspended("Future", [&] {
    Promise<int> promise;
    const SharedFuture<int> future = promise.get_future();
    EXPECT_FALSE(future.wait_for(milliseconds(0)));
  });
  expectNotSuspended("ConditionVariable", [&] {
    mutex guard;
    ConditionVariable condition;
    std::unique_lock lock(guard);
    EXPECT_FALSE(condition.wait_until(lock, past, [] { return false; }));
  });
  expectNotSuspended("SharedMutex", [&] {
    SharedMutex guard;
    std::shared_lock lock(guard);
    EXPECT_FALSE(guard.try_lock_for(milliseconds(0)));
  });
}

TEST_P(ProgressTest, ADeadlineThatHasPassedSuspendsNobody) {
  tests::inTask([] { waitInVain(); });
}

// What ends the loop is a task from outside, a child, or a fiber that goes on.
TEST_P(ProgressTest, ALoopAroundWaitsInVainLetsOthersRun) {
  const auto loopUntil = [](const Event& event) {
    while (!event.wait_for(milliseconds(0))) {
    }
  };
  Event outside, inside, waiter, goOn;
  WaitGroup done(1);
  schedule([=] {
    loopUntil(outside);
    schedule([=] { inside.signal(); });
    loopUntil(inside);
    goOn.signal();
    loopUntil(waiter);
    done.done();
  });
  schedule([=] {
    outside.signal();
    goOn.wait();
    waiter.signal();
  });
  done.wait();
}

TEST(ProgressOfThreadsTest, ADeadlineThatHasPassedCallsNoWaitHandler) {
  int numCalls = 0;
  WaitHandler before = setThreadWaitHandler([&](WaitHandle) { ++numCalls; });
  EXPECT_FALSE(Event().wait_for(milliseconds(0)));
  EXPECT_FALSE(Semaphore(0).try_acquire_until(steady_clock::now() - milliseconds(1)));
  sleep_for(milliseconds(0));
  setThreadWaitHandler(std::move(before));
  EXPECT_EQ(numCalls, 0);
}

TEST_P(ProgressTest, ATimerThatIsDueWaitsForAtMostOneTask) {
  const int kRounds = scaled(300, 100);
  constexpr unsigned kTasks = 100;
  for (int round = 0; round < kRounds; ++round) {
    int numBegun = 0, numAtWake = 0;
    WaitGroup done(kTasks + 1);
    queueTogether(scheduler(), [&] {
      schedule([&, done] {
        const auto time = steady_clock::now() + microseconds(50);
        for (unsigned i = 0; i < kTasks; ++i) {
          schedule([&, time, done] {
            ++numBegun;
            spinUntil(time);
            done.done();
          });
        }
        sleep_until(time);
        numAtWake = numBegun;
        done.done();
      });
    });
    done.wait();
    ASSERT_LE(numAtWake, 1) << "in round " << round;
  }
}

TEST_P(ProgressTest, ATimerThatIsDueWaitsForFewTasksInPlace) {
  const int kRounds = scaled(50, 20);
  for (int round = 0; round < kRounds; ++round) {
    steady_clock::time_point time{};
    int numBegun = 0, numAtWake = -1;
    tests::inTask([&] {
      WaitGroup done(1);
      schedule([&, done] {
        time = steady_clock::now() + microseconds(100);
        sleep_until(time);
        numAtWake = numBegun;
        done.done();
      });
      while (time == steady_clock::time_point{}) {
        yield();
      }
      // The other one sleeps, since there is but one thread.
      while (numAtWake == -1) {
        async([&] {
          ++numBegun;
          spinFor(microseconds(200));
        }).get();
      }
      done.wait();
    });
    ASSERT_LE(numAtWake, 2) << "in round " << round;
  }
}

// The waiter is woken before it begins to block.
TEST_P(ProgressTest, AWaitThatIsWokenAlreadyWithADeadlineInThePastKeepsNoTimerBack) {
  struct NotifyingLock {
    ConditionVariable& variable;
    void lock() {}
    void unlock() { variable.notify_all(); }
  };
  constexpr unsigned kTasks = 100;
  int numBegun = 0, numAtWake = -1;
  tests::inTask([&] {
    WaitGroup done(kTasks + 1);
    bool isSleeping = false;
    const auto time = steady_clock::now() + milliseconds(1);
    schedule([&, done] {
      isSleeping = true;
      sleep_until(time);
      numAtWake = numBegun;
      done.done();
    });
    while (!isSleeping) {
      yield();
    }
    ConditionVariable variable;
    NotifyingLock held{variable};
    int numLooks = 0;
    variable.wait_until(held, steady_clock::time_point::min(), [&] { return ++numLooks > 1; });
    for (unsigned i = 0; i < kTasks; ++i) {
      schedule([&, done] {
        ++numBegun;
        spinUntil(time);
        done.done();
      });
    }
    done.wait();
  });
  EXPECT_LE(numAtWake, 1);
}

TEST_P(ProgressTest, AFiberThatPollsLeavesOthersTheirTasksInPlace) {
  constexpr int kTasks = 1000;
  int numPolls = 0;
  tests::inTask([&] {
    WaitGroup done(1);
    bool isOver = false;
    schedule([&, done] {
      const Event never;
      while (!isOver) {
        never.wait_for(microseconds(0));
        ++numPolls;
      }
      done.done();
    });
    while (numPolls == 0) {
      yield();
    }
    for (int i = 0; i < kTasks; ++i) {
      async([] {}).get();
    }
    isOver = true;
    done.wait();
  });
  EXPECT_LT(numPolls, (tests::kUnderStress ? 1000 : 100) * kTasks);
}

TEST_P(ProgressTest, ATimerThatIsDueBehindAReadyFiberWaitsForFewTasksInPlace) {
  int numBegun = 0, numAtWake = -1;
  tests::inTask([&] {
    WaitGroup done(2);
    Event go;
    const auto time = steady_clock::now() + milliseconds(1);
    int numWaiting = 0;
    schedule([&, done] {
      ++numWaiting;
      sleep_until(time);
      numAtWake = numBegun;
      done.done();
    });
    schedule([&, go, done] {
      ++numWaiting;
      go.wait();
      while (numAtWake == -1) {
        async([&] { ++numBegun; }).get();
      }
      done.done();
    });
    while (numWaiting != 2) {
      yield();
    }
    go.signal();
    spinUntil(time);
    done.wait();
  });
  EXPECT_LE(numAtWake, 1);
}

TEST_P(ProgressTest, ATimerThatIsDueWaitsForAtMostOneTaskBesideAFiberThatYields) {
  const int kRounds = scaled(300, 100);
  constexpr unsigned kTasks = 100;
  for (int round = 0; round < kRounds; ++round) {
    int numBegun = 0, numAtWake = -1;
    WaitGroup done(kTasks + 2);
    queueTogether(scheduler(), [&] {
      schedule([&, done] {
        const auto time = steady_clock::now() + microseconds(50);
        for (unsigned i = 0; i < kTasks; ++i) {
          schedule([&, done] {
            ++numBegun;
            done.done();
          });
        }
        schedule([&, time, done] {
          spinUntil(time);
          const int numBefore = numBegun;
          while (numAtWake == -1) {
            yield();
          }
          numAtWake -= numBefore;
          done.done();
        });
        sleep_until(time);
        numAtWake = numBegun;
        done.done();
      });
    });
    done.wait();
    ASSERT_LE(numAtWake, 1) << "in round " << round;
  }
}

TEST_P(ProgressTest, TimersThatAreAlwaysDueLeaveTasksTheirTurn) {
  // Each round ends when the next timer is due.
  tests::Restless restless(1, [] { spinFor(microseconds(20)); });
  std::atomic<bool> mayEnd{false};
  WaitGroup ended(1), others(1);
  schedule([&, ended] {
    restless.start();
    while (!mayEnd) {
      sleep_for(microseconds(1));
    }
    ended.done();
  });
  schedule([=] { others.done(); });
  others.wait();
  mayEnd = true;
  ended.wait();
}

class WorkersProgressTest : public tests::WithScheduler {};
INSTANTIATE_TEST_SUITE_P(TwoWorkers, WorkersProgressTest, ::testing::Values(2),
                         [](const auto& numWorkers) { return std::to_string(numWorkers.param); });

TEST_P(WorkersProgressTest, TasksThatWaitForEachOtherAllStartBesideALongTask) {
  const int kTasks =
      std::min(scaled(20'000, 10'000), tests::kUnderTsan ? tests::kMaxTsanFibers - 1000 : 20'000);
  std::latch isHeld(1), haveStarted(1);
  int numStarted = 0;  // by the worker that is not held
  uint64_t before = 0, parks = 0;
  const auto numParks = [&] {
    Scheduler::Stats stats = scheduler().stats();
    stats.workers.pop_back();  // of the bound thread
    return tests::sum(stats, &Scheduler::WorkerStats::numParks);
  };
  WaitGroup done(static_cast<unsigned>(kTasks) + 1);
  Event go(Event::Mode::Manual);
  schedule([&, go, done] {
    isHeld.count_down();
    haveStarted.wait();
    go.signal();
    done.done();
  });
  isHeld.wait();
  schedule([&, go, done] {
    before = numParks();
    for (int i = 0; i < kTasks; ++i) {
      schedule([&, go, done] {
        if (++numStarted == kTasks) {
          parks = numParks() - before;
          haveStarted.count_down();
        }
        go.wait();
        done.done();
      });
    }
  });
  done.wait();
  // The worker waits in vain for a fiber to go on, and sleeps meanwhile unless the time is up before that.
  // Each time it starts some tasks.
  EXPECT_GT(parks, 0u);
  EXPECT_LT(parks, static_cast<unsigned>(kTasks) / 20);
}

}  // namespace
}  // namespace weft
