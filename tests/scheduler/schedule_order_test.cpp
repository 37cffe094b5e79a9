// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <iterator>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/fiber.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/waitgroup.h>

#include "restless.h"
#include "with_scheduler.h"
#include "workers.h"
#include "workloads.h"

// In what order things run, and that nothing waits for ever.
namespace weft {
namespace {

using tests::queueTogether;
using tests::Restless;
using tests::scaled;
using tests::upTo;

class ScheduleOrderTest : public tests::WithScheduler {};
// With one worker, or with none, the order is certain.
INSTANTIATE_TEST_SUITE_P(OneThread, ScheduleOrderTest, ::testing::Values(0, 1),
                         [](const auto& numWorkers) { return std::to_string(numWorkers.param); });

TEST_P(ScheduleOrderTest, TasksFromOutsideStartFirstInFirstOut) {
  constexpr int kTasks = 1000;
  std::vector<int> order;
  WaitGroup done(kTasks);
  queueTogether(scheduler(), [&] {
    for (int i = 0; i < kTasks; ++i) {
      schedule([&order, i, done] {
        order.push_back(i);
        done.done();
      });
    }
  });
  done.wait();
  EXPECT_EQ(order, upTo(kTasks));
}

TEST_P(ScheduleOrderTest, TasksFromOutsideThatBlockStartFirstInFirstOutToo) {
  constexpr int kTasks = 1000;
  std::vector<int> order;
  WaitGroup done(kTasks);
  Event go(Event::Mode::Manual);
  queueTogether(scheduler(), [&] {
    for (int i = 0; i < kTasks; ++i) {
      schedule([&order, i, done, go] {
        order.push_back(i);
        go.wait();
        done.done();
      });
    }
    schedule([go] { go.signal(); });
  });
  done.wait();
  EXPECT_EQ(order, upTo(kTasks));
}

TEST_P(ScheduleOrderTest, TasksFromInsideRunDepthFirst) {
  // Each inner node schedules its children, newest first to run, and ends: a subtree is finished before its
  // elder sibling begins.
  std::vector<std::string> order;
  WaitGroup done(1);
  struct Node {
    static void visit(std::vector<std::string>& visited, const std::string& name, const WaitGroup& group) {
      visited.push_back(name);
      for (const char* child : {"a", "b"}) {
        if (name.size() < 3) {
          group.add();
          schedule([&visited, next = name + child, group] { visit(visited, next, group); });
        }
      }
      group.done();
    }
  };
  schedule([&, done] { Node::visit(order, "r", done); });
  done.wait();
  EXPECT_EQ(order, (std::vector<std::string>{"r", "rb", "rbb", "rba", "ra", "rab", "raa"}));
}

TEST_P(ScheduleOrderTest, RecursionThatWaitsNeedsFibersInProportionToItsDepth) {
  constexpr unsigned kDepth = 18;
  EXPECT_EQ(tests::fibInTask(kDepth), 2584u);
  // Now and then the oldest task has its turn, and with it another path down.
  EXPECT_LT(tests::numFibers(scheduler()), 10u * kDepth);
}

TEST_P(ScheduleOrderTest, ResumableFibersRunBeforeNewTasks) {
  std::vector<std::string> order;
  Event go;
  WaitGroup done(3);
  Event isWaiting;
  schedule([&, isWaiting, go, done] {
    isWaiting.signal();
    go.wait();
    order.push_back("resumed");
    done.done();
  });
  isWaiting.wait();
  queueTogether(scheduler(), [&] {
    schedule([&, go, done] {
      schedule([&order, done] {
        order.push_back("new task");
        done.done();
      });
      go.signal();
      order.push_back("signalled");
      done.done();
    });
  });
  done.wait();
  EXPECT_EQ(order, (std::vector<std::string>{"signalled", "resumed", "new task"}));
}

TEST_P(ScheduleOrderTest, FibersResumeInTheOrderInWhichTheyWereWoken) {
  constexpr int kFibers = 50;
  std::vector<int> order;
  std::vector<Event> events(kFibers);
  for (Event& event : events) {
    event = Event();
  }
  WaitGroup waiting(kFibers), done(kFibers);
  for (int i = 0; i < kFibers; ++i) {
    schedule([&order, i, waiting, done, event = events[static_cast<size_t>(i)]] {
      waiting.done();
      event.wait();
      order.push_back(i);
      done.done();
    });
  }
  waiting.wait();
  schedule([events] {
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      event->signal();
    }
  });
  done.wait();
  std::vector<int> expected = upTo(kFibers);
  EXPECT_EQ(order, std::vector<int>(expected.rbegin(), expected.rend()));
}

TEST_P(ScheduleOrderTest, YieldLetsTheOtherFibersOfTheThreadRunFirst) {
  std::vector<std::string> order;
  WaitGroup waiting(2), done(2);
  Event go(Event::Mode::Manual);
  for (const char* name : {"a", "b"}) {
    schedule([&order, name, go, waiting, done] {
      waiting.done();
      go.wait();
      for (int i = 0; i < 3; ++i) {
        order.push_back(name);
        yield();
      }
      done.done();
    });
  }
  waiting.wait();
  schedule([go] { go.signal(); });
  done.wait();
  EXPECT_EQ(order, (std::vector<std::string>{"a", "b", "a", "b", "a", "b"}));
}

TEST_P(ScheduleOrderTest, TasksOfOneBatchFromTheInjectorStartInOrderAmongThoseOfTheWorker) {
  // More than one batch, with a nested task for each: what a task schedules runs before the next one from
  // outside.
  constexpr int kTasks = 300;
  std::vector<int> order;
  WaitGroup done(2 * kTasks);
  queueTogether(scheduler(), [&] {
    for (int i = 0; i < kTasks; ++i) {
      schedule([&order, i, done] {
        order.push_back(2 * i);
        schedule([&order, i, done] {
          order.push_back(2 * i + 1);
          done.done();
        });
        done.done();
      });
    }
  });
  done.wait();
  // Now and then a task from outside, or the oldest of all, comes first, lest nested ones keep it waiting for
  // ever.
  std::vector<int> fromOutside;
  std::copy_if(order.begin(), order.end(), std::back_inserter(fromOutside),
               [](int number) { return number % 2 == 0; });
  EXPECT_TRUE(std::is_sorted(fromOutside.begin(), fromOutside.end()));
  EXPECT_EQ(order.size(), 2u * kTasks);
}

// Nothing that goes on for ever keeps others from running. Each test hangs where that does not hold.
class StarvationTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(StarvationTest);

// Returns once a task from outside has run, one from inside, and one that sleeps.
void waitForOthers() {
  WaitGroup others(3);
  schedule([=] { others.done(); });
  schedule([=] {
    schedule([=] { others.done(); });
    sleep_for(std::chrono::microseconds(10));
    others.done();
  });
  others.wait();
}

TEST_P(StarvationTest, TasksThatScheduleThemselvesForeverKeepNothingFromRunning) {
  for (const Task::Flags flags : {Task::Flags::None, Task::Flags::SameThread}) {
    const int numRestless = std::max(numWorkers(), 1);
    Restless restless(numRestless, [] {}, flags);
    for (int i = 0; i < numRestless; ++i) {
      schedule([&] { restless.start(); });
    }
    waitForOthers();
  }
}

TEST_P(StarvationTest, TasksThatScheduleThemselvesForeverLeaveTheOldestOfAWorkersOwnTasksItsTurn) {
  const int numRestless = std::max(numWorkers(), 1);
  Restless restless(numRestless);
  WaitGroup others(static_cast<unsigned>(numRestless));
  for (int i = 0; i < numRestless; ++i) {
    schedule([&, others] {
      // Below the eternal one in one queue, which is used depth-first.
      schedule([=] { others.done(); });
      restless.start();
    });
  }
  others.wait();
}

TEST_P(StarvationTest, ATaskThatSchedulesItselfForeverDoesNotHoldUpABatchFromOutside) {
  if (numWorkers() != 1) {
    GTEST_SKIP() << "counts the turns of one worker";
  }
  // As many as a batch has at most.
  constexpr unsigned kOthers = 60;
  int turns = 0;
  Restless restless(1, [&] { ++turns; });
  WaitGroup others(kOthers);
  queueTogether(scheduler(), [&] {
    schedule([&] { restless.start(); });
    for (unsigned i = 0; i < kOthers; ++i) {
      schedule([&] {
        if (others.done()) {
          restless.requestStop();
        }
      });
    }
  });
  others.wait();
  restless.stop();
  // Most often one look brings a batch. After a long step tasks are taken one by one, at every 61st dequeue.
  EXPECT_LT(turns, static_cast<int>((kOthers + 2) * 61));
}

TEST_P(StarvationTest, FibersThatWakeEachOtherForeverKeepNothingFromRunning) {
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  const int numPairs = std::max(numWorkers(), 1);
  WaitGroup ended(static_cast<unsigned>(2 * numPairs));
  for (int i = 0; i < numPairs; ++i) {
    // Both on one thread, since the second is scheduled so by the first.
    schedule([=] {
      Event ping, pong;
      schedule(Task(
          [=] {
            do {
              ping.wait();
              pong.signal();
            } while (!*stop);
            ended.done();
          },
          Task::Flags::SameThread));
      while (!*stop) {
        ping.signal();
        pong.wait();
      }
      ping.signal();
      ended.done();
    });
  }
  waitForOthers();
  *stop = true;
  ended.wait();
}

TEST_P(StarvationTest, FibersThatYieldForeverKeepNothingFromRunning) {
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  const int numForever = std::max(numWorkers(), 1);
  WaitGroup ended(static_cast<unsigned>(numForever));
  for (int i = 0; i < numForever; ++i) {
    schedule([=] {
      while (!*stop) {
        yield();
      }
      ended.done();
    });
  }
  waitForOthers();
  *stop = true;
  ended.wait();
}

TEST_P(StarvationTest, SameThreadTasksDoNotHideOthersFromThieves) {
  if (numWorkers() < 2) {
    GTEST_SKIP() << "about thieves";
  }
  // The worker is held by its task, with one pinned task and then one that any worker may run behind it.
  std::latch isStolen(1);
  WaitGroup done(3);
  schedule([&, done] {
    schedule(Task([done] { done.done(); }, Task::Flags::SameThread));
    schedule([&, done] {
      isStolen.count_down();
      done.done();
    });
    isStolen.wait();
    done.done();
  });
  done.wait();
}

TEST_P(StarvationTest, LongRowsOfTasksThatEachWaitForTheOneBeforeNeedFewFibers) {
  tests::runRowOfTasks(scaled(20'000, 4'000));
  // Several workers may run ahead of each other: how far is up to the system.
  if (numWorkers() < 2) {
    EXPECT_LT(tests::numFibers(scheduler()), 100u);
  }
}

}  // namespace
}  // namespace weft
