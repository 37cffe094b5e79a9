// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include <weft/event.h>
#include <weft/future.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/taskgroup.h>
#include <weft/trace.h>
#include <weft/waitgroup.h>

#include "scheduler/worker/worker.h"
#include "spin_until.h"
#include "with_scheduler.h"
#include "workers.h"

namespace weft {
namespace {

using detail::FiberControlBlock;
using detail::FiberFactory;
using std::chrono::hours;
using std::chrono::milliseconds;
using tests::spinFor;
using Clock = std::chrono::steady_clock;

FiberControlBlock& currentFiber() { return *static_cast<FiberControlBlock*>(detail::currentFiber); }
// As if a wake at that time had been noted of `fiber`, which is no main fiber.
void setWokenAt(FiberControlBlock& fiber, Clock::time_point time) {
  FiberFactory::wokenAt(fiber) = time.time_since_epoch().count();
}
const Clock::time_point kLongAgo = Clock::now() - hours(2);

// One bound thread without workers, which follows once it has waited.
class MeasureTest : public ::testing::Test {
 protected:
  void SetUp() override {
    scheduler_.bind();
    scheduler_.measure(true);
    letAllEnd();
  }
  void TearDown() override { Scheduler::unbind(); }

  Scheduler& scheduler() { return scheduler_; }
  Scheduler::WorkerStats stats() { return scheduler_.stats().workers.back(); }
  // Runs what is queued, up to its end or its next wait.
  static void letAllEnd() {
    Event done;
    schedule([done] { done.signal(); });
    done.wait();
    yield();
  }

 private:
  Scheduler scheduler_{tests::smallConfig(0)};
};

TEST_F(MeasureTest, MeasuresTasks) {
  const Histogram before = stats().runTimes;
  schedule([] { spinFor(milliseconds(2)); });
  schedule([] {});
  letAllEnd();
  const Histogram after = stats().runTimes;
  EXPECT_GE(after.count(), before.count() + 3);
  EXPECT_GE(after.longest, milliseconds(2));
  EXPECT_GE(after.sum, before.sum + milliseconds(2));
}

TEST_F(MeasureTest, AWaitIsNoPartOfARunTime) {
  Event go;
  const Histogram before = stats().runTimes;
  schedule([go] { go.wait(); });
  letAllEnd();
  EXPECT_EQ(stats().runTimes.count(), before.count() + 2) << "the wait has ended the run of the task";
  go.signal();
  letAllEnd();
  EXPECT_EQ(stats().runTimes.count(), before.count() + 4);
}

TEST_F(MeasureTest, MeasuresHowLongAWokenFiberIsReady) {
  Event go;
  schedule([go] { go.wait(); });
  letAllEnd();
  const Histogram before = stats().wakeDelays;
  go.signal();
  spinFor(milliseconds(2));
  letAllEnd();
  const Histogram after = stats().wakeDelays;
  EXPECT_GT(after.count(), before.count());
  EXPECT_GE(after.longest, milliseconds(2));
}

TEST_F(MeasureTest, MeasuresTheWakesOfABoundThreadsOwnCode) {
  Event go;
  const Histogram before = stats().wakeDelays;
  schedule([go] {
    go.signal();
    spinFor(milliseconds(2));
  });
  go.wait();
  const Histogram after = stats().wakeDelays;
  EXPECT_GT(after.count(), before.count());
  EXPECT_GE(after.longest, milliseconds(2));
}

// The first poll at which the thread follows comes at another place of each round: also just before the
// woken fiber goes on.
TEST_F(MeasureTest, AWakeBeforeItBeganDoesNotCount) {
  for (int i = 0; i < 200; ++i) {
    scheduler().measure(false);
    for (int j = 0; j < 64 + i % 2; ++j) {  // more than a round has
      schedule([] {});
    }
    letAllEnd();
    Event go;
    schedule([go] {
      setWokenAt(currentFiber(), kLongAgo);
      go.wait();
    });
    letAllEnd();
    go.signal();
    scheduler().measure(true);
    letAllEnd();
  }
  EXPECT_LT(stats().wakeDelays.longest, hours(1));
}

// A fiber may have gone on without a switch after its last wake, of which nobody has taken the time then.
TEST_F(MeasureTest, AnEarlierWakeDoesNotCount) {
  const Event never;
  schedule([never] {
    setWokenAt(currentFiber(), kLongAgo);
    schedule([] {});
    yield();
    setWokenAt(currentFiber(), kLongAgo);
    never.wait_for(milliseconds(1));
  });
  letAllEnd();
  while (stats().numTimers != 0 || stats().numBlockedFibers != 0) {
    sleep_for(milliseconds(1));
  }
  EXPECT_LT(stats().wakeDelays.longest, hours(1));
}

// Another thread may wake a fiber while it goes on.
TEST_F(MeasureTest, AWakeThatIsNewerThanTheLookCountsAsShort) {
  Event go;
  FiberControlBlock* fiber = nullptr;
  schedule([go, &fiber] {
    fiber = &currentFiber();
    go.wait();
  });
  letAllEnd();
  const Histogram before = stats().wakeDelays;
  go.signal();
  setWokenAt(*fiber, Clock::now() + hours(2));
  letAllEnd();
  const Histogram after = stats().wakeDelays;
  EXPECT_GT(after.count(), before.count());
  EXPECT_GT(after.sum, before.sum);
  EXPECT_LT(after.longest, hours(1));
}

TEST_F(MeasureTest, AYieldIsNoWake) {
  WaitGroup done(2);
  for (int i = 0; i < 2; ++i) {
    schedule([done] {
      for (int j = 0; j < 10; ++j) {
        yield();
      }
      done.done();
    });
  }
  const Histogram before = stats().wakeDelays;
  done.wait();
  EXPECT_LE(stats().wakeDelays.count(), before.count() + 1) << "but that of this thread";
}

// The task goes on without a switch, since nothing else ran meanwhile. Where another program has the
// processor, a short sleep is over before the task waits: the last one is long enough.
TEST_F(MeasureTest, ATimerIsAWake) {
  Scheduler::WorkerStats before, after;
  Event done;
  schedule([&, done] {
    for (milliseconds time(1); after.numParks == before.numParks; time *= 2) {
      before = stats();
      sleep_for(time);
      after = stats();
    }
    spinFor(milliseconds(2));
    done.signal();
  });
  done.wait();
  EXPECT_EQ(after.wakeDelays.count(), before.wakeDelays.count() + 1);
  EXPECT_GE(stats().runTimes.longest, milliseconds(2)) << "the run after the wait counts too";
}

TEST_F(MeasureTest, CountsNothingOnceItIsOff) {
  scheduler().measure(false);
  letAllEnd();
  yield();
  letAllEnd();
  const Scheduler::WorkerStats before = stats();
  letAllEnd();
  EXPECT_EQ(stats().runTimes.count(), before.runTimes.count());
  EXPECT_EQ(stats().wakeDelays.count(), before.wakeDelays.count());
  EXPECT_GT(before.runTimes.count(), 0u) << "what was counted stays";
}

TEST_F(MeasureTest, EventsAreRecordedBeside) {
  ASSERT_TRUE(trace::start());
  const Histogram before = stats().runTimes;
  letAllEnd();
  trace::stop();
  letAllEnd();
  letAllEnd();
  EXPECT_GE(stats().runTimes.count(), before.count() + 3) << "the end of the one does not end the other";
}

class MeasureManyTest : public tests::WithScheduler {};

TEST_P(MeasureManyTest, CountsTasksInPlaceAndRunsOfAllWorkers) {
  scheduler().measure(true);
  constexpr uint64_t kTasks = 200;
  const auto runs = [&] {
    uint64_t count = 0;
    for (const auto& worker : scheduler().stats().workers) {
      count += worker.runTimes.count();
    }
    return count;
  };
  const auto inPlace = [&] {
    return tests::sum(scheduler().stats(), &Scheduler::WorkerStats::numTasksInPlace);
  };
  // A worker follows at its next poll.
  while (runs() < kTasks || inPlace() == 0) {
    WaitGroup done(100);
    for (int i = 0; i < 100; ++i) {
      schedule([done] {
        TaskGroup group;
        for (int j = 0; j < 4; ++j) {
          group.run([] {});
        }
        group.wait();
        done.done();
      });
    }
    done.wait();
  }
}

WEFT_INSTANTIATE_WITH_SCHEDULER(MeasureManyTest);

}  // namespace
}  // namespace weft
