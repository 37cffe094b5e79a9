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
#include "scheduler/fibers/fiber_factory.h"
#include "spin_until.h"
#include "temporary_folder.h"
#include "trace_files.h"
#include "waiting.h"

// The limits of the flight recorder: which runs and wakes have it write a file, and which have not.
namespace weft {
namespace {
namespace trace_limits_test {

using namespace std::chrono_literals;
using tests::contentsOf;
using tests::isWholeJson;
using tests::spinFor;

// Runs what `code` schedules on this thread alone.
template <class F>
void runTasks(F code) {
  Scheduler scheduler(Scheduler::Config{});
  Scheduler::Binding bound(scheduler);
  code();
}

class TraceLimitsDeathTest : public tests::TraceFilesTest {
 protected:
  // In a process of its own. What takes too long has path() written.
  void record(trace::Config limits) const {
    tests::endWithTheTest();
    const std::string file = path();
    limits.path = file.c_str();
    trace::start(limits);
  }

  // Returns once the thread that dumps has written path(), and said so.
  void awaitTold() const {
    const std::string after = path("after.json");
    tests::awaitThat([&] { return isWholeJson(path()); });
    trace::dumpOnSignal(SIGUSR2, after.c_str());
    raise(SIGUSR2);
    tests::awaitThat([&] { return isWholeJson(after); });
  }

  // Has `code` run with limits of which nothing is longer, and ends the process.
  template <class F>
  void exitWithAllEvents(const trace::Config& limits, F code) const {
    record(limits);
    runTasks(code);
    std::exit(trace::dump(path("all.json").c_str()) ? 0 : 1);
  }
  // What is longer than a limit is marked at once, and told later by another thread.
  void expectThatNothingIsMarked() const {
    EXPECT_TRUE(isWholeJson(path("all.json")));
    EXPECT_EQ(contentsOf(path("all.json")).find("longer than trace::Config"), std::string::npos);
  }

  // Has `code` run with limits of which something is longer, and ends the process when that is told.
  template <class F>
  void exitWhenTold(const trace::Config& limits, F code) const {
    record(limits);
    runTasks(code);
    awaitTold();
    std::exit(0);
  }
};

TEST_F(TraceLimitsDeathTest, ALongRunHasAFileWritten) {
  const auto code = [] {
    schedule([] {});  // not late
    schedule([] { spinFor(3ms); });
  };
  EXPECT_EXIT(exitWhenTold({.longestRun = 2ms}, code), testing::ExitedWithCode(0),
              "weft: task .*ALongRunHasAFileWritten.* ran for [0-9.]+ ms in one go on main thread [0-9]+, "
              "longer than trace::Config::longestRun: "
              "the events of the flight recorder are in .*late.json\n");
  EXPECT_NE(contentsOf(path()).find("longer than trace::Config::longestRun"), std::string::npos);
}

TEST_F(TraceLimitsDeathTest, ALongRunIsToldWhileItsTaskLives) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        record({.longestRun = 2ms, .dumpInterval = 1h});
        Scheduler scheduler(tests::smallConfig(1));
        scheduler.enqueue(Task([=] {
          const Event never;
          while (!isWholeJson(file)) {
            spinFor(3ms);
            never.wait_for(1ms);
          }
        }));
        awaitTold();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "weft: task .* ran for [0-9.]+ ms in one go on worker 0, longer than");
  EXPECT_TRUE(isWholeJson(file));
}

TEST_F(TraceLimitsDeathTest, ATaskInPlaceCountsForTheOneThatWaitsForIt) {
  const auto code = [] {
    schedule([] {
      TaskGroup group;
      group.run([] { spinFor(2ms); });
      group.run([] { spinFor(2ms); });
      group.wait();
    });
  };
  EXPECT_EXIT(exitWhenTold({.longestRun = 4ms, .dumpInterval = 1h}, code), testing::ExitedWithCode(0),
              "weft: task .* ran for [0-9.]+ ms in one go on main thread");
  EXPECT_TRUE(isWholeJson(path()));
}

// A task that lives long, and waits and yields meanwhile, does not run long.
TEST_F(TraceLimitsDeathTest, ManyRunsOfATaskAreNoLongRun) {
  // Longer than a system takes the processor away from a thread.
  constexpr auto kLimit = 400ms;
  constexpr auto kRun = 70ms;
  const auto code = [=] {
    const Event never;
    const WaitGroup done(1);
    schedule([=] {
      for (int i = 0; i < 3; ++i) {
        schedule([=] { spinFor(kRun); });
        yield();  // to that task
        spinFor(kRun);
        never.wait_for(kRun);
      }
      done.done();
    });
    done.wait();
    spinFor(kLimit + 10ms);  // outside of tasks
    const WaitGroup over(1);
    schedule([over] { over.done(); });
    over.wait();  // that ends what would be a run
  };
  EXPECT_EXIT(exitWithAllEvents({.longestRun = kLimit, .dumpInterval = 0s}, code), testing::ExitedWithCode(0),
              "^$");
  expectThatNothingIsMarked();
}

TEST_F(TraceLimitsDeathTest, ALateWakeHasAFileWritten) {
  const auto code = [] {
    const Event event;
    schedule([event] { event.wait(); });
    schedule([event] {
      event.signal();
      spinFor(3ms);
    });
  };
  EXPECT_EXIT(exitWhenTold({.longestWake = 2ms}, code), testing::ExitedWithCode(0),
              "task .* went on only [0-9.]+ ms after it was woken, longer than trace::Config::longestWake; "
              "main thread [0-9]+ ran task .* for [0-9.]+ ms of these: the events ");
}

TEST_F(TraceLimitsDeathTest, ALateWakeOfABoundThreadsOwnCodeHasAFileWritten) {
  const auto code = [] {
    const Event event;
    schedule([event] {
      event.signal();
      spinFor(3ms);
    });
    event.wait();
  };
  EXPECT_EXIT(exitWhenTold({.longestWake = 2ms}, code), testing::ExitedWithCode(0),
              "code outside of tasks went on only [0-9.]+ ms after it was woken, longer");
}

TEST_F(TraceLimitsDeathTest, ALateTimerHasAFileWritten) {
  const auto code = [this] {
    schedule([this] {
      const Event never;
      while (!isWholeJson(path())) {
        schedule([] { spinFor(10ms); });
        never.wait_for(1ms);
      }
    });
  };
  EXPECT_EXIT(
      exitWhenTold({.longestWake = 2ms}, code), testing::ExitedWithCode(0),
      "task .* went on only [0-9.]+ ms after its time had come, longer than trace::Config::longestWake");
}

TEST_F(TraceLimitsDeathTest, ATaskThatRanLongBeforeTheWakeIsNotBlamed) {
  const auto code = [] {
    const Event event;
    const WaitGroup done(1);
    schedule([=] {
      event.wait();
      done.done();
    });
    yield();  // until it waits
    schedule([] { spinFor(5ms); });
    yield();
    event.signal();
    spinFor(3ms);  // outside of tasks
    done.wait();
  };
  EXPECT_EXIT(exitWhenTold({.longestWake = 2ms}, code), testing::ExitedWithCode(0),
              "after it was woken, longer than trace::Config::longestWake: the events ");
}

// What a fiber has run since an earlier wake does not count, nor do its waits.
TEST_F(TraceLimitsDeathTest, LongRunsAndLongWaitsAreNoLateWakes) {
  // Longer than a system takes the processor away from a thread that has just woken a fiber.
  constexpr auto kLimit = 400ms;
  constexpr auto kLonger = 480ms;
  const auto code = [=] {
    const Event event;
    const Event other;
    const WaitGroup done(1);
    schedule([=] {
      event.wait();
      spinFor(kLonger);
      schedule([] {});
      yield();  // to that task
      other.wait_for(kLonger);
      done.done();
    });
    schedule([event] { event.signal(); });
    done.wait();
  };
  EXPECT_EXIT(exitWithAllEvents({.longestWake = kLimit, .dumpInterval = 0s}, code),
              testing::ExitedWithCode(0), "^$");
  expectThatNothingIsMarked();
}

// Nor does what was noted before there were limits, whether Scheduler::measure() is on or was. The first poll
// at which the thread follows comes at another place of each round: also just before the fiber goes on.
TEST_F(TraceLimitsDeathTest, WakesBeforeTheLimitsAreNoLateWakes) {
  const auto run = [&](bool isMeasured) {
    Scheduler scheduler(Scheduler::Config{});
    Scheduler::Binding bound(scheduler);
    scheduler.measure(isMeasured);
    for (int i = 0; i < 100; ++i) {
      const Event event;
      const WaitGroup done(1);
      schedule([=] {
        // As if an early wake had been noted, of which nobody has taken the time.
        auto& fiber = *static_cast<detail::FiberControlBlock*>(detail::currentFiber);
        detail::FiberFactory::wokenAt(fiber) = 1;
        event.wait();
        detail::FiberFactory::wokenAt(fiber) = 1;
        schedule([] {});
        yield();
        done.done();
      });
      yield();  // until it waits
      event.signal();
      record({.longestWake = 400ms, .dumpInterval = 0s});
      done.wait();
      trace::dump(path().c_str());
      if (contentsOf(path()).find("longer than trace::Config::longestWake") != std::string::npos) {
        std::exit(1);
      }
      trace::stop();
      for (int j = 0; j < 64 + i % 2; ++j) {  // more than a round has
        schedule([] {});
      }
      yield();
    }
  };
  EXPECT_EXIT(
      {
        run(true);
        run(false);
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
    runTasks([] {
      const Event event;
      schedule([event] { event.wait(); });
      schedule([event] {
        event.signal();
        spinFor(2ms);
      });
    });
    if (*to != '\0' && (run == std::string("1.5") || wake == std::string("0.5"))) {
      awaitTold();
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
