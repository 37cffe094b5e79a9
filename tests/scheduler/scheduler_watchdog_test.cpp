// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/watchdog.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "children.h"
#include "lock_circle.h"
#include "waiting.h"

// The watchdog with its thread. Its rules are in watchdog_rules_test.cpp.
namespace weft {
namespace {
namespace scheduler_watchdog_test {

using namespace std::chrono_literals;

using tests::smallConfig;
using Condition = Watchdog::Condition;

// Keeps what a watchdog tells.
class Told {
 public:
  Watchdog::Config config() {
    return Watchdog::Config()
        .setLongestTask(20ms)
        .setLongestDelay(20ms)
        .setLongestStandstill(20ms)
        .setHandler([this](const Watchdog::Report& report) {
          const std::scoped_lock lock(mutex_);
          reports_.push_back(report);
          changed_.notify_all();
        });
  }

  // Blocks until that was told.
  Watchdog::Report await(Condition condition, const std::string& part = "") {
    std::unique_lock lock(mutex_);
    for (size_t i = 0;; ++i) {
      changed_.wait(lock, [&] { return reports_.size() > i; });
      if (reports_[i].condition == condition && reports_[i].text.find(part) != std::string::npos) {
        return reports_[i];
      }
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Watchdog::Report> reports_;
};

class SchedulerWatchdogTest : public tests::WithAllocator {
 protected:
  Told told_;
};

TEST_F(SchedulerWatchdogTest, TellsOfALongTaskWhileItRunsAndWhenItIsOver) {
  const Watchdog watchdog(told_.config());
  Scheduler scheduler(smallConfig(1));
  scheduler.enqueue(Task([this] {
    const Watchdog::Report report = told_.await(Condition::LongTask);
    EXPECT_GE(report.duration, 20ms);
    EXPECT_NE(report.text.find("has run for at least"), std::string::npos) << report.text;
  }));
  (void)told_.await(Condition::LongTaskOver);
}

TEST_F(SchedulerWatchdogTest, TellsWhoWaitsBehindALongTask) {
  const Watchdog watchdog(told_.config());
  Scheduler scheduler(smallConfig(1));
  Event isThere, mayGoOn;
  scheduler.enqueue(Task([=] {
    isThere.signal();
    mayGoOn.wait();
  }));
  scheduler.enqueue(Task([=, this] {
    isThere.wait();
    mayGoOn.signal();
    (void)told_.await(Condition::Delay, "1 fiber ready to go on");
  }));
}

// Its thread has not looked yet for what others have placed on it.
TEST_F(SchedulerWatchdogTest, TellsOfATaskThatIsPlacedOnABusyWorker) {
  const Watchdog watchdog(told_.config());
  Scheduler scheduler(smallConfig(2));
  Event runs;
  scheduler.enqueueOn(0, Task([=, this] {
                        runs.signal();
                        (void)told_.await(Condition::Delay, "1 queued task waits behind task");
                      }));
  runs.wait();
  scheduler.enqueueOn(0, Task([] {}));
}

TEST_F(SchedulerWatchdogTest, TellsHowManyTasksArePlacedOnABusyWorker) {
  std::optional<Watchdog> watchdog;
  Scheduler scheduler(smallConfig(1));
  Event runs;
  scheduler.enqueueOn(0, Task([=, this] {
                        runs.signal();
                        (void)told_.await(Condition::Delay, "30 queued tasks wait behind task");
                      }));
  runs.wait();
  for (int i = 0; i < 30; ++i) {
    scheduler.enqueueOn(0, Task([] {}));
  }
  watchdog.emplace(told_.config());
}

TEST_F(SchedulerWatchdogTest, TellsOfATimerForWhichALongTaskHasNoTime) {
  const Watchdog watchdog(told_.config());
  Scheduler scheduler(smallConfig(1));
  Event isThere, never;
  scheduler.enqueue(Task([=] {
    isThere.signal();
    EXPECT_FALSE(never.wait_for(1ms));
  }));
  scheduler.enqueue(Task([=, this] {
    isThere.wait();
    (void)told_.await(Condition::Delay, "a timer due for");
  }));
}

TEST_F(SchedulerWatchdogTest, TellsOfAQueueBehindLongTasks) {
  const Watchdog watchdog(told_.config());
  Scheduler scheduler(smallConfig(1));
  Event runs;
  scheduler.enqueue(Task([=, this] {
    runs.signal();
    const Watchdog::Report report = told_.await(Condition::StuckQueue);
    EXPECT_NE(report.text.find("which has 1 task\n"), std::string::npos) << report.text;
    EXPECT_NE(report.text.find("runs task"), std::string::npos) << report.text;
  }));
  runs.wait();
  scheduler.enqueue(Task([] {}));
}

TEST_F(SchedulerWatchdogTest, TellsOfADeadlockWithItsStacks) {
  const Watchdog watchdog(told_.config().setLongestTask(1h).setLongestDelay(1h).setLongestStandstill(1h));
  tests::LockCircle circle;
  Scheduler scheduler(smallConfig(2));
  scheduler.enqueue(circle.first());
  scheduler.enqueue(circle.second());
  const Watchdog::Report report = told_.await(Condition::Deadlock, "2 fibers wait for locks of each other");
  EXPECT_NE(report.text.find("      "), std::string::npos) << report.text;
  circle.letGo();
}

TEST_F(SchedulerWatchdogTest, MayBeMadeBeforeAndOutliveSchedulersAndOthersLikeIt) {
  std::optional<Watchdog> first(told_.config());
  const Watchdog second(told_.config());
  for (int i = 0; i < 50; ++i) {
    Scheduler scheduler(smallConfig(2));
    WaitGroup done(10);
    for (int j = 0; j < 10; ++j) {
      scheduler.enqueue(Task([=] { done.done(); }));
    }
    done.wait();
    if (i == 25) {
      first.reset();
    }
  }
}

TEST_F(SchedulerWatchdogTest, IsDestroyedAtOnce) {
  for (int i = 0; i < 50; ++i) {
    const Watchdog watchdog;
  }
}

using SchedulerWatchdogDeathTest = SchedulerWatchdogTest;

TEST_F(SchedulerWatchdogDeathTest, TimesThatMakeNoSense) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(Watchdog(Watchdog::Config().setLongestTask(0s)), "longestTask of 0 ns makes no sense");
  EXPECT_DEATH(Watchdog(Watchdog::Config().setLongestDelay(-1ns)), "longestDelay of -1 ns makes no sense");
  EXPECT_DEATH(Watchdog(Watchdog::Config().setLongestStandstill(0s)), "longestStandstill of 0 ns");
}

// Ends the process by a handler that is called for a long task.
void callHandler(const std::function<void()>& handler) {
  tests::endWithTheTest();
  const Watchdog watchdog(
      Watchdog::Config().setLongestTask(20ms).setHandler([&handler](const Watchdog::Report&) { handler(); }));
  Scheduler scheduler(smallConfig(1));
  Event never;
  scheduler.enqueue(Task([] {
    for (;;) {
      std::this_thread::sleep_for(1s);
    }
  }));
  never.wait();
}

TEST_F(SchedulerWatchdogDeathTest, AHandlerThatThrows) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(callHandler([] { throw std::runtime_error("lost"); }),
               "an exception escaped from the handler of a weft::Watchdog: std::runtime_error: lost");
}

TEST_F(SchedulerWatchdogDeathTest, AHandlerThatDestroysTheWatchdog) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        tests::endWithTheTest();
        std::unique_ptr<Watchdog> watchdog;
        Event isMade;
        watchdog = std::make_unique<Watchdog>(
            Watchdog::Config().setLongestTask(20ms).setHandler([&](const Watchdog::Report&) {
              isMade.wait();
              watchdog.reset();
            }));
        isMade.signal();
        Scheduler scheduler(smallConfig(1));
        scheduler.enqueue(Task([] {
          for (;;) {
            std::this_thread::sleep_for(1s);
          }
        }));
        Event().wait();
      },
      "~Watchdog\\(\\) was called by the watchdog's own handler");
}

// Ends a child in which all fibers wait once that was printed.
TEST_F(SchedulerWatchdogDeathTest, TellsThatNothingCanGoOn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        tests::endWithTheTest();
        const Watchdog watchdog(
            Watchdog::Config().setLongestStandstill(20ms).setHandler([](const Watchdog::Report& report) {
              if (report.condition == Condition::Standstill) {
                detail::writeStderr(report.text.data(), report.text.size());
                _exit(7);
              }
            }));
        Scheduler scheduler(smallConfig(2));
        Event never;
        scheduler.enqueue(Task([=] { never.wait(); }));
        never.wait();
      },
      testing::ExitedWithCode(7), "nothing can go on.*\n(.*\n)*1 fiber waits for Event");
}

TEST_F(SchedulerWatchdogDeathTest, ObeysItsEnvironmentVariable) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        tests::endWithTheTest();
        setenv("WEFT_WATCHDOG", "soon", 1);
        {
          const Scheduler scheduler(smallConfig(1));
        }
        _exit(0);
      },
      testing::ExitedWithCode(0), "WEFT_WATCHDOG=soon is no number of milliseconds");
  EXPECT_DEATH(
      {
        tests::endWithTheTest();
        setenv("WEFT_WATCHDOG", "20", 1);
        int pipe[2];
        WEFT_ASSERT(::pipe(pipe) == 0, "no pipe");
        const int terminal = dup(STDERR_FILENO);
        dup2(pipe[1], STDERR_FILENO);
        Scheduler scheduler(smallConfig(1));
        scheduler.enqueue(Task([pipe, terminal] {
          // It goes on once its own report has come.
          char text[1024] = {};
          WEFT_ASSERT(read(pipe[0], text, sizeof text - 1) > 0, "no report");
          dup2(terminal, STDERR_FILENO);
          WEFT_FATAL("told: %s", text);
        }));
        Event().wait();
      },
      "told: weft: watchdog: process [0-9]+, [^:]*: task .* has run for at least");
}

// The child has no watchdog. To end one there is no mistake.
TEST_F(SchedulerWatchdogTest, IsNotWaitedForInAChildOfFork) {
  std::optional<Watchdog> watchdog(std::in_place);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    tests::endWithTheTest();
    watchdog.reset();
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace scheduler_watchdog_test
// As in the header.
TEST(WatchdogTest, MayWatchWhereThereIsNoScheduler) {
  weft::Watchdog watchdog(weft::Watchdog::Config().setLongestTask(std::chrono::milliseconds(200)));
}

}  // namespace
}  // namespace weft
