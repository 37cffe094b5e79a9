// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <functional>
#include <latch>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/event.h>
#include <weft/fiber.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "in_task.h"
#include "waiting.h"
#include "with_scheduler.h"

// Tasks that are placed on one worker.
namespace weft {
namespace {

using tests::awaitThat;
using tests::scaled;
using tests::smallConfig;

class PlacementTest : public tests::WithScheduler {
 protected:
  // Calls place(worker, task) for tasks of each worker, again and again, and checks where and when they run:
  // in the order in which they were placed, and on their worker also after a wait.
  template <class Place>
  void expectInPlaceAndInOrder(Place place) {
    const int kRounds = scaled(100, 20);
    std::vector<std::vector<int>> order(static_cast<size_t>(numWorkers()));
    WaitGroup done;
    done.add(static_cast<unsigned>(numWorkers() * kRounds));
    for (int round = 0; round < kRounds; ++round) {
      for (int worker = 0; worker < numWorkers(); ++worker) {
        place(worker, Task([&order, worker, round, done] {
                EXPECT_EQ(Scheduler::workerId(), worker);
                order[static_cast<size_t>(worker)].push_back(round);
                yield();
                EXPECT_EQ(Scheduler::workerId(), worker);
                done.done();
              }));
      }
    }
    done.wait();
    for (const std::vector<int>& rounds : order) {
      for (int round = 0; round < kRounds; ++round) {
        EXPECT_EQ(rounds[static_cast<size_t>(round)], round);
      }
    }
  }

  int lastWorker() const { return numWorkers() - 1; }
};
WEFT_INSTANTIATE_WITH_SCHEDULER(PlacementTest);

// Of a scheduler with worker threads.
class PlacementOnWorkersTest : public PlacementTest {};
INSTANTIATE_TEST_SUITE_P(Workers, PlacementOnWorkersTest, ::testing::Values(1, 2, 4, 8, 64),
                         [](const auto& numWorkers) { return std::to_string(numWorkers.param); });

// With one worker, the order is certain.
class PlacementOrderTest : public PlacementTest {};
INSTANTIATE_TEST_SUITE_P(OneThread, PlacementOrderTest, ::testing::Values(1),
                         [](const auto& numWorkers) { return std::to_string(numWorkers.param); });

TEST_P(PlacementTest, ABoundThreadPlacesTasks) {
  expectInPlaceAndInOrder([&](int worker, Task task) { scheduler().enqueueOn(worker, std::move(task)); });
}

TEST_P(PlacementTest, AnUnboundThreadPlacesTasks) {
  std::thread([&] {
    expectInPlaceAndInOrder([&](int worker, Task task) { scheduler().enqueueOn(worker, std::move(task)); });
  }).join();
}

TEST_P(PlacementTest, ATaskPlacesTasks) {
  tests::inTask([&] {
    expectInPlaceAndInOrder([&](int worker, Task task) { scheduler().enqueueOn(worker, std::move(task)); });
  });
}

TEST_P(PlacementTest, ATaskOfAnotherSchedulerPlacesTasks) {
  Scheduler other(smallConfig(1));
  WaitGroup done(1);
  other.enqueue([&, done] {
    expectInPlaceAndInOrder([&](int worker, Task task) { scheduler().enqueueOn(worker, std::move(task)); });
    done.done();
  });
  done.wait();
}

TEST_P(PlacementTest, ManySendersPlaceTasksEachInItsOrder) {
  constexpr int kSenders = 4;
  const int kTasks = scaled(2'000, 200);
  tests::Crew crew(scheduler());
  for (int sender = 0; sender < kSenders && numWorkers() > 0; ++sender) {
    crew.start(tests::kindOf(sender), [&] {
      int next = 0;
      WaitGroup done(static_cast<unsigned>(kTasks));
      for (int i = 0; i < kTasks; ++i) {
        scheduler().enqueueOn(lastWorker(), Task([&, i, done] {
                                EXPECT_EQ(Scheduler::workerId(), lastWorker());
                                EXPECT_EQ(next++, i);
                                done.done();
                              }));
      }
      done.wait();
    });
  }
}

TEST_P(PlacementTest, OnlyWorkerThreadsHaveANumber) {
  EXPECT_EQ(Scheduler::workerId(), -1);
  std::thread([] { EXPECT_EQ(Scheduler::workerId(), -1); }).join();
  tests::inTask([&] { EXPECT_EQ(Scheduler::workerId() >= 0, numWorkers() > 0); });
  std::atomic<int> numEnded{0};
  {
    Scheduler another(smallConfig(numWorkers())
                          .setWorkerThreadInitializer([](int id) { EXPECT_EQ(Scheduler::workerId(), id); })
                          .setWorkerThreadFinalizer([&](int) {
                            EXPECT_EQ(Scheduler::workerId(), -1);
                            ++numEnded;
                          }));
  }
  EXPECT_EQ(numEnded, numWorkers());
}

TEST_P(PlacementOnWorkersTest, WhatIsPlacedOnABusyWorkerWaitsForIt) {
  std::latch isBusy(1), mayEnd(1);
  scheduler().enqueueOn(lastWorker(), Task([&] {
                          isBusy.count_down();
                          mayEnd.wait();
                        }));
  isBusy.wait();
  std::atomic<int> numRun{0};
  WaitGroup done(10);
  for (int i = 0; i < 10; ++i) {
    scheduler().enqueueOn(lastWorker(), Task([&, done] {
                            EXPECT_EQ(Scheduler::workerId(), lastWorker());
                            ++numRun;
                            done.done();
                          }));
  }
  // The others have every opportunity.
  for (int i = 0; i < 100 && numWorkers() > 1; ++i) {
    tests::inTask([] {});
  }
  EXPECT_EQ(numRun, 0);
  mayEnd.count_down();
  done.wait();
}

TEST_P(PlacementOnWorkersTest, AWorkerThatSleepsIsWoken) {
  const auto numParks = [&] {
    return scheduler().stats().workers[static_cast<size_t>(lastWorker())].numParks;
  };
  for (int round = 0; round < scaled(200, 20); ++round) {
    const uint64_t before = numParks();
    WaitGroup done(1);
    scheduler().enqueueOn(lastWorker(), Task([done] { done.done(); }));
    done.wait();
    // Asleep by the next round, or, every other time, awake or about to sleep.
    awaitThat([&] { return round % 2 != 0 || numParks() > before; });
  }
}

// Work of the only worker that goes on as long as the object exists: fibers that yield, or a task that
// schedules itself again, in one of three ways.
enum class Busy { Fibers, Tasks, Pinned, Placed };

class Load {
 public:
  Load(Scheduler& scheduler, Busy busy) : scheduler_(scheduler), busy_(busy) {
    scheduler_.enqueueOn(0, Task([this] { begin(); }));
    begun_.wait();
  }
  ~Load() {
    isOver_ = true;
    done_.wait();
  }
  int numRounds() const { return numRounds_; }

 private:
  void begin() {
    if (busy_ == Busy::Fibers) {
      for (int i = 0; i < 2; ++i) {
        done_.add();
        schedule([this] {
          for (; !isOver_; ++numRounds_) {
            yield();
          }
          done_.done();
        });
      }
    } else {
      done_.add();
      again();
    }
    begun_.signal();
  }
  void again() {
    ++numRounds_;
    if (isOver_) {
      done_.done();
    } else if (busy_ == Busy::Placed) {
      scheduler_.enqueueOn(0, Task([this] { again(); }));
    } else {
      schedule(
          Task([this] { again(); }, busy_ == Busy::Pinned ? Task::Flags::SameThread : Task::Flags::None));
    }
  }

  Scheduler& scheduler_;
  const Busy busy_;
  std::atomic<bool> isOver_{false};
  std::atomic<int> numRounds_{0};
  WaitGroup done_;
  Event begun_;
};

class PlacementFairnessTest : public ::testing::TestWithParam<Busy> {
 protected:
  Scheduler& scheduler() { return scheduler_; }

 private:
  Scheduler scheduler_{smallConfig(1)};
};
INSTANTIATE_TEST_SUITE_P(Loads, PlacementFairnessTest,
                         ::testing::Values(Busy::Fibers, Busy::Tasks, Busy::Pinned, Busy::Placed));

// A task on the worker schedules another by schedule(task), which does the same, again and again. Returns:
// how many rounds the load had before one of them began, at most.
template <class Schedule>
int mostRoundsBefore(Scheduler& scheduler, const Load& load, Schedule schedule) {
  int most = 0, scheduledAt = 0, numLeft = 50;
  WaitGroup done(1);
  std::function<void()> run = [&] {
    most = std::max(most, load.numRounds() - scheduledAt);
    if (--numLeft == 0) {
      done.done();
      return;
    }
    scheduledAt = load.numRounds();
    schedule(Task([&] { run(); }));
  };
  scheduler.enqueueOn(0, Task([&] {
                        scheduledAt = load.numRounds();
                        run();
                      }));
  done.wait();
  return most;
}

TEST_P(PlacementFairnessTest, WhatIsPlacedRunsBesideWorkThatGoesOnForever) {
  const Load load(scheduler(), GetParam());
  const auto place = [&](Task task) { scheduler().enqueueOn(0, std::move(task)); };
  // Every other turn of those from outside, and one turn of the oldest between them.
  EXPECT_LE(mostRoundsBefore(scheduler(), load, place), 3 * 61 + 10);
}

TEST_P(PlacementFairnessTest, OthersRunBesideTasksThatArePlacedWithoutEnd) {
  const Load load(scheduler(), GetParam());
  for (int i = 0; i < 20; ++i) {
    WaitGroup done(1);
    scheduler().enqueue(Task([done] { done.done(); }));
    done.wait();
  }
  // The oldest starves after 1,037 dequeues, and is looked at after 244 each.
  EXPECT_LE(mostRoundsBefore(scheduler(), load, [](Task task) { schedule(std::move(task)); }),
            1037 + 2 * 244 + 10);
}

// A task that has placed another has scheduled something: what it then waits for is no sign that the oldest
// task should come first.
TEST_P(PlacementOrderTest, ATaskThatPlacesOneAndWaitsSaysNothingOfTheOrder) {
  std::string order;
  WaitGroup done(4);
  schedule([&, done] {
    for (const char name : {'x', 'y'}) {
      schedule([&, name, done] {
        order += name;
        done.done();
      });
    }
    schedule([&, done] {
      const Event event;
      scheduler().enqueueOn(0, Task([event] { event.signal(); }));
      event.wait();
      order += 'z';
      done.done();
    });
    done.done();
  });
  done.wait();
  EXPECT_EQ(order, "zyx");
}

TEST_P(PlacementOnWorkersTest, WhatIsPlacedLastRunsBeforeTheSchedulerEnds) {
  for (int round = 0; round < scaled(100, 20); ++round) {
    std::atomic<int> numRun{0};
    {
      Scheduler ending(smallConfig(numWorkers()));
      for (int worker = 0; worker < numWorkers(); ++worker) {
        ending.enqueueOn(worker, Task([&, worker] {
                           ++numRun;
                           ending.enqueueOn(lastWorker() - worker, Task([&] { ++numRun; }));
                         }));
      }
    }
    EXPECT_EQ(numRun, 2 * numWorkers());
  }
}

TEST_P(PlacementOnWorkersTest, ABoundThreadPlacesATaskAndUnbindsAtOnce) {
  std::atomic<int> numRun{0};
  scheduler().enqueueOn(0, Task([&] { ++numRun; }));
  destroyScheduler();
  EXPECT_EQ(numRun, 1);
}

TEST_P(PlacementOnWorkersTest, ASameThreadTaskMayBePlacedOnItsOwnThread) {
  WaitGroup done(1);
  scheduler().enqueueOn(lastWorker(), Task([&, done] {
                          scheduler().enqueueOn(lastWorker(),
                                                Task([done] { done.done(); }, Task::Flags::SameThread));
                        }));
  done.wait();
}

class PlacementDeathTest : public tests::DeathTest {};

TEST_F(PlacementDeathTest, ThereMustBeSuchAWorker) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(2));
        scheduler.enqueueOn(2, Task([] {}));
      },
      "weft: fatal: Scheduler::enqueueOn.*no worker 2. The scheduler has 2 .*numbered from 0");
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(2));
        scheduler.enqueueOn(-1, Task([] {}));
      },
      "Scheduler::enqueueOn.*no worker -1");
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(0));
        const Scheduler::Binding bound(scheduler);
        scheduler.enqueueOn(0, Task([] {}));
      },
      "Scheduler::enqueueOn.*has 0 worker threads .*setWorkerThreadCount");
}

TEST_F(PlacementDeathTest, ASameThreadTaskOfAnotherThreadIsRefused) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(1));
        scheduler.enqueueOn(0, Task([] {}, Task::Flags::SameThread));
      },
      "Scheduler::enqueueOn.*SameThread task was placed on worker 0 by another thread.*Drop the flag");
}

TEST_F(PlacementDeathTest, ASchedulerThatHasEndedIsToldSo) {
  EXPECT_DEATH(
      {
        Scheduler* scheduler = nullptr;
        Scheduler ending(
            smallConfig(1).setWorkerThreadFinalizer([&](int) { scheduler->enqueueOn(0, Task([] {})); }));
        scheduler = &ending;
      },
      "Scheduler::enqueueOn.*has ended, perhaps in a finalizer");
}

}  // namespace
}  // namespace weft
