// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/fibers/timers.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <latch>
#include <optional>
#include <thread>
#include <vector>

#include <weft/detail/wait/patience.h>
#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "scheduler/worker/worker.h"
#include "with_scheduler.h"

// Waits whose time begins when their thread next looks at the clock, as those for a SharedMutex do.
namespace weft::inline v0_1::detail {
namespace {

using Clock = TimePoint::clock;
using Fibers = std::vector<FiberControlBlock*>;

class TimersTest : public ::testing::Test {
 protected:
  // Of no use but to wait.
  FiberControlBlock& fiber() { return fibers_.emplace_back(*Worker::current(), 0u); }
  // As if a wait had begun.
  FiberControlBlock& addUndated() {
    FiberControlBlock& added = fiber();
    timers.addUndated(added);
    return added;
  }
  // Returns: those whose time comes before kPatience has passed, sorted.
  Fibers expireAll() {
    Fibers expired;
    for (const TimePoint end = Clock::now() + kPatience; Clock::now() <= end;) {
      timers.expire([&](FiberControlBlock& each) { expired.push_back(&each); });
    }
    timers.expire([&](FiberControlBlock& each) { expired.push_back(&each); });
    return sorted(expired);
  }
  static Fibers sorted(Fibers fibers) {
    std::sort(fibers.begin(), fibers.end());
    return fibers;
  }

  Timers timers{Allocator::Default};

 private:
  Scheduler scheduler_{tests::smallConfig(0)};
  Scheduler::Binding bound_{scheduler_};
  std::deque<FiberControlBlock> fibers_;
};

TEST_F(TimersTest, AnUndatedWaitCostsNothingUntilItIsDated) {
  addUndated();
  EXPECT_EQ(timers.earliest(), kNever);
  EXPECT_FALSE(timers.areSetOrDue()) << "so that there is no poll at each dequeue";
  EXPECT_FALSE(timers.mayHaveExpired());
  EXPECT_TRUE(expireAll().empty());
}

TEST_F(TimersTest, TheTimeOfAnUndatedWaitBeginsWhenItIsDated) {
  Fibers added;
  for (int i = 0; i < 3; ++i) {
    added.push_back(&addUndated());
  }
  const TimePoint before = Clock::now();
  EXPECT_TRUE(timers.date());
  EXPECT_GE(timers.earliest(), before + kPatience);
  EXPECT_LE(timers.earliest(), Clock::now() + kPatience);
  EXPECT_TRUE(timers.areSetOrDue());
  EXPECT_FALSE(timers.date()) << "all have their time";
  EXPECT_EQ(expireAll(), sorted(added));
}

TEST_F(TimersTest, ARemovedWaitIsNotFoundWhereverItWas) {
  FiberControlBlock &a = addUndated(), &b = addUndated(), &c = addUndated(), &d = addUndated();
  timers.remove(b);
  timers.remove(b);
  timers.remove(d);  // which took the place of b
  FiberControlBlock& e = addUndated();
  EXPECT_TRUE(timers.date());
  timers.remove(a);
  timers.remove(a);
  EXPECT_EQ(expireAll(), sorted({&c, &e}));
  timers.remove(e);
  EXPECT_FALSE(timers.date());
  timers.addUndated(b);
  timers.remove(b);
  EXPECT_FALSE(timers.date());
  EXPECT_EQ(timers.earliest(), kNever);
}

// More than there can be between two looks at the clock.
TEST_F(TimersTest, AnyNumberMayWaitUndated) {
  Fibers added;
  for (int i = 0; i < 300; ++i) {
    added.push_back(&addUndated());
  }
  timers.date();
  for (int i = 0; i < 300; i += 2) {
    timers.remove(*added[static_cast<size_t>(i)]);
  }
  Fibers odd;
  for (size_t i = 1; i < 300; i += 2) {
    odd.push_back(added[i]);
  }
  EXPECT_EQ(expireAll(), sorted(odd));
}

TEST_F(TimersTest, KnowsWhetherAllOnlyLookAgain) {
  EXPECT_TRUE(timers.doAllLookAgain());
  FiberControlBlock& looks = addUndated();
  EXPECT_FALSE(timers.doAllLookAgain());
  std::optional<Timers::LookingAgain> looking(timers);
  EXPECT_TRUE(timers.doAllLookAgain());
  FiberControlBlock& sleeps = fiber();
  sleeps.deadline = timers.now() + std::chrono::hours(1);
  timers.add(sleeps);
  EXPECT_FALSE(timers.doAllLookAgain());
  timers.date();
  EXPECT_FALSE(timers.doAllLookAgain());
  timers.remove(sleeps);
  EXPECT_TRUE(timers.doAllLookAgain());
  timers.remove(looks);
  looking.reset();
  EXPECT_TRUE(timers.doAllLookAgain());
}

// A wait for a lock, on a thread or a fiber, that nobody ends. Returns: how long it took.
Clock::duration waitPatiently() {
  const TimePoint began = Clock::now();
  EXPECT_FALSE(blockPatiently(currentWaiter(), "a test", nullptr));
  return Clock::now() - began;
}

class PatientWaitTest : public tests::WithScheduler {
 protected:
  void TearDown() override {
    isOver_.count_down();
    other_.join();
    WithScheduler::TearDown();
  }

 private:
  // In a process of one thread, a wait that nobody can end is a deadlock.
  std::latch isOver_{1};
  std::thread other_{[this] { isOver_.wait(); }};
};
WEFT_INSTANTIATE_WITH_SCHEDULER(PatientWaitTest);

TEST_P(PatientWaitTest, EndsByItselfNotBeforeItsTime) {
  EXPECT_GE(waitPatiently(), kPatience);
  Event done;
  schedule([done] {
    EXPECT_GE(waitPatiently(), kPatience);
    done.signal();
  });
  done.wait();
  std::thread([] { EXPECT_GE(waitPatiently(), kPatience); }).join();
}

TEST_P(PatientWaitTest, EndsThoughItsThreadIsNeverIdle) {
  bool isOver = false;
  schedule(Task(
      [&] {
        waitPatiently();
        isOver = true;
      },
      Task::Flags::SameThread));
  while (!isOver) {
    yield();
  }
}

TEST_P(PatientWaitTest, ManyEndAtOnce) {
  const int count = tests::scaled(1000, 200);
  WaitGroup done(static_cast<unsigned>(count));
  for (int i = 0; i < count; ++i) {
    schedule([done] {
      waitPatiently();
      done.done();
    });
  }
  done.wait();
}

TEST_P(PatientWaitTest, IsEndedByAWakeAndLeavesNothingBehind) {
  for (int i = 0; i < 300; ++i) {
    Waiter* waiter = nullptr;
    bool isWoken = false;
    WaitGroup done(1);
    schedule(Task(
        [&, done] {
          waiter = &currentWaiter();
          do {
            isWoken = blockPatiently(*waiter, "a test", nullptr);
          } while (!isWoken);
          done.done();
        },
        Task::Flags::SameThread));
    while (waiter == nullptr) {
      yield();
    }
    detail::wake(*waiter);
    done.wait();
    EXPECT_TRUE(isWoken);
  }
  EXPECT_GE(waitPatiently(), kPatience) << "the time of another wait ends it";
}

// Once in kPatience, and at the first call: so that a loop around it costs its thread little, and still lets
// others run.
TEST_P(PatientWaitTest, GivesWayNowAndThen) {
  const TimePoint began = Clock::now();
  int numRuns = 0;
  for (int i = 0; i < 3; ++i) {
    bool hasRun = false;
    schedule(Task(
        [&] {
          ++numRuns;
          hasRun = true;
        },
        Task::Flags::SameThread));
    while (!hasRun) {
      giveWay(currentWaiter());
    }
    EXPECT_LE(numRuns - 1, (Clock::now() - began) / kPatience);
  }
  std::thread([] { giveWay(currentWaiter()); }).join();
}

}  // namespace
}  // namespace weft::inline v0_1::detail
