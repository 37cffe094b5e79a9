// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/cancellation.h>
#include <weft/executor.h>
#include <weft/future.h>
#include <weft/sanitizers.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>

#include "children.h"
#include "live_objects.h"
#include "with_scheduler.h"

// after(), and Future::within().
namespace weft {
namespace after_test {

using std::chrono::hours;
using std::chrono::milliseconds;
using tests::LiveObject;
using tests::scaled;

class AfterTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(AfterTest);

TEST_P(AfterTest, IsReadyOnceTheTimeHasCome) {
  const auto begin = std::chrono::steady_clock::now();
  after(milliseconds(5)).get();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(5));
  after(milliseconds(-1)).get();
}

TEST_P(AfterTest, TimersExpireInTheirOrder) {
  std::vector<int> order;
  MainLoopExecutor loop;
  const auto note = [&](int number) {
    return after(milliseconds(number)).then(loop, [&order, number] { order.push_back(number); });
  };
  Future<void> last = note(30), middle = note(20), first = note(1);
  loop.runUntil(last);
  EXPECT_EQ(order, (std::vector<int>{1, 20, 30}));
  EXPECT_FALSE(after(hours(24)).ready());
}

TEST_P(AfterTest, AStopMakesItReadyAtOnce) {
  std::stop_source stop;
  Future<void> late = after(hours(24), stop.get_token());
  Future<void> forever = after(std::chrono::nanoseconds::max(), stop.get_token());
  EXPECT_FALSE(late.ready());
  stop.request_stop();
  EXPECT_TRUE(late.ready() && forever.ready());
  EXPECT_THROW(late.get(), TaskCanceled);
  EXPECT_THROW(after(hours(24), stop.get_token()).get(), TaskCanceled) << "of a stop before";
  Future<void> done = after(milliseconds(0), std::stop_source().get_token());
  done.get();
}

TEST_P(AfterTest, AStopAgainstTheTimeHasOneWinner) {
  for (int round = 0; round < scaled(300, 50); ++round) {
    std::stop_source stop;
    Future<void> future = after(std::chrono::microseconds(round % 100), stop.get_token());
    int numEnds = 0;
    Future<std::exception_ptr> failed = future.then(inlineExecutor(), [&](Future<void> ready) {
      ++numEnds;
      try {
        ready.get();
        return std::exception_ptr();
      } catch (const TaskCanceled&) {
        return std::current_exception();
      }
    });
    stop.request_stop();
    EXPECT_NO_THROW((void)failed.get()) << "neither the time's end nor the stop's";
    EXPECT_EQ(numEnds, 1);
  }
}

TEST_P(AfterTest, WithinGivesAResultThatComesInTime) {
  std::stop_source stop;
  EXPECT_EQ(async([] { return std::string("a"); }).within(hours(24), stop).get(), "a");
  EXPECT_EQ(makeReadyFuture(1).within(milliseconds(0)).get(), 1) << "ready already";
  async([] {}).within(hours(24)).get();
  EXPECT_THROW((void)async([]() -> int { throw std::runtime_error("x"); }).within(hours(24)).get(),
               std::runtime_error);
  EXPECT_FALSE(stop.stop_requested());
}

TEST_P(AfterTest, WithinEndsATaskThatTakesTooLong) {
  std::stop_source stop;
  std::atomic<bool> isStopped{false};
  Future<void> task = async(stop.get_token(),
                            [&](const std::stop_token& token) { isStopped = !sleep_for(hours(24), token); });
  SharedFuture<void> shared = std::move(task).share();
  EXPECT_THROW(shared.within(milliseconds(1), stop).get(), TimedOut);
  EXPECT_TRUE(stop.stop_requested());
  shared.wait();
}

TEST_P(AfterTest, AResultLeavesNothingOfTheTimer) {
  Promise<LiveObject> promise;
  Future<LiveObject> result = promise.get_future().within(hours(24));
  std::exchange(promise, {}).set_value(LiveObject(1));
  EXPECT_TRUE(result.ready());
  result = {};
  EXPECT_EQ(LiveObject::numAlive, 0) << "which would be in the state that the timer keeps";
}

TEST_P(AfterTest, ATimeoutLeavesAFutureThatOthersHave) {
  Promise<LiveObject> promise;
  const SharedFuture<LiveObject> shared = promise.get_future();
  for (int i = 0; i < 5; ++i) {
    EXPECT_THROW((void)shared.within(milliseconds(0)).get(), TimedOut);
  }
  promise.set_value(LiveObject(3));
  EXPECT_EQ(shared.within(hours(24)).get().value, 3);
  EXPECT_EQ(LiveObject::numAlive, 1);
}

TEST_P(AfterTest, ResultAndTimeHaveOneWinner) {
  for (int round = 0; round < scaled(500, 50); ++round) {
    Promise<LiveObject> promise;
    std::stop_source stop;
    Future<LiveObject> result = promise.get_future().within(std::chrono::microseconds(round % 100), stop);
    promise.set_value(LiveObject(round));
    const bool isLate = result.exception() != nullptr;
    EXPECT_EQ(isLate, stop.stop_requested());
    if (!isLate) {
      EXPECT_EQ(result.get().value, round);
    }
  }
}

TEST(AfterWithoutSchedulerTest, NeedsNoScheduler) {
  after(milliseconds(1)).get();
  Promise<int> never;
  EXPECT_THROW((void)never.get_future().within(milliseconds(1)).get(), TimedOut);
  // What then() adds to a future that is ready runs here: a thread that is kept off its processor comes late.
  std::thread::id where = std::this_thread::get_id();
  for (milliseconds time(1); where == std::this_thread::get_id() && time < milliseconds(20000); time *= 4) {
    after(time).then(inlineExecutor(), [&] { where = std::this_thread::get_id(); }).get();
  }
  EXPECT_NE(where, std::this_thread::get_id()) << "that of the timers";
}

// ThreadSanitizer starts no threads in the child of a fork.
TEST(AfterWithoutSchedulerTest, TheChildOfAForkHasAThreadOfItsOwn) {
  if (WEFT_THREAD_SANITIZER_ENABLED != 0) {
    GTEST_SKIP() << "not under ThreadSanitizer";
  }
  after(milliseconds(0)).get();
  const pid_t child = tests::forkFromNewestThread([] {
    alarm(30);
    after(milliseconds(1)).get();
    return 0;
  });
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  after(milliseconds(1)).get();
}

TEST(AfterWithoutSchedulerTest, TimersOfTheParentDoNotExpireInAChild) {
  if (WEFT_THREAD_SANITIZER_ENABLED != 0) {
    GTEST_SKIP() << "not under ThreadSanitizer";
  }
  std::atomic<int> numCalls{0};
  Future<void> called = after(milliseconds(100)).then(inlineExecutor(), [&] { ++numCalls; });
  const StopAfter limit(milliseconds(100));
  const pid_t child = tests::forkFromNewestThread([&] {
    alarm(30);
    const int before = numCalls;
    const bool wasRequested = limit.token().stop_requested();
    after(milliseconds(150)).get();  // those of the parent would have come first
    return numCalls == before && limit.token().stop_requested() == wasRequested ? 0 : 1;
  });
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  called.get();
  EXPECT_EQ(numCalls, 1);
}

TEST(AfterWithoutSchedulerTest, ASchedulerDoesNotWaitForATimer) {
  std::stop_source stop;
  Future<void> late;
  {
    Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(1));
    Scheduler::Binding bound(scheduler);
    late = after(hours(24), stop.get_token());
  }
  EXPECT_FALSE(late.ready());
  stop.request_stop();
  EXPECT_TRUE(late.failed());
}

}  // namespace after_test
}  // namespace weft
