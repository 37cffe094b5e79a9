// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/fair/coro.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "with_scheduler.h"

namespace weft::inline v0_1::fair::fair_coro_test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using tests::scaled;

class FairCoroTest : public ::testing::TestWithParam<int> {
 protected:
  // Runs `body` to its end.
  void run(Coro<> body) {
    CoroTask task(std::move(body));
    scheduler.post(&task);
    scheduler.waitEmpty();
    EXPECT_TRUE(task.isDone());
  }

  TaskScheduler scheduler{"coroutines", GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Threads, FairCoroTest, ::testing::Values(1, 2, 8));

Coro<int> half(int n) {
  co_await yield();
  co_return n / 2;
}
Coro<> session(int& result) {
  co_await delay(1ms);
  result = co_await half(84);
}

TEST_P(FairCoroTest, TheExampleOfItsComment) {
  int result = 0;
  CoroTask task(session(result));
  scheduler.post(&task);
  scheduler.waitEmpty();
  EXPECT_EQ(result, 42);
}

Coro<int> one() { co_return 1; }
Coro<std::unique_ptr<int>> owned(int n) {
  co_await yield();
  co_return std::make_unique<int>(n);
}
Coro<int&> reference(int& n) { co_return n; }

Coro<> callMany(int count, int64_t& sum) {
  for (int i = 0; i < count; ++i) {
    sum += co_await one();
  }
}
Coro<int64_t> callDeep(int depth) {
  if (depth == 0) {
    co_await yield();
    co_return 0;
  }
  co_return 1 + co_await callDeep(depth - 1);
}

TEST_P(FairCoroTest, AMillionCallsInALoopDoNotGrowTheStack) {
  int64_t sum = 0;
  const int count = scaled(1'000'000, 100'000);
  run(callMany(count, sum));
  EXPECT_EQ(sum, count);
}

TEST_P(FairCoroTest, CallsAsDeepAsMemoryGoes) {
  int64_t depth = 0;
  const int wanted = scaled(1'000'000, 50'000);
  const auto body = [](int to, int64_t& result) -> Coro<> { result = co_await callDeep(to); };
  run(body(wanted, depth));
  EXPECT_EQ(depth, wanted);
}

TEST_P(FairCoroTest, ResultsOfEveryKindArriveAtTheCaller) {
  int target = 0;
  const auto body = [](int& n) -> Coro<> {
    EXPECT_EQ(*co_await owned(5), 5);
    (co_await reference(n)) = 7;
    Coro<int> later = one();
    Coro<int> moved = std::move(later);
    EXPECT_EQ(co_await moved, 1);
  };
  run(body(target));
  EXPECT_EQ(target, 7);
}

// A coroutine that has the one that it awaits as its argument.
Coro<int64_t> around(Coro<int64_t> inner) { co_return 1 + co_await inner; }
Coro<int64_t> named(int depth) {
  if (depth == 0) {
    co_return 0;
  }
  Coro<int64_t> inner = named(depth - 1);
  const int64_t below = co_await inner;
  co_return 1 + below;
}

TEST_P(FairCoroTest, EndedCoroutinesAreDestroyedWithoutRecursion) {
  const int depth = scaled(1'000'000, 50'000);
  const auto body = [](int to) -> Coro<> {
    Coro<int64_t> chain = callDeep(0);
    for (int i = 0; i < to; ++i) {
      chain = around(std::move(chain));
    }
    EXPECT_EQ(co_await chain, to);
    EXPECT_EQ(co_await named(to), to);
  };
  run(body(depth));
}

Coro<int> argumentIsThere(std::shared_ptr<int> argument, int64_t numUsers, bool isWrong) {
  EXPECT_EQ(argument.use_count(), numUsers);
  if (isWrong) {
    throw std::runtime_error("wrong");
  }
  co_return 1;
}

TEST_P(FairCoroTest, ArgumentsLiveUntilTheCoroutineHasReturned) {
  const auto body = []() -> Coro<> {
    const auto token = std::make_shared<int>(0);
    auto returns = argumentIsThere(token, 2, false);
    EXPECT_EQ(co_await returns, 1);
    EXPECT_EQ(token.use_count(), 1);
    auto throws = argumentIsThere(token, 2, true);
    try {
      co_await throws;
      ADD_FAILURE();
    } catch (const std::runtime_error&) {
      EXPECT_EQ(token.use_count(), 1);
    }
  };
  run(body());
}

Coro<int> fails(bool isLate) {
  if (isLate) {
    co_await yield();
  }
  throw std::runtime_error("failed");
}

TEST_P(FairCoroTest, ExceptionsArriveAtTheCaller) {
  std::string caught;
  const auto body = [](std::string& what) -> Coro<> {
    for (const bool isLate : {false, true}) {
      bool wasCaught = false;
      try {
        co_await fails(isLate);
      } catch (const std::runtime_error& error) {
        what += error.what();
        wasCaught = true;
      }
      EXPECT_TRUE(wasCaught);
      co_await yield();
    }
  };
  run(body(caught));
  EXPECT_EQ(caught, "failedfailed");
}

TEST_P(FairCoroTest, DelaysAreNeverEarlyAndTellWhoEndedThem) {
  const auto body = [](TaskScheduler& owner) -> Coro<> {
    auto begin = Clock::now();
    EXPECT_TRUE(co_await delay(2ms));
    EXPECT_GE(Clock::now() - begin, 2ms);
    begin = Clock::now();
    EXPECT_TRUE(co_await deadline(begin + 1ms));
    EXPECT_GE(Clock::now() - begin, 1ms);
    owner.wakeup(co_await self());
    EXPECT_FALSE(co_await delay(1h));
    owner.wakeup(co_await self());
    co_await wait();
  };
  run(body(scheduler));
}

TEST_P(FairCoroTest, WaitsForASignalAndNotForAWakeup) {
  std::atomic<int> numReceived{0};
  std::atomic<bool> isWaiting{false};
  const auto body = [](std::atomic<int>& received, std::atomic<bool>& waiting) -> Coro<> {
    EXPECT_FALSE(co_await signalFor(1ms));
    EXPECT_FALSE(co_await signalUntil(Clock::now()));
    waiting = true;
    EXPECT_TRUE(co_await receiveSignal());
    ++received;
    EXPECT_TRUE(co_await signalFor(1h));
    ++received;
  };
  CoroTask task(body(numReceived, isWaiting));
  scheduler.post(&task);
  for (int i = 0; i < 100 || !isWaiting; ++i) {
    scheduler.wakeup(&task);
    std::this_thread::yield();
  }
  EXPECT_EQ(numReceived, 0);
  scheduler.signal(&task);
  while (numReceived == 0) {
    scheduler.wakeup(&task);
    std::this_thread::yield();
  }
  scheduler.signal(&task);
  scheduler.waitEmpty();
  EXPECT_EQ(numReceived, 2);
}

TEST_P(FairCoroTest, AnUnreceivedSignalEndsEachWaitAtOnce) {
  const auto body = [](TaskScheduler& owner) -> Coro<> {
    owner.signal(co_await self());
    for (int i = 0; i < 3; ++i) {
      EXPECT_FALSE(co_await delay(1h));
      co_await wait();
    }
    EXPECT_TRUE(co_await receiveSignal());
    EXPECT_TRUE(co_await delay(1us));
  };
  run(body(scheduler));
}

TEST_P(FairCoroTest, MovesBetweenSchedulers) {
  TaskScheduler other("elsewhere", 1);
  std::atomic<bool> isDone{false};
  const auto body = [](TaskScheduler& here, TaskScheduler& there, std::atomic<bool>& done) -> Coro<> {
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(TaskScheduler::current(), &here);
      co_await moveTo(there);
      EXPECT_EQ(TaskScheduler::current(), &there);
      co_await yield();
      EXPECT_EQ(TaskScheduler::current(), &there);
      co_await moveTo(here);
    }
    done = true;
  };
  CoroTask task(body(scheduler, other, isDone));
  scheduler.post(&task);
  while (!isDone) {
    std::this_thread::yield();
  }
  scheduler.waitEmpty();
}

// What a coroutine waits for it goes on waiting for.
TEST_P(FairCoroTest, ATaskThatWasTakenBackGoesOnWaiting) {
  std::atomic<bool> hasBegun{false};
  const auto body = [](std::atomic<bool>& begun) -> Coro<> {
    begun = true;
    EXPECT_FALSE(co_await delay(1h)) << "it was woken";
  };
  CoroTask task(body(hasBegun));
  scheduler.post(&task);
  while (!hasBegun) {
    std::this_thread::yield();
  }
  scheduler.stop();
  EXPECT_EQ(scheduler.takeBack().size(), 1u);
  scheduler.start();
  scheduler.post(&task);
  EXPECT_FALSE(task.wait_for(1ms));
  scheduler.wakeup(&task);
  scheduler.waitEmpty();
  EXPECT_TRUE(task.isDone());
}

Coro<> sleepsBelow(int depth, std::shared_ptr<int> token) {
  const auto kept = token;
  if (depth > 0) {
    co_await sleepsBelow(depth - 1, token);
  } else {
    co_await wait();
  }
  ADD_FAILURE() << "it was never woken";
}

TEST_P(FairCoroTest, ACoroutineThatIsAssignedToIsDestroyedAtOnce) {
  const auto token = std::make_shared<int>(0);
  Coro<> one = sleepsBelow(1, token), other = sleepsBelow(1, token);
  ASSERT_EQ(token.use_count(), 3);
  one = std::move(other);
  EXPECT_EQ(token.use_count(), 2);
}

TEST_P(FairCoroTest, DestroyingASuspendedCoroutineDestroysItsWholeStack) {
  const auto token = std::make_shared<int>(0);
  const int depth = scaled(100'000, 1'000);
  {
    CoroTask never(sleepsBelow(depth, token));
    CoroTask suspended(sleepsBelow(depth, token));
    scheduler.post(&suspended);
    scheduler.postOneShot([] {});
    while (token.use_count() < 2 * depth) {
      std::this_thread::yield();
    }
    scheduler.stop();
    EXPECT_EQ(scheduler.takeBack().size(), 1u);
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(FairCoroTest, WaitsForTheEndMayTimeOut) {
  std::atomic<bool> hasBegun{false};
  const auto body = [](std::atomic<bool>& begun) -> Coro<> {
    begun = true;
    co_await wait();
  };
  CoroTask task(body(hasBegun));
  EXPECT_FALSE(task.wait_for(0s)) << "it was not even posted";
  scheduler.post(&task);
  while (!hasBegun) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(task.wait_for(1ms));
  EXPECT_FALSE(task.wait_until(std::chrono::system_clock::now() + 1ms));
  scheduler.wakeup(&task);
  EXPECT_TRUE(task.wait_for(1h));
  EXPECT_TRUE(task.isDone());
  EXPECT_TRUE(task.wait_for(0s));
  scheduler.waitEmpty();
}

using FairCoroDeathTest = tests::DeathTest;

// Runs `body(scheduler, task)`, which is about to do something wrong, as the body of the task.
template <class Body>
void runWrong(Body body) {
  TaskScheduler scheduler("wrong");
  std::unique_ptr<CoroTask> task;
  task = std::make_unique<CoroTask>(body(scheduler, task));
  scheduler.post(task.get());
  scheduler.waitEmpty();
}
using Owned = std::unique_ptr<CoroTask>;

TEST_F(FairCoroDeathTest, TheBodyPostsItsOwnTask) {
  constexpr const char* kMessage = "a fair::CoroTask was posted while its body ran. Have the body co_await";
  EXPECT_DEATH(runWrong([](TaskScheduler& scheduler, Owned&) -> Coro<> {
                 scheduler.post(co_await self());
                 co_await yield();
               }),
               kMessage);
  EXPECT_DEATH(runWrong([](TaskScheduler& scheduler, Owned& task) -> Coro<> {
                 scheduler.post(task.get());
                 co_return;
               }),
               kMessage);
}

TEST_F(FairCoroDeathTest, AnotherPostsTheTaskWhileItsBodyRuns) {
  EXPECT_DEATH(runWrong([](TaskScheduler&, Owned& task) -> Coro<> {
                 TaskScheduler other("other");
                 std::thread([&] { other.post(task.get()); }).join();
                 other.waitEmpty();
                 co_return;
               }),
               "a fair::CoroTask was posted while its body ran");
}

#pragma GCC diagnostic push
#if defined(__clang__)
#pragma GCC diagnostic ignored "-Wreturn-type"
#endif
Coro<int> perhaps(bool hasValue) {
  if (hasValue) {
    co_return 1;
  }
}
Coro<int&> perhapsOf(int& value) {
  if (value != 0) {
    co_return value;
  }
}
#pragma GCC diagnostic pop

TEST_F(FairCoroDeathTest, ACoroutineEndsWithoutAValue) {
  constexpr const char* kMessage = "a fair::Coro<T> came to its end without a value. Write co_return value;";
  EXPECT_DEATH(runWrong([](TaskScheduler&, Owned&) -> Coro<> { (void)co_await perhaps(false); }), kMessage);
  EXPECT_DEATH(runWrong([](TaskScheduler&, Owned&) -> Coro<> {
                 int value = 0;
                 (void)co_await perhapsOf(value);
               }),
               kMessage);
}

TEST_F(FairCoroDeathTest, TheBodyDestroysItsOwnTask) {
  EXPECT_DEATH(runWrong([](TaskScheduler&, Owned& task) -> Coro<> {
                 task.reset();
                 co_return;
               }),
               "a fair::CoroTask was destroyed by its own body, which goes on afterwards. Let its owner");
}

TEST_F(FairCoroDeathTest, TheBodyWaitsForItsOwnEnd) {
  EXPECT_DEATH(runWrong([](TaskScheduler&, Owned& task) -> Coro<> {
                 task->wait();
                 co_return;
               }),
               "wait\\(\\) was called by the body of the fair::CoroTask");
}

TEST_F(FairCoroDeathTest, DestroyedWhilePosted) {
  EXPECT_DEATH(
      {
        TaskScheduler scheduler("has it");
        const auto body = []() -> Coro<> { co_await wait(); };
        const auto task = std::make_unique<CoroTask>(body());
        scheduler.postWait(task.get());
      },
      "fair::Task was destroyed while a scheduler has it");
}

TEST_F(FairCoroDeathTest, AnExceptionEscapesTheBody) {
  EXPECT_DEATH(
      {
        TaskScheduler scheduler("throws");
        const auto body = []() -> Coro<> { co_await fails(true); };
        CoroTask task(body());
        scheduler.post(&task);
        scheduler.waitEmpty();
      },
      "an exception escaped from a step of a fair::Task: std::runtime_error: failed");
}

TEST_F(FairCoroDeathTest, AwaitedTwice) {
  EXPECT_DEATH(
      {
        TaskScheduler scheduler("twice");
        const auto body = []() -> Coro<> {
          Coro<int> once = one();
          co_await once;
          co_await once;
        };
        CoroTask task(body());
        scheduler.post(&task);
        scheduler.waitEmpty();
      },
      "a fair::Coro was awaited twice");
}

}  // namespace
}  // namespace weft::inline v0_1::fair::fair_coro_test
