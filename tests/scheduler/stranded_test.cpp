// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <chrono>
#include <latch>
#include <string>
#include <thread>
#include <utility>

#include <weft/event.h>
#include <weft/fiber.h>
#include <weft/join.h>
#include <weft/scheduler.h>
#include <weft/taskgroup.h>
#include <weft/waitgroup.h>

#include "scheduler/policy/victim_order.h"
#include "scheduler/worker/worker.h"
#include "scheduler/worker/worker_group.h"
#include "with_scheduler.h"

// Tasks in the deque of a thread that is in one task for long, while all other workers are busy. Without the
// rule that brings them to the others no test here ends.
namespace weft {
namespace {

using tests::smallConfig;

enum class Busy { Yielding, WakingEachOther, SchedulingThemselves, SchedulingOnePlaced };

std::string nameOf(const ::testing::TestParamInfo<Busy>& busy) {
  const char* names[] = {"Yielding", "WakingEachOther", "SchedulingThemselves", "SchedulingOnePlaced"};
  return names[static_cast<int>(busy.param)];
}

// Keeps worker 1 of two workers busy, which goes on finding work of its own until finish().
class StrandedTest : public ::testing::TestWithParam<Busy> {
 protected:
  void SetUp() override {
    scheduler_.enqueueOn(1, Task([this] {
                           begin();
                           hasBegun_.count_down();
                         }));
    hasBegun_.wait();
  }

  void TearDown() override {
    isOver_ = true;
    done_.wait();
  }

  Scheduler& scheduler() { return scheduler_; }

 private:
  void begin() {
    done_.add();
    if (GetParam() == Busy::Yielding) {
      schedule(Task([this] { yieldUntilOver(); }, Task::Flags::SameThread));
    } else if (GetParam() == Busy::WakingEachOther) {
      schedule(Task([this] { wakeUntilOver(); }, Task::Flags::SameThread));
    } else {
      again();
    }
  }

  void yieldUntilOver() {
    while (!isOver_) {
      yield();
    }
    done_.done();
  }

  void wakeUntilOver() {
    const Event ping, pong;
    const WaitGroup other(1);
    bool isLast = false;
    schedule(Task(
        [&isLast, ping, pong, other] {
          ping.wait();
          while (!isLast) {
            pong.signal();
            ping.wait();
          }
          other.done();
        },
        Task::Flags::SameThread));
    while (!isOver_) {
      ping.signal();
      pong.wait();
    }
    isLast = true;
    ping.signal();
    other.wait();
    done_.done();
  }

  void again() {
    if (isOver_) {
      done_.done();
    } else if (GetParam() == Busy::SchedulingOnePlaced) {
      scheduler_.enqueueOn(1, Task([this] { again(); }));
    } else {
      schedule(Task([this] { again(); }, Task::Flags::SameThread));
    }
  }

  Scheduler scheduler_{smallConfig(2)};
  std::atomic<bool> isOver_{false};
  std::latch hasBegun_{1};
  WaitGroup done_;
};
INSTANTIATE_TEST_SUITE_P(Loads, StrandedTest,
                         ::testing::Values(Busy::Yielding, Busy::WakingEachOther, Busy::SchedulingThemselves,
                                           Busy::SchedulingOnePlaced),
                         nameOf);

// Blocks the calling thread until `flag` is set.
void blockUntil(const std::atomic<bool>& flag) {
  while (!flag) {
    std::this_thread::yield();
  }
}

// As an accept loop does that blocks its thread, again and again.
TEST_P(StrandedTest, TheTasksOfATaskThatBlocksItsThreadRunElsewhere) {
  constexpr int kRequests = 20;
  std::atomic<bool> isHandled[kRequests] = {};
  WaitGroup done(1);
  scheduler().enqueueOn(0, Task([&, done] {
                          for (std::atomic<bool>& handled : isHandled) {
                            schedule([&handled] { handled = true; });
                            blockUntil(handled);
                          }
                          done.done();
                        }));
  done.wait();
}

TEST_P(StrandedTest, SoDoManyThatItHasScheduledBefore) {
  constexpr int kTasks = 1000;
  std::atomic<int> numRun{0};
  std::atomic<bool> haveRun{false};
  WaitGroup done(1);
  scheduler().enqueueOn(0, Task([&, done] {
                          for (int i = 0; i < kTasks; ++i) {
                            schedule([&] { haveRun = ++numRun == kTasks; });
                          }
                          blockUntil(haveRun);
                          done.done();
                        }));
  done.wait();
}

// What came with a batch from the injector lies in the deque of the worker that is in the batch's first task.
TEST_P(StrandedTest, SoDoesTheRestOfABatchWhoseFirstTaskIsLong) {
  constexpr int kTasks = 20;
  std::latch isHeld(1), isQueued(1);
  std::atomic<int> numLeft{kTasks};
  std::atomic<bool> isBlocked{false}, areOthersRun{false};
  WaitGroup done(kTasks + 1);
  scheduler().enqueueOn(0, Task([&, done] {
                          isHeld.count_down();
                          isQueued.wait();
                          done.done();
                        }));
  isHeld.wait();
  for (int i = 0; i < kTasks; ++i) {
    scheduler().enqueue(Task([&, done] {
      const bool blocks = Scheduler::workerId() == 0 && !isBlocked.exchange(true);
      areOthersRun = --numLeft == 0;
      if (blocks) {
        blockUntil(areOthersRun);
      }
      done.done();
    }));
  }
  isQueued.count_down();
  done.wait();
}

TEST_P(StrandedTest, SoDoesTheSecondFunctionOfAJoinOnABoundThread) {
  scheduler().bind();
  std::latch isHeld(1);
  std::atomic<bool> isFree{false}, hasRun{false};
  WaitGroup done(1);
  scheduler().enqueueOn(0, Task([&, done] {
                          isHeld.count_down();
                          blockUntil(isFree);
                          done.done();
                        }));
  isHeld.wait();
  join([&] { blockUntil(hasRun); }, [&] { hasRun = true; });
  isFree = true;
  done.wait();
  Scheduler::unbind();
}

// Worker 1 is in a step in which worker 0 schedules a task, and does not poll for long afterwards.
TEST(StrandedStepsTest, ATaskWaitsForNoLongerThanTheStepInWhichItIsScheduled) {
  const auto longStep = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  // A worker that has just searched polls after up to 61 dequeues, until it has measured longer ones. And if
  // the task has begun in a turn of others, its first step counts as theirs, which costs them the turns of up
  // to 70 ms.
  const auto shortStep = [] { std::this_thread::sleep_for(std::chrono::microseconds(200)); };
  constexpr int kShortStepsBefore = 2 * 61;
  constexpr int kStepsBefore = 5;
  Scheduler scheduler(smallConfig(2));
  std::latch isScheduled(1);
  std::atomic<bool> hasRun{false};
  int numStepsAfter = 0;
  const WaitGroup done(2);
  scheduler.enqueueOn(1, Task([&, done] {
                        for (int i = 0; i < kShortStepsBefore; ++i) {
                          shortStep();
                          yield();
                        }
                        for (int i = 0; i < kStepsBefore; ++i) {
                          longStep();
                          yield();
                        }
                        scheduler.enqueueOn(0, Task([&, done] {
                                              schedule([&] { hasRun = true; });
                                              isScheduled.count_down();
                                              blockUntil(hasRun);
                                              done.done();
                                            }));
                        isScheduled.wait();
                        longStep();
                        for (yield(); !hasRun; yield()) {
                          ++numStepsAfter;
                          longStep();
                        }
                        done.done();
                      }));
  done.wait();
  EXPECT_EQ(numStepsAfter, 0);
}

// Two threads are in one task each for long, and one of them always has tasks.
class StrandedOfTwoTest : public ::testing::Test {
 protected:
  // Keeps the last worker busy until hasRun().
  void yieldOnLastOf(Scheduler& scheduler, const WaitGroup& done) {
    scheduler.enqueueOn(scheduler.config().workerThread.count - 1, Task([this, done] {
                          isHeld_.count_down();
                          while (!hasRun_) {
                            yield();
                          }
                          done.done();
                        }));
    isHeld_.wait();
  }

  std::atomic<bool>& hasRun() { return hasRun_; }

  static constexpr int kMany = 1'000;

 private:
  std::latch isHeld_{1};
  std::atomic<bool> hasRun_{false};  // the other one's only task
};

class StrandedWorkersTest : public StrandedOfTwoTest, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Busy, StrandedWorkersTest, ::testing::Values(0, 1));

TEST_P(StrandedWorkersTest, OneThatAlwaysHasTasksDoesNotKeepTheOtherWaiting) {
  std::atomic<int> numQueued{0};
  Scheduler scheduler(smallConfig(3));
  const WaitGroup done(3);
  yieldOnLastOf(scheduler, done);
  std::latch isBusy(1);
  scheduler.enqueueOn(GetParam(), Task([&, done] {
                        while (!hasRun()) {
                          for (; numQueued < kMany; ++numQueued) {
                            schedule([&] {
                              --numQueued;
                              // The busy one may be off its processor for long.
                              while (numQueued < kMany / 2 && !hasRun()) {
                                std::this_thread::yield();
                              }
                            });
                          }
                          if (!isBusy.try_wait()) {
                            isBusy.count_down();
                          }
                          std::this_thread::yield();
                        }
                        done.done();
                      }));
  isBusy.wait();
  scheduler.enqueueOn(1 - GetParam(), Task([&, done] {
                        schedule([&] { hasRun() = true; });
                        blockUntil(hasRun());
                        done.done();
                      }));
  done.wait();
}

// Brings worker 0 near to worker 2.
void orderVictims(Scheduler& scheduler) {
  std::latch isSet(1);
  scheduler.enqueueOn(2, Task([&] {
                        detail::Worker& worker = *detail::Worker::current();
                        detail::VictimOrder order(worker.group().allocator);
                        order.victims.assign({0, 1, 3});
                        order.ringEnds.assign({1, 3});
                        worker.setVictims(std::move(order));
                        isSet.count_down();
                      }));
  isSet.wait();
}

// Worker 2 always finds tasks of worker 0, which is near. Workers 1 and 3 are in one task for long.
TEST_F(StrandedOfTwoTest, AThiefThatAlwaysFindsTasksNearbyTakesThoseFarAwayToo) {
  std::atomic<int> numQueued{0};
  std::atomic<bool> isBusy{false};
  Scheduler scheduler(smallConfig(4));
  orderVictims(scheduler);
  const WaitGroup done(3);
  std::latch areHeld(2);
  scheduler.enqueueOn(3, Task([&, done] {
                        areHeld.count_down();
                        blockUntil(hasRun());
                        done.done();
                      }));
  scheduler.enqueueOn(1, Task([&, done] {
                        areHeld.count_down();
                        blockUntil(isBusy);
                        schedule([&] { hasRun() = true; });
                        blockUntil(hasRun());
                        done.done();
                      }));
  areHeld.wait();
  scheduler.enqueueOn(0, Task([&, done] {
                        while (!hasRun()) {
                          for (; numQueued < kMany; ++numQueued) {
                            schedule([&] {
                              --numQueued;
                              // Worker 0 may be off its processor for long.
                              while (numQueued < kMany / 2 && !hasRun()) {
                                std::this_thread::yield();
                              }
                            });
                          }
                          isBusy = true;
                          std::this_thread::yield();
                        }
                        done.done();
                      }));
  done.wait();
}

TEST_F(StrandedOfTwoTest, ABoundThreadThatAlwaysForksDoesNotKeepAnotherWaiting) {
  Scheduler scheduler(smallConfig(1));
  const WaitGroup done(1);
  yieldOnLastOf(scheduler, done);
  std::latch hasForked(1);
  std::thread other([&] {
    const Scheduler::Binding bound(scheduler);
    join(
        [&] {
          hasForked.count_down();
          blockUntil(hasRun());
        },
        [&] { hasRun() = true; });
  });
  hasForked.wait();
  const Scheduler::Binding bound(scheduler);
  std::atomic<int> numQueued{0};
  TaskGroup group;
  while (!hasRun()) {
    for (; numQueued < kMany; ++numQueued) {
      group.run([&] { --numQueued; });
    }
    std::this_thread::yield();
  }
  group.wait();
  other.join();
  done.wait();
}

}  // namespace
}  // namespace weft
