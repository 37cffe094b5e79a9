// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/asio.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/waitgroup.h>

#include "asio_tools.h"
#include "failing_allocations.h"

// operator new fails in weft/asio.h, and in the parts of Asio that a use of it calls. Without strands, which
// useFiber(token) needs: Asio's own function that makes one (1.22) uses a null pointer where it finds no
// memory.
namespace weft::asio_failing_allocations_test {
namespace {

using tests::Attempt;
using tests::counting;
using tests::FailingAllocations;
using tests::longText;
using tests::operation;
using tests::Running;
using tests::smallConfig;

// The scheduler of an AsioContext, whose workers begin without one.
struct Context {
  Scheduler scheduler{smallConfig(1)};
  AsioContext context{scheduler};
};

// Calls use() twice: in the second call nothing fails.
template <class Use>
void tryTwice(Attempt& attempt, const Use& use) {
  attempt(use);
  use();
}

void timerAwaited(Attempt& attempt) {
  Running running;
  tryTwice(attempt, [&] {
    asio::steady_timer timer(running.context, std::chrono::milliseconds(0));
    timer.async_wait(useFiber);
  });
}
// The values are copied into the wait.
void valueGiven(Attempt& attempt) {
  tryTwice(attempt, [] {
    const std::string text = longText();
    const auto give = [&](auto handler) { std::move(handler)(text); };
    EXPECT_EQ((operation<const std::string&>(give, useFiber)), text);
  });
}
void valueRefused(Attempt& attempt) {
  tryTwice(attempt, [] {
    const auto drop = [](auto handler) { (void)handler; };
    UseFiber::ErrorCode error;
    EXPECT_EQ((operation<UseFiber::ErrorCode, std::string>(drop, useFiber[error])), "");
    EXPECT_EQ(error, tests::aborted());
    try {
      (void)operation<UseFiber::ErrorCode, std::string>(drop, useFiber);
      ADD_FAILURE() << "no error";
    } catch (const tests::SystemError&) {
    }
  });
}

template <class Post>
void posted(Attempt& attempt, const Post& post) {
  Context context;
  std::atomic<int> numRun{0};
  const auto function = counting(numRun);
  const auto postOnce = [&] { post(context.context, function); };
  const int expected = attempt(postOnce) ? 2 : 1;
  postOnce();
  while (numRun < expected) {
    std::this_thread::yield();
  }
  EXPECT_EQ(numRun, expected);
}
void taskPosted(Attempt& attempt) {
  posted(attempt, [](AsioContext& context, const auto& function) { asio::post(context, function); });
}
void taskDeferred(Attempt& attempt) {
  posted(attempt, [](AsioContext& context, const auto& function) { asio::defer(context, function); });
}
void taskDispatched(Attempt& attempt) {
  posted(attempt, [](AsioContext& context, const auto& function) { asio::dispatch(context, function); });
}
void taskPostedByAny(Attempt& attempt) {
  posted(attempt, [](AsioContext& context, const auto& function) {
    const asio::any_io_executor executor = context.get_executor();
    asio::post(executor, function);
  });
}
void contextMade(Attempt& attempt) {
  Scheduler scheduler(smallConfig(1));
  std::atomic<int> numRun{0};
  const auto use = [&] {
    AsioContext context(scheduler);
    asio::post(context, [&] { ++numRun; });
  };
  const int expected = attempt(use) ? 2 : 1;
  use();
  EXPECT_EQ(numRun, expected);
}
// The worker makes what it polls, and sleeps in that: there all of it happens, and fails.
void polledContextMade(Attempt& attempt) {
  Scheduler scheduler(smallConfig(1));
  const WaitGroup done(1);
  scheduler.enqueueOn(0, Task([&, done] {
                        int numRun = 0;
                        const auto use = [&] {
                          AsioContext context(scheduler, 0);
                          sleep_for(std::chrono::milliseconds(1));
                          asio::post(context, [&] { ++numRun; });
                        };
                        const int expected = attempt(use) ? 2 : 1;
                        use();
                        EXPECT_EQ(numRun, expected);
                        done.done();
                      }));
  done.wait();
}

class AsioFailingAllocationsTest : public FailingAllocations {};

TEST_P(AsioFailingAllocationsTest, OutsideOfTasksLeaveEverythingUsableAndNothingBehind) {
  failOutsideOfTasks();
}

TEST_P(AsioFailingAllocationsTest, InATaskLeaveEverythingUsableAndNothingBehind) { failInATask(); }

INSTANTIATE_TEST_SUITE_P(Of, AsioFailingAllocationsTest,
                         ::testing::Values(WEFT_ALLOCATING(timerAwaited), WEFT_ALLOCATING(valueGiven),
                                           WEFT_ALLOCATING(valueRefused), WEFT_ALLOCATING(taskPosted),
                                           WEFT_ALLOCATING(taskDeferred), WEFT_ALLOCATING(taskDispatched),
                                           WEFT_ALLOCATING(taskPostedByAny), WEFT_ALLOCATING(contextMade),
                                           WEFT_ALLOCATING(polledContextMade)),
                         tests::nameOf);

}  // namespace
}  // namespace weft::asio_failing_allocations_test
