// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <weft/executor.h>
#include <weft/future.h>

#include "live_objects.h"
#include "with_scheduler.h"

// Future::recover() and Future::onError().
namespace weft {
namespace recovery_test {

using tests::LiveObject;

class RecoveryTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(RecoveryTest);

std::string messageOf(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& thrown) {
    return thrown.what();
  }
}

template <class T>
Future<T> failing(const char* message) {
  return async([message]() -> T { throw std::runtime_error(message); });
}

TEST_P(RecoveryTest, AnErrorBecomesAValue) {
  EXPECT_EQ(failing<std::string>("first").recover(&messageOf).get(), "first");
  EXPECT_EQ(failing<double>("first").recover([] { return 7; }).get(), 7.0) << "of a type that converts";
  bool isCalled = false;
  failing<void>("first").recover([&] { isCalled = true; }).get();
  EXPECT_TRUE(isCalled);
  int target = 0;
  EXPECT_EQ(&failing<int&>("first").recover([&]() -> int& { return target; }).get(), &target);
}

TEST_P(RecoveryTest, AValueIsPassedOnWithoutACall) {
  const auto unexpected = [](const std::exception_ptr&) -> std::unique_ptr<int> {
    ADD_FAILURE() << "there is no error";
    return nullptr;
  };
  EXPECT_EQ(*async([] { return std::make_unique<int>(4); }).recover(unexpected).get(), 4);
  EXPECT_EQ(*async([] { return std::make_unique<int>(5); }).onError(unexpected).get(), 5);
  async([] {}).recover([] { ADD_FAILURE() << "there is no error"; }).get();
  int target = 0;
  EXPECT_EQ(&async([&]() -> int& { return target; }).onError([] {}).get(), &target);
}

TEST_P(RecoveryTest, AFutureThatRecoverReturnsIsAwaited) {
  Promise<int> second;
  Future<int> result = failing<int>("first").recover([&] { return second.get_future(); });
  EXPECT_FALSE(result.ready());
  second.set_value(2);
  EXPECT_EQ(result.get(), 2);
  SharedFuture<int> shared = makeReadyFuture(3);
  EXPECT_EQ(failing<int>("first").recover([=] { return shared; }).get(), 3);
  EXPECT_EQ(makeReadyFuture(1).recover([=] { return shared; }).get(), 1) << "nor awaited without an error";
}

TEST_P(RecoveryTest, WhatTheFunctionThrowsIsTheError) {
  const auto fails = [](const std::exception_ptr&) -> int { throw std::logic_error("second"); };
  EXPECT_EQ(messageOf(failing<int>("first").recover(fails).exception()), "second");
  EXPECT_EQ(messageOf(failing<int>("first").onError(fails).exception()), "second");
}

TEST_P(RecoveryTest, OnErrorPassesTheErrorOnOnceItHasReturned) {
  std::string seen;
  Future<int> result = failing<int>("first").onError([&](const std::exception_ptr& error) {
    seen = messageOf(error);
    return std::string("dropped");
  });
  EXPECT_EQ(messageOf(result.exception()), "first");
  EXPECT_EQ(seen, "first");
}

TEST_P(RecoveryTest, TheFunctionRunsOnTheExecutor) {
  MainLoopExecutor loop;
  int numCalls = 0;
  Future<int> result = failing<int>("first").recover(loop, [&] { return ++numCalls; });
  EXPECT_FALSE(result.ready());
  loop.runUntil(result);
  EXPECT_EQ(result.get(), 1);
  Future<int> noticed = failing<int>("second").onError(loop, [&] { ++numCalls; });
  EXPECT_FALSE(noticed.ready());
  loop.runUntil(noticed);
  EXPECT_EQ(messageOf(noticed.exception()), "second");
  EXPECT_EQ(numCalls, 2);
  EXPECT_EQ(async([] { return 3; }).recover(loop, [] { return 0; }).get(), 3) << "a value needs no executor";
}

TEST_P(RecoveryTest, AnExecutorThatEndsGivesItsOwnError) {
  Promise<int> promise;
  Future<int> result;
  {
    MainLoopExecutor loop;
    result = promise.get_future().recover(loop, [] { return 0; });
  }
  promise.set_exception(std::runtime_error("first"));
  EXPECT_THROW((void)result.get(), TaskNotExecuted);
}

TEST_P(RecoveryTest, SharedFuturesRecoverAnyNumberOfTimes) {
  const SharedFuture<std::string> failed = failing<std::string>("first");
  EXPECT_EQ(failed.recover(&messageOf).get(), "first");
  EXPECT_EQ(failed.recover(inlineExecutor(), [] { return "again"; }).get(), "again");
  EXPECT_EQ(messageOf(failed.onError([] {}).exception()), "first");
  const SharedFuture<std::string> fine = async([] { return std::string("fine"); });
  EXPECT_EQ(fine.recover(&messageOf).get() + fine.onError(inlineExecutor(), [] {}).get(), "finefine");
  EXPECT_EQ(fine.get(), "fine") << "copied";
}

TEST_P(RecoveryTest, AChainPassesErrorsAndValuesToTheirTaker) {
  std::atomic<int> numCalls{0};
  Future<int> result = failing<int>("first")
                           .then([&](int n) { return ++numCalls, n; })
                           .onError([&] { ++numCalls; })
                           .recover([] { return 3; })
                           .recover([&] { return ++numCalls, 0; })
                           .then([](int n) { return n + 1; });
  EXPECT_EQ(result.get(), 4);
  EXPECT_EQ(numCalls, 1);
}

TEST_P(RecoveryTest, AMillionLinksPassAValueOn) {
  Promise<int> promise;
  Future<int> last = promise.get_future();
  for (int i = 0; i < tests::scaled(1'000'000, 10'000); ++i) {
    last = last.recover([] { return 0; });
  }
  promise.set_value(1);
  EXPECT_EQ(last.get(), 1);
}

// The example of Future::recover().
struct Image {
  int size = 0;
};
Image load(const std::string& path) { throw std::runtime_error(path); }

TEST_P(RecoveryTest, TheImageOfTheExampleIsEmpty) {
  const std::string path = "no such file";
  weft::Future<Image> image = weft::async([=] { return load(path); }).recover([] { return Image(); });
  EXPECT_EQ(image.get().size, 0);
}

// A value whose moves throw once `movesLeft` are used up.
struct ThrowsWhenMoved {
  ThrowsWhenMoved() = default;
  ThrowsWhenMoved(ThrowsWhenMoved&& other) : counted(other.counted) {
    if (movesLeft-- == 0) {
      throw std::runtime_error("moved");
    }
  }
  LiveObject counted;
  static inline std::atomic<int> movesLeft{0};
};

TEST_P(RecoveryTest, AValueThatCannotBeMovedOnIsAnError) {
  ThrowsWhenMoved::movesLeft = 1'000;
  Promise<ThrowsWhenMoved> promise;
  Future<ThrowsWhenMoved> result = promise.get_future().recover([] { return ThrowsWhenMoved(); });
  promise.set_value(ThrowsWhenMoved());
  EXPECT_FALSE(result.failed());
  ThrowsWhenMoved::movesLeft = 0;
  result = result.recover([] { return ThrowsWhenMoved(); });
  EXPECT_EQ(messageOf(result.exception()), "moved");
  EXPECT_EQ(LiveObject::numAlive, 0);
}

TEST_P(RecoveryTest, TheFunctionGoesWhetherItIsCalledOrNot) {
  for (const bool fails : {false, true}) {
    const LiveObject captured(1);
    Promise<int> promise;
    Future<int> result = promise.get_future().recover([captured] { return captured.value; });
    Future<int> dropped = makeReadyFuture(0).onError([captured] {});
    if (fails) {
      promise.set_exception(std::runtime_error("first"));
    } else {
      promise.set_value(1);
    }
    EXPECT_EQ(result.get(), 1);
    EXPECT_EQ(dropped.get(), 0);
    EXPECT_EQ(LiveObject::numAlive, 1) << "before the result is there";
  }
}

}  // namespace recovery_test
}  // namespace weft
