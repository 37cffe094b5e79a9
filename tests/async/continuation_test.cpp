// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/event.h>
#include <weft/executor.h>
#include <weft/future.h>
#include <weft/mutex.h>
#include <weft/scheduler.h>

#include "async/deep_nests.h"
#include "count_mallocs.h"
#include "in_task.h"
#include "waiting.h"

// Future::then(): what it calls, where, and how far.
namespace weft {
namespace {

using tests::inTask;
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

// Its first caller runs what all schedule, one after the other, before schedule() returns.
struct StrandExecutor {
  void schedule(TaskHandle task) {
    {
      std::scoped_lock lock(guard);
      tasks.push_back(std::move(task));
      if (std::exchange(isDraining, true)) {
        return;
      }
    }
    for (TaskHandle next = pop(); next; next = pop()) {
      next.run();
    }
  }
  TaskHandle pop() {
    std::scoped_lock lock(guard);
    TaskHandle oldest;
    if (tasks.empty()) {
      isDraining = false;
    } else {
      oldest = std::move(tasks.front());
      tasks.pop_front();
    }
    return oldest;
  }
  std::mutex guard;
  std::deque<TaskHandle> tasks;
  bool isDraining = false;
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

TEST_P(ContinuationTest, KeepsWhatAnExecutorReferenceRefersToNotTheReference) {
  LaterExecutor wanted, other;
  Promise<int> promise;
  SharedFuture<int> source = promise.get_future();
  ExecutorReference where(wanted);
  const ExecutorReference sameForEver(wanted);
  Future<int> first = source.then(where, [](int n) { return n; });
  Future<int> second = source.then(sameForEver, [](int n) { return n; });
  where = ExecutorReference(other);
  promise.set_value(1);
  EXPECT_EQ(wanted.tasks.size(), 2u);
  EXPECT_EQ(other.tasks.size(), 0u);
}

// Its moves throw, from one of them on.
struct UnmovableExecutor {
  explicit UnmovableExecutor(int numMovesLeft) : numLeft(numMovesLeft) {}
  UnmovableExecutor(UnmovableExecutor&& from) : numLeft(from.numLeft - 1) {
    if (numLeft < 0) {
      throw std::runtime_error("no move");
    }
  }
  void schedule(TaskHandle task) { task.run(); }
  int numLeft;
};

TEST_P(ContinuationTest, AnExecutorWhoseMoveThrowsLosesNothing) {
  for (int numMoves = 0; numMoves < 6; ++numMoves) {
    Promise<int> promise;
    Future<int> source = promise.get_future();
    Future<int> end;
    auto token = std::make_shared<int>(1);
    std::weak_ptr<int> watch = token;
    try {
      end =
          source.then(UnmovableExecutor(numMoves), [token = std::move(token)](int n) { return n + *token; });
    } catch (const std::runtime_error&) {
      EXPECT_TRUE(watch.expired());
      ASSERT_TRUE(source.valid()) << "it is taken over only by a then() that returns";
    }
    promise.set_value(1);
    if (source.valid()) {
      EXPECT_LT(numMoves, 2);
      EXPECT_EQ(source.get(), 1);
    } else if (numMoves == 2) {
      EXPECT_THROW(end.get(), std::runtime_error);
    } else {
      EXPECT_EQ(end.get(), 2);
    }
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

TEST_P(ContinuationTest, IsReadyOnceItsTaskHasRunThoughItsExecutorGoesOn) {
  StrandExecutor strand;
  Promise<int> promise;
  Event awaited;
  bool isReady = false, isWoken = false;
  SharedFuture<int> first = promise.get_future().then(strand, [&](int n) {
    (void)async(strand, [&] {  // begins before schedule() has returned
      isReady = first.ready();
      isWoken = awaited.wait_for(std::chrono::seconds(isReady ? 60 : 0));
    });
    return n + 1;
  });
  std::thread waiter([&] {
    EXPECT_EQ(first.get(), 2);
    awaited.signal();
  });
  promise.set_value(1);
  waiter.join();
  EXPECT_TRUE(isReady) << "who asks is told at once";
  EXPECT_TRUE(isWoken) << "who waits, too";
}

TEST_P(ContinuationTest, IsReadyOnceItsTaskWasDroppedThoughItsExecutorGoesOn) {
  struct Dropper {
    void schedule(TaskHandle task) {
      task = TaskHandle();
      isReady = dropped->ready();
    }
    Future<int>* dropped;
    bool isReady = false;
  } dropper{nullptr};
  Promise<int> promise;
  Future<int> dropped = promise.get_future().then(dropper, [](int n) { return n; });
  dropper.dropped = &dropped;
  promise.set_value(1);
  EXPECT_TRUE(dropper.isReady);
  EXPECT_THROW(dropped.get(), TaskNotExecuted);
}

TEST_P(ContinuationTest, IsCalledThoughTheExecutorOfTheOneBeforeGoesOn) {
  StrandExecutor strands[3];
  LaterExecutor elsewhere;
  Promise<int> promise;
  std::vector<size_t> numGivenAway;
  const auto step = [&](StrandExecutor& strand) {
    return [&](int n) {
      (void)async(strand, [&] { numGivenAway.push_back(elsewhere.tasks.size()); });
      return n + 1;
    };
  };
  Future<int> end = promise.get_future()
                        .then(strands[0], step(strands[0]))
                        .then(strands[1], step(strands[1]))
                        .then(strands[2], step(strands[2]))
                        .then(elsewhere, [](int n) { return n; });
  promise.set_value(0);
  EXPECT_EQ(numGivenAway, (std::vector<size_t>{1, 1, 1}))
      << "a strand that never gets empty would keep others from it";
  ASSERT_EQ(elsewhere.tasks.size(), 1u);
  elsewhere.tasks[0].run();
  EXPECT_EQ(end.get(), 3);
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

TEST_P(ContinuationTest, AMillionContinuationsOnAStrandOrDropped) {
  const int length = scaled(kLong, 20'000);
  StrandExecutor strand;
  DroppingExecutor dropper;
  for (int i = 0; i < 2; ++i) {
    Promise<int> promise;
    Future<int> end = chain(promise.get_future(), length, [&](Future<int> f) {
      const auto pass = [](Future<int> before) { return before; };
      return i == 0 ? f.then(strand, pass) : f.then(dropper, pass);
    });
    schedule([&] { promise.set_value(7); });  // on a small stack
    if (i == 0) {
      EXPECT_EQ(end.get(), 7);
    } else {
      EXPECT_THROW(end.get(), TaskNotExecuted);
    }
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

// Each function has captured the promise of the next future, and is skipped, or dropped by its executor.
TEST_P(ContinuationTest, AnErrorPassesAMillionFunctionsThatHaveCapturedPromises) {
  const int length = scaled(kLong, 20'000);
  DroppingExecutor dropper;
  for (const bool isDropped : {false, true}) {
    Promise<int> first;
    Future<int> end = first.get_future();
    for (int i = 0; i < length; ++i) {
      Promise<int> next;
      Future<int> after = next.get_future();
      if (isDropped) {
        (void)end.then(dropper, [next = std::move(next)](Future<int>) mutable { next.set_value(0); });
      } else {
        (void)end.then([next = std::move(next)](int n) mutable { next.set_value(n); });
      }
      end = std::move(after);
    }
    schedule([&] { first.set_exception(std::runtime_error("first")); });  // on a small stack
    EXPECT_THROW(end.get(), BrokenPromise);
  }
}

TEST_P(ContinuationTest, ADestructorMayWaitForAContinuationThatItHasBroughtAboutHoweverDeep) {
  for (const bool isTimed : {false, true}) {
    const auto nest = [=] { tests::deepInDestructors(20, [] {}, isTimed); };
    nest();
    inTask(nest);
  }
}

// Calls `call` in nests of which some are so deep that what becomes ready there is put off.
void inDeepNests(const std::function<void()>& call) {
  for (int depth = 0; depth < 12; ++depth) {
    tests::deepInDestructors(depth, call);
  }
}

// What was put off in a deep nest must not run on top of the wait, whose locks it would find.
void waitDeepWithALock() {
  inDeepNests([] {
    mutex lock;
    Promise<void> first, second;
    Event hasBegun(Event::Mode::Manual);
    Future<void> continuation = first.get_future().then(inlineExecutor(), [&, hasBegun] {
      hasBegun.signal();
      const std::scoped_lock guard(lock);
    });
    Future<void> unrelated = second.get_future();
    first.set_value();
    std::thread other([&] {
      hasBegun.wait();
      second.set_value();
    });
    {
      const std::scoped_lock guard(lock);
      unrelated.wait();
    }
    continuation.wait();
    other.join();
  });
}

TEST_P(ContinuationTest, WhatADeepNestPutsOffDoesNotRunUnderTheLocksOfItsWaits) {
  waitDeepWithALock();
  inTask(waitDeepWithALock);
}

TEST(UnboundContinuationTest, WhatADeepNestPutsOffDoesNotRunUnderTheLocksOfItsWaits) { waitDeepWithALock(); }

// The nest waits for something other than a future, which a continuation brings that was put off.
void waitDeepForAnEvent() {
  inDeepNests([] {
    Promise<void> promise;
    const Event isCalled(Event::Mode::Manual);
    const Future<void> next = promise.get_future().then(inlineExecutor(), [=] { isCalled.signal(); });
    promise.set_value();
    isCalled.wait();
  });
}

TEST_P(ContinuationTest, WhatADeepNestPutsOffGoesOnWhateverTheNestWaitsFor) {
  waitDeepForAnEvent();
  inTask(waitDeepForAnEvent);
}

// It was put off while no scheduler was bound.
TEST(UnboundContinuationTest, WhatADeepNestPutsOffMayBeWaitedForAfterABind) {
  inDeepNests([] {
    Promise<void> promise;
    const Future<void> next = promise.get_future().then(inlineExecutor(), [] {});
    promise.set_value();
    Scheduler scheduler(tests::smallConfig(0));
    const Scheduler::Binding binding(scheduler);
    next.wait();
  });
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
