// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What is known to go wrong with marl, line by line, as far as weft has it. What is a matter of time (long
// timed waits, tasks that wait beside an idle worker, the cost of idling) is in benchmarks/.

#include <weft/weft.h>

#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "count_mallocs.h"
#include "late_turns.h"
#include "waiting.h"

namespace weft {
namespace {

using std::chrono::steady_clock;
using tests::awaitThat;
using tests::Crew;
using tests::Kind;
using tests::kKinds;
using tests::milliseconds;
using tests::scaled;
using tests::smallConfig;

class MarlFaultsTest : public tests::WithScheduler {
 protected:
  template <class F>
  void inATask(F f) {
    Crew crew(scheduler());
    crew.start(Kind::Task, std::move(f));
  }
};
WEFT_INSTANTIATE_WITH_SCHEDULER(MarlFaultsTest);

class MarlFaultsOfSchedulersTest : public tests::WithAllocator {};

// ConditionVariable: two notify_one() hit the same fiber, and a fiber swallows a notify meant for a thread.

TEST_P(MarlFaultsTest, TwoNotifyOneInARowWakeTwo) {
  for (Kind first : kKinds) {
    for (Kind second : kKinds) {
      tests::expectTwoWakesWakeTwo<tests::StdVariableGate>(scheduler(), first, second);
    }
  }
}

TEST_P(MarlFaultsTest, NotifyGoesToTheThreadThatWaitsFirstAndNotToAFiber) {
  std::mutex guard;
  ConditionVariable variable;
  std::atomic<int> numBack{0};
  const auto wait = [&](int place) {
    std::unique_lock held(guard);
    variable.wait(held);
    EXPECT_EQ(numBack++, place);
  };
  Crew crew(scheduler());
  crew.start(Kind::FreeThread, [&] { wait(0); });
  awaitThat([&] { return tests::numWaiting(variable) == 1; });
  crew.start(Kind::Task, [&] { wait(1); });
  awaitThat([&] { return tests::numWaiting(variable) == 2; });
  variable.notify_one();
  awaitThat([&] { return numBack == 1; });
  variable.notify_one();
}

// Timed waits: false though the predicate is true; 300 years end at once; a timer starves beside a busy task.

TEST_P(MarlFaultsTest, TimedWaitIsTrueWhereThePredicateIs) {
  for (Kind kind : kKinds) {
    Crew crew(scheduler());
    crew.start(kind, [] {
      mutex guard;
      ConditionVariable variable;
      lock held(guard);
      bool isTrue = false;
      // True only once the time is up.
      const auto time = steady_clock::now() + milliseconds(1);
      const auto pred = [&] { return isTrue = steady_clock::now() >= time; };
      EXPECT_TRUE(variable.wait_until(held, time, pred));
      EXPECT_TRUE(variable.wait_for(held, milliseconds(0), [] { return true; }));
    });
  }
  inATask([] {
    std::mutex guard;
    std::unique_lock held(guard);
    const auto time = steady_clock::now() + milliseconds(1);
    EXPECT_TRUE(Fiber::current()->wait(held, time, [&] { return steady_clock::now() >= time; }));
  });
}

TEST_P(MarlFaultsTest, WaitOfThreeHundredYearsDoesNotReturnAtOnce) {
  for (Kind kind : kKinds) {
    const Event event;
    Crew crew(scheduler());
    crew.start(kind, [=] { EXPECT_TRUE(event.wait_for(tests::kThreeHundredYears)); });
    awaitThat([&] { return tests::numWaiting(event) == 1; });
    event.signal();
  }
}

struct Restless {
  void operator()() const {
    turns->add();
    if (!*mayStop) {
      schedule(*this);
    } else {
      stopped.done();
    }
  }
  tests::LateTurns* turns;
  std::shared_ptr<std::atomic<bool>> mayStop = std::make_shared<std::atomic<bool>>(false);
  WaitGroup stopped{1};
};

TEST_P(MarlFaultsTest, TimerFiresBesideATaskThatSchedulesItselfAgain) {
  tests::LateTurns turns;
  const Restless restless{&turns};
  schedule(restless);
  inATask([&] {
    const auto waitInVain = [](auto time) { EXPECT_FALSE(Event().wait_until(time)); };
    EXPECT_LE(turns.during(milliseconds(10), waitInVain), tests::LateTurns::kMost);
  });
  *restless.mayStop = true;
  restless.stopped.wait();
}

// Tasks: SameThread at the front of a queue hides all behind it from thieves.

TEST_P(MarlFaultsTest, SameThreadTaskHidesNoOthersFromThieves) {
  if (numWorkers() < 2) {
    return;  // there are no thieves
  }
  const WaitGroup own(3);
  std::atomic<int> numStolen{0};
  inATask([&, own] {
    for (int i = 0; i < 3; ++i) {
      schedule(Task([=] { own.done(); }, Task::Flags::SameThread));
      schedule([&] { ++numStolen; });
    }
    // It does not suspend: the others can take what it scheduled, and nobody runs what only this thread may
    // run.
    while (numStolen < 3) {
      sched_yield();
    }
  });
  own.wait();
}

// Exceptions: interleaved catch blocks exchange exceptions; a throw on recycled stack memory crashes.

TEST_P(MarlFaultsTest, InterleavedCatchBlocksKeepTheirExceptions) {
  constexpr int kTasks = 8;
  Crew crew(scheduler());
  for (int i = 0; i < kTasks; ++i) {
    crew.start(i % 4 == 3 ? Kind::BoundThread : Kind::Task, [i] {
      for (int round = 0; round < 20; ++round) {
        const std::string mine = std::to_string(1000 * i + round);
        try {
          throw std::runtime_error(mine);
        } catch (const std::runtime_error&) {
          yield();
          try {
            throw;
          } catch (const std::runtime_error& error) {
            yield();
            EXPECT_EQ(error.what(), mine);
          }
          sleep_for(std::chrono::microseconds(1));
          EXPECT_EQ(std::uncaught_exceptions(), 0);
        }
      }
    });
  }
}

TEST_P(MarlFaultsTest, ExceptionsAreThrownOnStacksThatWereUsedBefore) {
  for (int round = 0; round < 5; ++round) {
    WaitGroup group(50);
    for (int i = 0; i < 50; ++i) {
      schedule([=] {
        // Leaves its traces on the stack for the next task.
        volatile char traces[4096];
        for (volatile char& byte : traces) {
          byte = static_cast<char>(0xa5);
        }
        yield();
        try {
          throw std::array<int, 4>{1, 2, 3, i};
        } catch (const std::array<int, 4>& thrown) {
          yield();
          EXPECT_EQ(thrown[3], i);
        }
        group.done();
      });
    }
    group.wait();
  }
}

// Stacks: 40,000 fibers abort with guards; odd sizes crash; sizes are cut to 32 bits; stacks are executable.

uint64_t fibersOf(const Scheduler& scheduler) {
  uint64_t count = 0;
  for (const auto& worker : scheduler.stats().workers) {
    count += worker.numFibers;
  }
  return count;
}

TEST_F(MarlFaultsOfSchedulersTest, FortyThousandFibersMayBlock) {
  const int numFibers = scaled(40'000, 4'000);
  for (int numWorkers : {0, 1}) {
    Scheduler scheduler(smallConfig(numWorkers, allocator()));
    Scheduler::Binding bound(scheduler);
    const Event go(Event::Mode::Manual);
    const WaitGroup done(static_cast<unsigned>(numFibers));
    for (int i = 0; i < numFibers; ++i) {
      schedule([=] {
        go.wait();
        done.done();
      });
    }
    // Starts when all the others wait. Once they have ended, the worker gives fibers back.
    uint64_t mostFibers = 0;
    schedule([&, go] {
      mostFibers = fibersOf(scheduler);
      go.signal();
    });
    done.wait();
    EXPECT_GE(mostFibers, static_cast<uint64_t>(numFibers));
  }
}

// Calls itself until its frames fill `bytes`.
[[gnu::noinline]] int fillStack(size_t bytes) {
  volatile char frame[1024];
  frame[0] = 1;
  return bytes < sizeof frame ? frame[0] : fillStack(bytes - sizeof frame) + frame[0];
}

TEST_F(MarlFaultsOfSchedulersTest, StacksMayHaveAnySize) {
  for (const size_t size : {size_t{65'537}, size_t{100'001}, size_t{1'000'003}, size_t{1} << 31}) {
    for (int numWorkers : {0, 1}) {
      Scheduler scheduler(Scheduler::Config()
                              .setAllocator(allocator())
                              .setWorkerThreadCount(numWorkers)
                              .setFiberStackSize(size));
      Scheduler::Binding bound(scheduler);
      WaitGroup done(1);
      schedule([=] {
        // What a size cut to 31 bits or fewer would not hold.
        EXPECT_GT(fillStack(size < 1'000'000 ? size / 8 : size_t{400'000}), 0);
        done.done();
      });
      done.wait();
    }
  }
}

TEST_P(MarlFaultsTest, NoMemoryIsWritableAndExecutable) {
  inATask([] {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      EXPECT_EQ(line.find(" rwx"), std::string::npos) << line;
    }
  });
}

// Threads: workers leave the process's mask; 300 overflow an array.

TEST_F(MarlFaultsOfSchedulersTest, WorkersStayWithinTheMaskOfTheProcess) {
  std::thread([this] {
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    int last = CPU_SETSIZE - 1;
    while (!CPU_ISSET(last, &all)) {
      --last;
    }
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(last, &mask);
    ASSERT_EQ(sched_setaffinity(0, sizeof mask, &mask), 0);
    EXPECT_EQ(Scheduler::Config::allCores().workerThread.count, 1);
    Scheduler scheduler(smallConfig(2, allocator()));
    Scheduler::Binding bound(scheduler);
    WaitGroup done(20);
    for (int i = 0; i < 20; ++i) {
      schedule([=] {
        cpu_set_t workers;
        EXPECT_EQ(sched_getaffinity(0, sizeof workers, &workers), 0);
        EXPECT_TRUE(CPU_EQUAL(&workers, &mask));
        done.done();
      });
    }
    done.wait();
  }).join();
}

TEST_F(MarlFaultsOfSchedulersTest, ThreeHundredWorkersWork) {
  constexpr int kTasks = 1'000;
  std::atomic<int> numRun{0};
  {
    Scheduler scheduler(smallConfig(300, allocator()));
    Scheduler::Binding bound(scheduler);
    for (int i = 0; i < kTasks; ++i) {
      schedule([&] { ++numRun; });
    }
  }
  EXPECT_EQ(numRun, kTasks);
}

// Event::any: leaks its dependents. In event_test: a million of them take no memory.

TEST_F(MarlFaultsOfSchedulersTest, AnyEventsOnOneSourceAreNotKept) {
  const Event source(Event::Mode::Auto, false, allocator());
  const auto before = allocator()->stats().numAllocations();
  for (int i = 0; i < 1'000; ++i) {
    const Event any = Event::any(&source, &source + 1);
  }
  EXPECT_EQ(allocator()->stats().numAllocations(), before);
  EXPECT_EQ((*(source.*member(tests::EventState{}))).forwards, nullptr);
}

// Release: schedule() with nothing bound crashes; done() below zero passes.

TEST(MarlFaultsDeathTest, ScheduleWithNothingBoundSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(schedule([] {}), "no scheduler is bound.*Did you forget to call marl::Scheduler::bind");
}

TEST(MarlFaultsDeathTest, DoneBelowZeroSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // Programs written for marl look for its words.
  EXPECT_DEATH(WaitGroup().done(), "done\\(\\) called too many times");
}

// Types: move-only captures and arguments, and steady_clock, do not compile.

TEST_P(MarlFaultsTest, MoveOnlyTypesAndEveryClockCompile) {
  WaitGroup done(3);
  schedule([number = std::make_unique<int>(1), done]() mutable {
    EXPECT_EQ(*std::exchange(number, nullptr), 1);
    done.done();
  });
  schedule(
      [](std::unique_ptr<int> number, WaitGroup group) {
        EXPECT_EQ(*number, 2);
        group.done();
      },
      std::make_unique<int>(2), done);
  inATask([=] {
    EXPECT_FALSE(Fiber::current()->wait(steady_clock::now()));
    EXPECT_FALSE(Fiber::current()->wait(std::chrono::system_clock::now()));
    EXPECT_FALSE(Fiber::current()->wait(tests::SetBackClock::now()));
    EXPECT_FALSE(Event().wait_until(steady_clock::now()));
    done.done();
  });
  done.wait();
}

// Memory: more than a malloc for each task that captures a handle, five for a timed event.

TEST_P(MarlFaultsTest, TasksWithHandlesAndTimedEventsAllocateNothing) {
  if (!tests::kCountsMallocs) {
    return;
  }
  const auto work = [] {
    for (int i = 0; i < 200; ++i) {
      const Event event;
      const WaitGroup group(1);
      schedule([=] {
        event.signal();
        group.done();
      });
      EXPECT_TRUE(event.wait_for(std::chrono::hours(1)));
      group.wait();
    }
  };
  uint64_t numNew = 1;
  for (int attempt = 0; numNew != 0 && attempt < 50; ++attempt) {
    const uint64_t before = tests::numMallocs();
    work();
    numNew = tests::numMallocs() - before;
  }
  EXPECT_EQ(numNew, 0u);
}

}  // namespace
}  // namespace weft
