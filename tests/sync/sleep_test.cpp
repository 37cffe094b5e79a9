// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/sleep.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "late_turns.h"
#include "restless.h"
#include "waiting.h"

namespace weft {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::steady_clock;
using std::chrono::system_clock;
using std::chrono::time_point;
using tests::Crew;
using tests::Kind;
using tests::kKinds;
using tests::LateTurns;
using tests::milliseconds;
using tests::Restless;
using tests::SetBackClock;

class SleepTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(SleepTest);

template <class Clock>
void expectNotEarly() {
  for (int i = 0; i < 5; ++i) {
    const auto time = Clock::now() + microseconds(300 * i);
    sleep_until(time);
    EXPECT_GE(Clock::now(), time);
  }
}

TEST_P(SleepTest, IsNeverEarly) {
  for (Kind kind : kKinds) {
    Crew crew(scheduler());
    crew.start(kind, [] {
      expectNotEarly<steady_clock>();
      expectNotEarly<system_clock>();
      const auto begin = steady_clock::now();
      sleep_for(milliseconds(1));
      EXPECT_GE(steady_clock::now(), begin + milliseconds(1));
      sleep_for(std::chrono::duration<double, std::milli>(0.25));
    });
  }
}

TEST_P(SleepTest, IsNeverEarlyByAClockThatIsSetBack) {
  for (Kind kind : kKinds) {
    SetBackClock::numReadings = 0;
    Crew crew(scheduler());
    crew.start(kind, [] {
      const auto time = SetBackClock::now() + milliseconds(2);
      sleep_until(time);
      EXPECT_GE(SetBackClock::now(), time);
    });
  }
}

TEST_P(SleepTest, ReturnsWhereTheTimeHasComeAlready) {
  for (Kind kind : kKinds) {
    Crew crew(scheduler());
    crew.start(kind, [] {
      sleep_for(hours(0));
      sleep_for(hours(-1));
      sleep_for(hours::min());
      sleep_until(steady_clock::time_point::min());
      sleep_until(system_clock::time_point());
      sleep_until(time_point<system_clock, hours>::min());
      sleep_until(time_point<steady_clock, hours>::min());
    });
  }
}

// With 0 workers both run on this thread, with 1 on that worker: a sleep that kept the thread would never
// end.
TEST_P(SleepTest, LetsOtherTasksOfTheThreadRun) {
  std::atomic<bool> isDone{false};
  WaitGroup group(2);
  schedule([&, group] {
    while (!isDone) {
      sleep_for(microseconds(10));
    }
    group.done();
  });
  schedule([&, group] {
    sleep_for(microseconds(100));
    isDone = true;
    group.done();
  });
  group.wait();
}

TEST_P(SleepTest, TimerFiresBesideTasksThatScheduleThemselvesAgain) {
  const int numTasks = numWorkers() == 0 ? 1 : numWorkers();
  WaitGroup slept(1);
  LateTurns turns;
  Restless restless(numTasks, [&] { turns.add(); });
  for (int i = 0; i < numTasks; ++i) {
    restless.start();
  }
  schedule([&, slept] {
    EXPECT_LE(turns.during(milliseconds(10), [](auto time) { sleep_until(time); }), LateTurns::kMost);
    slept.done();
  });
  slept.wait();
  const Event never;
  const auto waitInVain = [&](auto time) { EXPECT_FALSE(never.wait_until(time)); };
  EXPECT_LE(turns.during(milliseconds(10), waitInVain), LateTurns::kMost);
}

TEST_P(SleepTest, TimerFiresBesideFibersThatYieldForEver) {
  std::atomic<bool> mayStop{false};
  LateTurns turns;
  const int numFibers = 2 * numWorkers() + 2;
  Crew crew(scheduler());
  for (int i = 0; i < numFibers; ++i) {
    crew.start(Kind::Task, [&] {
      tests::awaitThat([&] {
        turns.add();
        return mayStop.load();
      });
    });
  }
  crew.start(Kind::Task, [&] {
    EXPECT_LE(turns.during(milliseconds(10), [](auto time) { sleep_until(time); }),
              LateTurns::kMost + numFibers);
    mayStop = true;
  });
}

TEST_P(SleepTest, TimerFiresBesideFibersThatWakeEachOtherForEver) {
  std::atomic<bool> mayStop{false};
  LateTurns turns;
  Event there, back;
  WaitGroup done(3);
  // All on one thread: a fiber whose signal comes from another thread may find it there each time, and then
  // lets nobody run.
  const auto start = [&](auto f) {
    const auto run = [f, done] {
      f();
      done.done();
    };
    schedule(Task(run, Task::Flags::SameThread));
  };
  schedule([&] {
    start([&] {
      while (!mayStop) {
        turns.add();
        there.signal();
        back.wait();
      }
      there.signal();
    });
    start([&] {
      while (!mayStop) {
        turns.add();
        there.wait();
        back.signal();
      }
      back.signal();
    });
    start([&] {
      EXPECT_LE(turns.during(milliseconds(10), [](auto time) { sleep_until(time); }), LateTurns::kMost);
      mayStop = true;
    });
  });
  done.wait();
}

TEST_P(SleepTest, ManySleepAtTheSameTime) {
  const int numSleepers = tests::scaled(2'000, 300);
  WaitGroup group(static_cast<unsigned>(numSleepers));
  for (int i = 0; i < numSleepers; ++i) {
    schedule([=] {
      const auto time = steady_clock::now() + microseconds(i * 7919 % 3'000);
      sleep_until(time);
      EXPECT_GE(steady_clock::now(), time);
      group.done();
    });
  }
  group.wait();
}

}  // namespace
}  // namespace weft
