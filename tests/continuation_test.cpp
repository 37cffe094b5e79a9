// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/executor.h>
#include <weft/future.h>
#include <weft/scheduler.h>

#include "count_mallocs.h"
#include "waiting.h"

// Future::then(): what it calls, where, and how far.
namespace weft {
namespace {

using tests::scaled;

class ContinuationTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(ContinuationTest);

// Executors that a program may have.
struct OwnInlineExecutor {
  void schedule(TaskHandle task) {
    ++numTasks;
    task.run();
  }
  std::atomic<int> numTasks{0};
};

struct LaterExecutor {
  void schedule(TaskHandle task) { tasks.push_back(std::move(task)); }
  std::vector<TaskHandle> tasks;
};

struct DroppingExecutor {
  void schedule(const TaskHandle&) {}
};

struct ThrowingExecutor {
  void schedule(TaskHandle) { throw std::runtime_error("no room"); }
};

TEST_P(ContinuationTest, TakesTheValueTheFutureOrNothing) {
  EXPECT_EQ(async([] { return 3; }).then([](int n) { return n + 1; }).get(), 4);
  EXPECT_EQ(async([] { return 3; }).then([](Future<int> f) { return f.get() + 2; }).get(), 5);
  EXPECT_EQ(async([] { return 3; }).then([] { return 6; }).get(), 6);
  EXPECT_EQ(async([] {}).then([] { return 7; }).get(), 7);
  EXPECT_EQ(async([] {}).then([](Future<void> f) { return f.valid() && f.ready() ? 8 : 0; }).get(), 8);
  EXPECT_EQ(async([] { return 3; }).then([](auto value) { return value; }).get(), 3)
      << "the value comes first";
  int target = 0;
  EXPECT_EQ(&async([&]() -> int& { return target; }).then([](int& r) -> int& { return r; }).get(), &target);
  async([] { return 3; }).then([&](int n) { target = n; }).get();
  EXPECT_EQ(target, 3);
}

TEST_P(ContinuationTest, MovesTheValue) {
  Future<std::unique_ptr<int>> future = async([] {
                                          return std::make_unique<int>(1);
                                        }).then([extra = std::make_unique<int>(2)](std::unique_ptr<int> p) {
    *p += *extra;
    return p;
  });
  EXPECT_EQ(*future.get(), 3);
}

TEST_P(ContinuationTest, TheValueFormIsSkippedOnAnErrorAndPassesItOn) {
  std::atomic<int> numCalls{0};
  Future<int> future = async([]() -> int { throw std::runtime_error("first"); })
                           .then([&](int n) { return ++numCalls, n; })
                           .then([&] { return ++numCalls, 0; })
                           .then([&](Future<int> failed) {
                             EXPECT_EQ(numCalls, 0);
                             EXPECT_THROW(failed.get(), std::runtime_error);
                             return 5;
                           })
                           .then([&](int n) { return ++numCalls, n; });
  EXPECT_EQ(future.get(), 5);
  EXPECT_EQ(numCalls, 1);
}

TEST_P(ContinuationTest, ExceptionsOfAContinuationGoToItsFuture) {
  Future<int> future =
      async([] { return 1; }).then([](int) -> int { throw std::logic_error("continuation"); });
  EXPECT_THROW(future.get(), std::logic_error);
}

TEST_P(ContinuationTest, AFutureThatAContinuationReturnsIsUnwrapped) {
  Future<int> future = async([] { return 1; }).then([](int n) { return async([n] { return n + 1; }); });
  EXPECT_EQ(future.get(), 2);
  Promise<int> promise;
  Future<int> late =
      async([] {}).then([&] { return promise.get_future(); }).then([](int n) { return n * 2; });
  promise.set_value(21);
  EXPECT_EQ(late.get(), 42);
}

TEST_P(ContinuationTest, SharedFuturesHaveAnyNumberOfContinuations) {
  Promise<std::string> promise;
  SharedFuture<std::string> future = promise.get_future().share();
  std::vector<Future<size_t>> sizes;
  for (int i = 0; i < 20; ++i) {
    sizes.push_back(future.then([](const std::string& s) { return s.size(); }));
    sizes.push_back(future.then([](SharedFuture<std::string> f) { return f.get().size(); }));
    sizes.push_back(future.then([] { return size_t{3}; }));
  }
  EXPECT_TRUE(future.valid());
  promise.set_value("abc");
  for (auto& size : sizes) {
    EXPECT_EQ(size.get(), 3u);
  }
}

TEST_P(ContinuationTest, RunsOnTheSchedulerOfWhoeverMakesTheFutureReady) {
  Promise<void> promise;
  Future<Scheduler*> where = promise.get_future().then([] { return Scheduler::get(); });
  promise.set_value();
  EXPECT_EQ(where.get(), &scheduler());
  Promise<void> elsewhere;
  where = elsewhere.get_future().then([] { return Scheduler::get(); });
  std::thread([&] { elsewhere.set_value(); }).join();
  Scheduler* other = where.get();
  EXPECT_NE(other, nullptr);
  EXPECT_NE(other, &scheduler()) << "the thread had none bound: the default executor's";
}

TEST_P(ContinuationTest, RunsOnTheExecutorThatIsNamed) {
  LaterExecutor later;
  Future<int> future = makeReadyFuture(1).then(later, [](int n) { return n + 1; });
  ASSERT_EQ(later.tasks.size(), 1u);
  EXPECT_FALSE(future.ready());
  later.tasks[0].run();
  EXPECT_EQ(future.get(), 2);
  OwnInlineExecutor own;
  EXPECT_EQ(async([] { return 1; }).then(own, [](int n) { return n; }).get(), 1);
  EXPECT_EQ(own.numTasks, 1);
  EXPECT_EQ(async([] { return 1; }).then(inlineExecutor(), [](int n) { return n; }).get(), 1);
  EXPECT_EQ(async([] { return 1; }).then(ExecutorReference(own), [](int n) { return n; }).get(), 1);
  if (numWorkers() > 0) {
    std::thread([&] {
      EXPECT_EQ(makeReadyFuture().then(scheduler(), [] { return Scheduler::get(); }).get(), &scheduler());
    }).join();
  }
}

TEST_P(ContinuationTest, WhatAnExecutorThrowsGoesToTheContinuationsFuture) {
  ThrowingExecutor thrower;
  EXPECT_THROW(makeReadyFuture(1).then(thrower, [](int n) { return n; }).get(), std::runtime_error);
  Promise<int> promise;
  Future<int> future =
      promise.get_future().then(thrower, [](int n) { return n; }).then([](int n) { return n; });
  promise.set_value(1);
  EXPECT_THROW(future.get(), std::runtime_error);
}

TEST_P(ContinuationTest, AnExecutorThatDropsTheTaskCancelsIt) {
  DroppingExecutor dropper;
  EXPECT_THROW(makeReadyFuture(1).then(dropper, [](int n) { return n; }).get(), TaskNotExecuted);
  EXPECT_THROW(async(dropper, [] {}).then([] {}).get(), TaskNotExecuted);
}

// A chain of a million continuations on a future, none of which may recurse: neither when they run, nor when
// an error passes them, nor when they go.
template <class Attach>
Future<int> chain(Future<int> future, int length, const Attach& attach) {
  for (int i = 0; i < length; ++i) {
    future = attach(std::move(future));
  }
  return future;
}

constexpr int kLong = 1'000'000;

TEST_P(ContinuationTest, AMillionContinuationsAsTasks) {
  const int length = scaled(kLong, 20'000);
  Promise<int> promise;
  Future<int> end =
      chain(promise.get_future(), length, [](Future<int> f) { return f.then([](int n) { return n + 1; }); });
  promise.set_value(0);
  EXPECT_EQ(end.get(), length);
}

TEST_P(ContinuationTest, AMillionContinuationsInPlace) {
  const int length = scaled(kLong, 20'000);
  OwnInlineExecutor own;
  for (int i = 0; i < 2; ++i) {
    Promise<int> promise;
    Future<int> end = chain(promise.get_future(), length, [&](Future<int> f) {
      const auto next = [](int n) { return n + 1; };
      return i == 0 ? f.then(inlineExecutor(), next) : f.then(own, next);
    });
    schedule([&] { promise.set_value(0); });  // on a small stack
    EXPECT_EQ(end.get(), length);
  }
}

TEST_P(ContinuationTest, AnErrorPassesAMillionContinuations) {
  const int length = scaled(kLong, 20'000);
  Promise<int> promise;
  Future<int> end =
      chain(promise.get_future(), length, [](Future<int> f) { return f.then([](int n) { return n + 1; }); });
  schedule([&] { promise.set_exception(std::runtime_error("first")); });
  EXPECT_THROW(end.get(), std::runtime_error);
}

TEST_P(ContinuationTest, AMillionContinuationsOfABrokenPromiseThatNobodyAwaits) {
  const int length = scaled(kLong, 20'000);
  auto promise = std::make_unique<Promise<int>>();
  {
    Future<int> dropped = chain(promise->get_future(), length,
                                [](Future<int> f) { return f.then([](int n) { return n + 1; }); });
  }
  promise.reset();
}

TEST_P(ContinuationTest, AMillionFuturesThatEachReturnTheNext) {
  const int length = scaled(kLong, 20'000);
  std::vector<Promise<int>> promises(static_cast<size_t>(length));
  Future<int> end = promises[0].get_future();
  for (int i = 1; i < length; ++i) {
    // Ready once the one before is ready, and the promise of its own is set.
    end = end.then(inlineExecutor(),
                   [&promises, i](int) { return promises[static_cast<size_t>(i)].get_future(); });
  }
  schedule([&] {
    for (int i = length - 1; i >= 0; --i) {
      promises[static_cast<size_t>(i)].set_value(i);
    }
  });
  EXPECT_EQ(end.get(), length - 1);
}

TEST(UnboundContinuationTest, OneAllocationAContinuation) {
  if (!tests::kCountsMallocs) {
    return;
  }
  struct Large {
    char bytes[500] = {};
  };
  const auto run = [](int rounds) {
    const uint64_t before = tests::numMallocs();
    for (int i = 0; i < rounds; ++i) {
      Promise<int> promise;
      Future<int> end = promise.get_future()
                            .then(inlineExecutor(), [](int n) { return n; })
                            .then(inlineExecutor(), [large = Large()](int n) { return n + large.bytes[0]; });
      promise.set_value(1);
      end.get();
    }
    return tests::numMallocs() - before;
  };
  run(1'000);
  EXPECT_EQ(run(1'000), 1'000u) << "the large one; the others lie in pooled nodes";
}

TEST(UnboundContinuationTest, AttachingRacesWithSetting) {
  for (int i = 0; i < scaled(5'000, 500); ++i) {
    Promise<int> promise;
    SharedFuture<int> future = promise.get_future().share();
    std::atomic<int> sum{0};
    std::thread setter([&] { promise.set_value(1); });
    Future<void> first = future.then(inlineExecutor(), [&](int n) { sum += n; });
    std::thread other([&] { future.then(inlineExecutor(), [&](int n) { sum += n; }).get(); });
    Future<void> third = future.then(inlineExecutor(), [&](int n) { sum += n; });
    first.get();
    third.get();
    setter.join();
    other.join();
    EXPECT_EQ(sum, 3);
  }
}

}  // namespace
}  // namespace weft
