// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/task.h>
#include <weft/taskgroup.h>
#include <weft/trace.h>
#include <weft/waitgroup.h>

#include "children.h"
#include "temporary_folder.h"
#include "trace_files.h"
#include "waiting.h"

// The limits of the flight recorder: which runs and wakes have it write a file, and which have not.
namespace weft {
namespace {
namespace trace_limits_test {

using namespace std::chrono_literals;
using tests::contentsOf;
using tests::exists;
using tests::isWholeJson;

using TraceLimitsDeathTest = tests::TraceFilesTest;

void computeFor(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

// Returns once the thread that dumps has written that file, and said so.
void awaitTold(const std::string& file, const std::string& after) {
  tests::awaitThat([&] { return isWholeJson(file); });
  trace::dumpOnSignal(SIGUSR2, after.c_str());
  raise(SIGUSR2);
  tests::awaitThat([&] { return isWholeJson(after); });
}

TEST_F(TraceLimitsDeathTest, ALongRunHasAFileWritten) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        tests::endWithTheTest();
        trace::start({.path = file.c_str(), .longestRun = 2ms, .dumpInterval = 1h});
        {
          Scheduler scheduler(Scheduler::Config{});
          Scheduler::Binding bound(scheduler);
          schedule([] {});  // not late
          schedule([] { computeFor(3ms); });
        }
        awaitTold(file, path("after.json"));
        // Within the interval there is no other one.
        Scheduler scheduler(Scheduler::Config{});
        Scheduler::Binding bound(scheduler);
        const WaitGroup done(1);
        schedule([] { computeFor(3ms); });
        schedule([done] { done.done(); });
        done.wait();
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "weft: task .*ALongRunHasAFileWritten.* ran for [0-9.]+ ms in one go on main thread [0-9]+, "
      "longer than trace::Config::longestRun: "
      "the events of the flight recorder are in .*late.json\n");
  EXPECT_NE(contentsOf(file).find("longer than trace::Config::longestRun"), std::string::npos);
  EXPECT_FALSE(exists(path("late-2.json")));
}

TEST_F(TraceLimitsDeathTest, ALongRunIsToldWhileItsTaskLives) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        tests::endWithTheTest();
        trace::start({.path = file.c_str(), .longestRun = 2ms, .dumpInterval = 1h});
        Scheduler scheduler(tests::smallConfig(1));
        scheduler.enqueue(Task([=] {
          const Event never;
          while (!isWholeJson(file)) {
            computeFor(3ms);
            never.wait_for(1ms);
          }
        }));
        awaitTold(file, path("after.json"));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "weft: task .* ran for [0-9.]+ ms in one go on worker 0, longer than");
  EXPECT_TRUE(isWholeJson(file));
}

TEST_F(TraceLimitsDeathTest, ATaskInPlaceCountsForTheOneThatWaitsForIt) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        tests::endWithTheTest();
        trace::start({.path = file.c_str(), .longestRun = 4ms, .dumpInterval = 1h});
        {
          Scheduler scheduler(Scheduler::Config{});
          Scheduler::Binding bound(scheduler);
          schedule([] {
            TaskGroup group;
            group.run([] { computeFor(2ms); });
            group.run([] { computeFor(2ms); });
            group.wait();
          });
        }
        awaitTold(file, path("after.json"));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "weft: task .* ran for [0-9.]+ ms in one go on main thread");
  EXPECT_TRUE(isWholeJson(file));
}

// A task that lives long, and waits and yields meanwhile, does not run long.
TEST_F(TraceLimitsDeathTest, ManyRunsOfATaskAreNoLongRun) {
  // Longer than a system takes the processor away from a thread.
  constexpr auto kLimit = 400ms;
  constexpr auto kRun = 70ms;
  const std::string file = path();
  EXPECT_EXIT(
      {
        trace::start({.path = file.c_str(), .longestRun = kLimit, .dumpInterval = 0s});
        Scheduler scheduler(Scheduler::Config{});
        Scheduler::Binding bound(scheduler);
        const Event never;
        const WaitGroup done(1);
        schedule([=] {
          for (int i = 0; i < 3; ++i) {
            schedule([=] { computeFor(kRun); });
            yield();  // to that task
            computeFor(kRun);
            never.wait_for(kRun);
          }
          done.done();
        });
        done.wait();
        computeFor(kLimit + 10ms);  // outside of tasks
        std::exit(0);
      },
      testing::ExitedWithCode(0), "^$");
}

TEST_F(TraceLimitsDeathTest, ALateWakeHasAFileWritten) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        tests::endWithTheTest();
        trace::start({.path = file.c_str(), .longestWake = 2ms});
        {
          Scheduler scheduler(Scheduler::Config{});
          Scheduler::Binding bound(scheduler);
          const Event event;
          schedule([event] { event.wait(); });
          schedule([event] {
            event.signal();
            computeFor(3ms);
          });
        }
        awaitTold(file, path("after.json"));
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "task .* went on only [0-9.]+ ms after it was woken, longer than trace::Config::longestWake; "
      "main thread [0-9]+ ran task .* for [0-9.]+ ms of these: the events ");
}

TEST_F(TraceLimitsDeathTest, ALateTimerHasAFileWritten) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        tests::endWithTheTest();
        trace::start({.path = file.c_str(), .longestWake = 2ms});
        {
          Scheduler scheduler(Scheduler::Config{});
          Scheduler::Binding bound(scheduler);
          schedule([=] {
            const Event never;
            while (!isWholeJson(file)) {
              schedule([] { computeFor(10ms); });
              never.wait_for(1ms);
            }
          });
        }
        awaitTold(file, path("after.json"));
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "task .* went on only [0-9.]+ ms after its time had come, longer than trace::Config::longestWake");
}

TEST_F(TraceLimitsDeathTest, ATaskThatRanLongBeforeTheWakeIsNotBlamed) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        tests::endWithTheTest();
        trace::start({.path = file.c_str(), .longestWake = 2ms});
        {
          Scheduler scheduler(Scheduler::Config{});
          Scheduler::Binding bound(scheduler);
          const Event event;
          const WaitGroup done(1);
          schedule([=] {
            event.wait();
            done.done();
          });
          yield();  // until it waits
          schedule([] { computeFor(5ms); });
          yield();
          event.signal();
          computeFor(3ms);  // outside of tasks
          done.wait();
        }
        awaitTold(file, path("after.json"));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "after it was woken, longer than trace::Config::longestWake: the events ");
}

// What a fiber has run since an earlier wake does not count, nor do its waits.
TEST_F(TraceLimitsDeathTest, LongRunsAndLongWaitsAreNoLateWakes) {
  // Longer than a system takes the processor away from a thread that has just woken a fiber.
  constexpr auto kLimit = 400ms;
  constexpr auto kLonger = 480ms;
  const std::string file = path();
  EXPECT_EXIT(
      {
        trace::start({.path = file.c_str(), .longestWake = kLimit, .dumpInterval = 0s});
        Scheduler scheduler(Scheduler::Config{});
        Scheduler::Binding bound(scheduler);
        const Event event;
        const Event other;
        const WaitGroup done(1);
        schedule([=] {
          event.wait();
          computeFor(kLonger);
          yield();
          other.wait_for(kLonger);
          done.done();
        });
        schedule([event] { event.signal(); });
        done.wait();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "^$");
}

TEST_F(TraceLimitsDeathTest, TheEnvironmentSetsLimits) {
  const std::string file = path();
  const auto obey = [&](const char* to, const char* run, const char* wake) {
    setenv("WEFT_TRACE", to, 1);
    unlink(file.c_str());  // of a process before
    unlink(path("after.json").c_str());
    setenv("WEFT_TRACE_LONGEST_RUN", run, 1);
    setenv("WEFT_TRACE_LONGEST_WAKE", wake, 1);
    tests::endWithTheTest();
    {
      Scheduler scheduler(Scheduler::Config{});
      Scheduler::Binding bound(scheduler);
      const Event event;
      schedule([event] { event.wait(); });
      schedule([event] {
        event.signal();
        computeFor(2ms);
      });
    }
    if (*to != '\0' && (run == std::string("1.5") || wake == std::string("0.5"))) {
      awaitTold(file, path("after.json"));
    }
    std::exit(0);
  };
  const auto ends = testing::ExitedWithCode(0);
  EXPECT_EXIT(obey(file.c_str(), "1.5", ""), ends, "longer than trace::Config::longestRun: .*late.json\n");
  EXPECT_EXIT(obey(file.c_str(), "", "0.5"), ends, "longer than trace::Config::longestWake; .*late.json\n");
  for (const char* const wrong : {"soon", "-1", "1.5.5", "0", "1e9", "99999999999999999999"}) {
    EXPECT_EXIT(obey(file.c_str(), wrong, ""), ends,
                "WEFT_TRACE_LONGEST_RUN=.* is no number of milliseconds");
  }
  EXPECT_EXIT(obey("", "", "0.5"), ends, "WEFT_TRACE_LONGEST_WAKE=0.5 has no effect without WEFT_TRACE");
}

}  // namespace trace_limits_test
}  // namespace
}  // namespace weft
