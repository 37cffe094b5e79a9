// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "waiting.h"
#include "with_scheduler.h"

// Scheduler::shutdown().
namespace weft {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using tests::smallConfig;

class ShutdownDeadlineTest : public tests::WithScheduler {
 protected:
  // Returns: what shutdown() prints, which must return false.
  template <class Time>
  std::string reportOf(const Time& time) {
    testing::internal::CaptureStderr();
    EXPECT_FALSE(scheduler().shutdown(time));
    return testing::internal::GetCapturedStderr();
  }

  // Returns: what `report` returns on a thread that is not bound.
  template <class F>
  static std::string reportOfAnother(F report) {
    std::string text;
    std::thread unbound([&] { text = report(); });
    unbound.join();
    return text;
  }
};
WEFT_INSTANTIATE_WITH_SCHEDULER(ShutdownDeadlineTest);

TEST_P(ShutdownDeadlineTest, ReturnsTrueOnceAllTasksHaveEnded) {
  int ran = 0;  // shutdown() orders what the tasks write
  const Event go(Event::Mode::Manual);
  schedule([&ran, go] {
    go.wait();
    schedule([&ran] { ++ran; });
  });
  go.signal();
  Scheduler::unbind();
  EXPECT_TRUE(scheduler().shutdown(hours(1)));
  EXPECT_EQ(ran, 1);
  EXPECT_TRUE(scheduler().shutdown(milliseconds(0)));
}

TEST_P(ShutdownDeadlineTest, ReturnsFalseWhileAThreadIsBound) {
  const std::string report = reportOfAnother([this] { return reportOf(milliseconds(1)); });
  EXPECT_NE(report.find("Scheduler::shutdown() has run out of time."), std::string::npos) << report;
  EXPECT_NE(report.find("Threads still bound: 1."), std::string::npos) << report;
  Scheduler::unbind();
  EXPECT_TRUE(scheduler().shutdown(hours(1)));
}

TEST_P(ShutdownDeadlineTest, ReturnsFalseWhileAFiberWaitsAndAllGoesOn) {
  if (numWorkers() == 0) {
    GTEST_SKIP() << "about tasks of workers";
  }
  std::atomic<int> ran{0};
  const Event go(Event::Mode::Manual), waits(Event::Mode::Manual);
  schedule([&ran, go, waits] {
    waits.signal();
    go.wait();
    schedule([&ran] { ++ran; });
  });
  waits.wait();
  Scheduler::unbind();
  const std::string report = reportOf(milliseconds(1));
  EXPECT_NE(report.find("Fibers that wait: 1."), std::string::npos) << report;
  EXPECT_NE(report.find(" waits for Event 0x"), std::string::npos) << report;
  // What has not ended still takes tasks.
  const Event done(Event::Mode::Manual);
  scheduler().enqueue(Task([&ran, done] {
    ++ran;
    done.signal();
  }));
  done.wait();
  EXPECT_FALSE(reportOf(milliseconds(0)).empty());
  go.signal();
  EXPECT_TRUE(scheduler().shutdown(hours(1)));
  EXPECT_EQ(ran, 2);
}

TEST_P(ShutdownDeadlineTest, WakesWorkersThatSleep) {
  Scheduler sleeping(smallConfig(numWorkers()).setIdleSearch(milliseconds(0)));
  tests::awaitThat([&] {
    const auto workers = sleeping.stats().workers;
    return std::all_of(workers.begin(), workers.end(), [](auto& worker) { return worker.numParks != 0; });
  });
  EXPECT_TRUE(sleeping.shutdown(hours(1)));
}

// A thread that binds while the workers find nothing to do.
TEST_P(ShutdownDeadlineTest, WaitsForAThreadThatIsBoundMeanwhile) {
  if (numWorkers() == 0) {
    GTEST_SKIP() << "about tasks of workers";
  }
  const Event go(Event::Mode::Manual), bound(Event::Mode::Manual), mayUnbind(Event::Mode::Manual);
  schedule([go] { go.wait(); });
  Scheduler::unbind();
  EXPECT_FALSE(reportOf(milliseconds(0)).empty());  // the workers are told to stop
  std::thread other([&] {
    Scheduler::Binding binding(scheduler());
    bound.signal();
    mayUnbind.wait();
  });
  bound.wait();
  go.signal();
  EXPECT_NE(reportOf(milliseconds(1)).find("Threads still bound: 1."), std::string::npos);
  std::thread ending([&] { EXPECT_TRUE(scheduler().shutdown(hours(1))); });
  mayUnbind.signal();
  other.join();
  ending.join();
}

TEST_P(ShutdownDeadlineTest, TakesTimesOfAllClocks) {
  const auto never = std::chrono::steady_clock::time_point::max();
  const auto report = reportOfAnother([this] {
    return reportOf(std::chrono::system_clock::now() + milliseconds(1)) +
           reportOf(std::chrono::steady_clock::now() + milliseconds(1)) +
           reportOf(std::chrono::steady_clock::time_point::min()) +
           reportOf(std::chrono::system_clock::time_point()) + reportOf(milliseconds(-1)) +
           reportOf(std::chrono::duration<float>(std::numeric_limits<float>::quiet_NaN()));
  });
  size_t numReports = 0;
  for (size_t at = 0; (at = report.find("out of time", at)) != std::string::npos; ++at) {
    ++numReports;
  }
  EXPECT_EQ(numReports, 6u) << report;
  Scheduler::unbind();
  EXPECT_TRUE(scheduler().shutdown(std::chrono::system_clock::now() + hours(1)));
  EXPECT_TRUE(scheduler().shutdown(never));
  EXPECT_TRUE(scheduler().shutdown(hours::max()));
}

TEST_P(ShutdownDeadlineTest, MayBeCalledByManyThreads) {
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) {
    schedule([&ran] { ++ran; });
  }
  std::thread threads[3];
  for (std::thread& thread : threads) {
    thread = std::thread([&] {
      EXPECT_TRUE(scheduler().shutdown(hours(1)));
      EXPECT_EQ(ran, 100);
    });
  }
  Scheduler::unbind();
  for (std::thread& thread : threads) {
    thread.join();
  }
}

class ShutdownDeathTest : public tests::DeathTest {};

TEST_F(ShutdownDeathTest, CalledOnABoundThread) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(1));
        Scheduler::Binding binding(scheduler);
        scheduler.shutdown(milliseconds(0));
      },
      "weft: fatal: Scheduler::shutdown\\(\\) was called on a thread that is still bound to it.*unbind");
}

TEST_F(ShutdownDeathTest, TheExampleInTheHeaderGoesOnWhereAllHasEnded) {
  EXPECT_EXIT(
      {
        Scheduler scheduler(smallConfig(1));
        if (!scheduler.shutdown(std::chrono::seconds(10))) {
          std::_Exit(1);
        }
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

// docs/howto/stop_server.md
TEST_F(ShutdownDeathTest, TheExampleInTheHowtoGoesOnWhereAllHasEnded) {
  const auto serve = [] {
    const weft::WaitGroup done(1);
    weft::schedule([=] { done.done(); });
    done.wait();
  };
  EXPECT_EXIT(
      {
        weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
        {
          weft::Scheduler::Binding bound(scheduler);
          serve();
        }
        if (!scheduler.shutdown(std::chrono::seconds(10))) {
          std::_Exit(1);
        }
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(ShutdownDeathTest, CalledInATask) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(1));
        scheduler.enqueue(Task([&] { scheduler.shutdown(milliseconds(0)); }));
        scheduler.shutdown(hours(1));
      },
      "weft: fatal: Scheduler::shutdown\\(\\) was called in a task of the scheduler");
}

TEST_F(ShutdownDeathTest, NothingBeginsAfterwards) {
  for (const int numWorkers : {0, 2}) {
    EXPECT_DEATH(
        {
          Scheduler scheduler(smallConfig(numWorkers));
          scheduler.shutdown(hours(1));
          scheduler.bind();
        },
        "weft: fatal: Scheduler::bind\\(\\): the scheduler has ended.*shutdown\\(\\)");
  }
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(2));
        scheduler.shutdown(hours(1));
        scheduler.enqueue(Task([] {}));
      },
      "weft: fatal: Scheduler::enqueue\\(\\): a task was given to a scheduler that has "
      "ended.*shutdown\\(\\)");
}

}  // namespace
}  // namespace weft
