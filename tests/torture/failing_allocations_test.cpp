// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <iterator>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/weft.h>

#include "failing_allocations.h"

// operator new fails in tasks, futures, groups, graphs and tickets.
namespace weft::failing_allocations_test {
namespace {

using tests::AllocatingOperation;
using tests::asyncOn;
using tests::Attempt;
using tests::counting;
using tests::FailingAllocations;
using tests::Large;
using tests::longText;
using tests::nameOf;

void scheduleLarge(Attempt& attempt) {
  std::atomic<int> numRun{0};
  const auto function = counting(numRun);
  const auto add = [&] { schedule(function); };
  const int expected = attempt(add) ? 2 : 1;
  add();
  while (numRun < expected) {
    yield();
  }
}
void scheduleBound(Attempt& attempt) {
  std::atomic<int> sum{0};
  const auto add = [&, text = longText()] {
    schedule([&sum](const std::string& a, int b) { sum += static_cast<int>(a.size()) + b; }, text, 1);
  };
  const int expected = attempt(add) ? 202 : 101;
  add();
  while (sum < expected) {
    yield();
  }
}

void enqueueTask(Attempt& attempt) {
  std::atomic<int> numRun{0};
  const auto add = [&] {
    Task task([&numRun, text = longText()] { ++numRun; }, Task::Flags::SameThread);
    Scheduler::get()->enqueue(std::move(task));
  };
  const int expected = attempt(add) ? 2 : 1;
  add();
  while (numRun < expected) {
    yield();
  }
  EXPECT_EQ(numRun, expected);
}

void asyncHere(Attempt& attempt) { asyncOn(attempt); }
void asyncInline(Attempt& attempt) { asyncOn(attempt, inlineExecutor()); }
void asyncOnThread(Attempt& attempt) { asyncOn(attempt, threadExecutor()); }
void asyncInMainLoop(Attempt& attempt) {
  MainLoopExecutor loop;
  std::atomic<int> numRun{0};
  const auto function = counting(numRun);
  const auto begin = [&] { (void)async(loop, function); };
  const int expected = attempt(begin) ? 2 : 1;
  begin();
  loop.runAll();
  EXPECT_EQ(numRun, expected);
}
void mainLoopMade(Attempt& attempt) {
  attempt([] { MainLoopExecutor(); });
  MainLoopExecutor();
}

void thenOf(Attempt& attempt, bool isReady) {
  Promise<int> promise;
  Future<int> future = promise.get_future();
  if (isReady) {
    promise.set_value(20);
  }
  const auto addOne = [text = longText(), large = Large()](int value) {
    return value + (text.empty() || large.empty() ? 0 : 1);
  };
  const auto follow = [&] { return std::move(future).then(addOne); };
  Future<int> next;
  if (!attempt([&] { next = follow(); })) {
    ASSERT_TRUE(future.valid());  // nothing was taken
    next = follow();
  }
  if (!isReady) {
    promise.set_value(20);
  }
  EXPECT_EQ(next.get(), 21);
}
void thenOfReady(Attempt& attempt) { thenOf(attempt, true); }
void thenOfLater(Attempt& attempt) { thenOf(attempt, false); }

void recoverOf(Attempt& attempt) {
  Promise<std::string> promise;
  Future<std::string> future = promise.get_future();
  Future<std::string> result;
  const auto follow = [&] {
    result =
        std::move(future).recover([large = Large()] { return large.empty() ? std::string() : longText(); });
  };
  if (!attempt(follow)) {
    ASSERT_TRUE(future.valid());
    follow();
  }
  promise.set_exception(std::make_exception_ptr(1));
  EXPECT_EQ(result.get(), longText());
}
// A value that cannot be copied for want of memory is an error.
void valuePassedOn(Attempt& attempt) {
  const SharedFuture<std::string> future = makeReadyFuture(longText());
  Future<std::string> result;
  if (attempt([&] { result = future.onError([] {}); })) {
    EXPECT_TRUE(result.failed() == attempt.hasFailed());
  }
  EXPECT_EQ(future.get(), longText());
}

void withinOf(Attempt& attempt) {
  Promise<std::string> promise;
  Future<std::string> future = promise.get_future();
  Future<std::string> result;
  const auto begin = [&] { result = future.within(std::chrono::hours(24)); };
  if (!attempt(begin)) {
    ASSERT_TRUE(future.valid());
    begin();
  }
  promise.set_value(longText());
  EXPECT_EQ(result.get(), longText());
}
void afterStop(Attempt& attempt) {
  std::stop_source stop;
  attempt([&] { (void)after(std::chrono::hours(24), stop.get_token()); });
  Future<void> future = after(std::chrono::hours(24), stop.get_token());
  stop.request_stop();
  EXPECT_TRUE(future.ready());
}

// The future of a future.
void unwrapped(Attempt& attempt) {
  Promise<std::string> inner;
  std::optional<Future<std::string>> given = inner.get_future();
  Promise<int> outer;
  Future<int> future = outer.get_future();
  const auto follow = [&] {
    return std::move(future).then(
        [&given, large = Large()](int) { return large.empty() ? Future<std::string>() : std::move(*given); });
  };
  Future<std::string> result;
  if (!attempt([&] { result = follow(); })) {
    result = follow();
  }
  outer.set_value(1);
  inner.set_value(longText());
  EXPECT_EQ(result.get(), longText());
}

void thenOfShared(Attempt& attempt) {
  Promise<std::string> promise;
  const SharedFuture<std::string> future = promise.get_future().share();
  const auto follow = [&] {
    return future.then([large = Large()](const std::string& text) { return text.size() + large.size(); });
  };
  Future<size_t> next;
  const bool isDone = attempt([&] { next = follow(); });
  Future<size_t> another = follow();
  promise.set_value(longText());
  EXPECT_EQ(another.get(), 400u);
  if (isDone) {
    EXPECT_EQ(next.get(), 400u);
  }
}

void promiseMade(Attempt& attempt) {
  using Value = std::array<std::string, 20>;
  Future<Value> future;
  std::optional<Promise<Value>> promise;
  attempt([&] {
    promise.emplace();
    future = promise->get_future();
  });
  promise.emplace();
  future = promise->get_future();
  promise->set_value(Value{longText()});
  EXPECT_EQ(future.get()[0], longText());
}

// An exception of the value's copy becomes that of the future.
void promiseSet(Attempt& attempt) {
  Promise<std::string> promise;
  Future<std::string> future = promise.get_future();
  const std::string text = longText();
  EXPECT_TRUE(attempt([&] { promise.set_value(text); }));
  if (attempt.hasFailed()) {
    EXPECT_THROW((void)future.get(), std::bad_alloc);
  } else {
    EXPECT_EQ(future.get(), text);
  }
}

// Where the call throws, the futures are the caller's still.
template <class When>
void whenOf(Attempt& attempt, const When& when) {
  std::vector<Promise<int>> promises(5);
  std::vector<Future<int>> futures;
  for (Promise<int>& promise : promises) {
    futures.push_back(promise.get_future());
  }
  decltype(when(std::move(futures))) result;
  const auto begin = [&] { result = when(std::move(futures)); };
  if (!attempt(begin)) {
    for (const Future<int>& future : futures) {
      ASSERT_TRUE(future.valid());
    }
    begin();
  }
  for (Promise<int>& promise : promises) {
    promise.set_value(1);
  }
  result.wait();
  EXPECT_TRUE(result.ready());
}
void whenAllOf(Attempt& attempt) {
  whenOf(attempt, [](std::vector<Future<int>>&& futures) {
    return whenAll(std::make_move_iterator(futures.begin()), std::make_move_iterator(futures.end()));
  });
}
void whenAnyOf(Attempt& attempt) {
  whenOf(attempt, [](std::vector<Future<int>>&& futures) { return whenAny(futures); });
}
void failFastOf(Attempt& attempt) {
  const std::stop_source stop;
  whenOf(attempt, [&](std::vector<Future<int>>&& futures) { return whenAll(stop, futures); });
}
void firstSuccessOf(Attempt& attempt) {
  whenOf(attempt, [](std::vector<Future<int>>&& futures) { return firstSuccess(futures); });
}
void whenAllEach(Attempt& attempt) {
  Promise<int> first;
  Promise<std::string> second;
  const auto join = [&](auto& a, auto& b) { return whenAll(a, b); };
  const SharedFuture<int> a = first.get_future().share();
  const SharedFuture<std::string> b = second.get_future().share();
  std::optional<decltype(join(a, b))> result;
  attempt([&] { result = join(a, b); });
  auto another = join(a, b);
  first.set_value(1);
  second.set_value(longText());
  EXPECT_EQ(std::get<0>(another.get()).get(), 1);
  if (result) {
    EXPECT_EQ(std::get<1>(result->get()).get(), longText());
  }
}

void whenAnyEach(Attempt& attempt) {
  Promise<int> first;
  Promise<std::string> second;
  Future<int> a = first.get_future();
  Future<std::string> b = second.get_future();
  const auto join = [&] { return whenAny(std::move(a), std::move(b)); };
  decltype(join()) result;
  const auto begin = [&] { result = join(); };
  if (!attempt(begin)) {
    ASSERT_TRUE(a.valid() && b.valid());
    begin();
  }
  second.set_value(longText());
  EXPECT_EQ(std::get<1>(result.get().futures).get(), longText());
}

void groupRuns(Attempt& attempt) {
  TaskGroup group;
  std::atomic<int> numRun{0};
  const auto function = counting(numRun);
  const auto add = [&] { group.run(function); };
  const int expected = attempt(add) ? 3 : 2;
  add();
  group.wait();
  add();
  group.wait();
  EXPECT_EQ(numRun, expected);
}
void groupMade(Attempt& attempt) {
  std::atomic<int> numRun{0};
  const auto use = [&] {
    TaskGroup group;
    const std::stop_token token = group.token();
    group.run([&numRun] { ++numRun; });
    group.cancel();
    EXPECT_TRUE(token.stop_requested());
    group.wait();
  };
  attempt(use);
  use();
}
// What a task threw comes to wait() also where no memory is left.
void groupFails(Attempt& attempt) {
  TaskGroup group;
  group.run([] { throw 7; });
  int thrown = 0;
  EXPECT_TRUE(attempt([&] {
    try {
      group.wait();
    } catch (int value) {
      thrown = value;
    }
  }));
  EXPECT_EQ(thrown, 7);
  EXPECT_TRUE(group.isCanceled());
  EXPECT_TRUE(group.token().stop_requested());
}
// It has no token yet.
void groupCanceled(Attempt& attempt) {
  TaskGroup group;
  EXPECT_TRUE(attempt([&] { group.cancel(); }));
  EXPECT_TRUE(group.token().stop_requested());
}
void groupOnThreads(Attempt& attempt) {
  TaskGroup group(threadExecutor());
  std::atomic<int> numRun{0};
  const auto function = counting(numRun);
  const auto add = [&] { group.run(function); };
  const int expected = attempt(add) ? 2 : 1;
  add();
  group.wait();
  EXPECT_EQ(numRun, expected);
}

void dagBuilt(Attempt& attempt) {
  int numRun = 0;
  const auto use = [&] {
    DAG<int&>::Builder builder(attempt.allocator());
    auto last = builder.root();
    for (int i = 0; i < 10; ++i) {
      last = builder.node([large = Large()](int& count) { count += large.empty() ? 0 : 1; },
                          {builder.root(), last});
    }
    builder.build()->run(numRun);
  };
  const bool isDone = attempt(use);
  EXPECT_EQ(numRun, isDone ? 10 : 0);
  use();
}
void dagRun(Attempt& attempt) {
  DAG<int&>::Builder builder(attempt.allocator());
  auto left = builder.root().then([](int& count) { ++count; });
  builder.node([](int& count) { ++count; }, {left, builder.root()});
  const auto dag = builder.build();
  int numRun = 0;
  const bool isDone = attempt([&] { dag->run(numRun); });
  EXPECT_EQ(numRun, isDone ? 2 : 0);
  dag->run(numRun);
  EXPECT_EQ(numRun, isDone ? 4 : 2);
}

void ticketCalls(Attempt& attempt) {
  Ticket::Queue queue;
  const Ticket first = queue.take(), second = queue.take(), third = queue.take();
  std::atomic<int> numRun{0};
  const auto call = counting(numRun);
  if (!attempt([&] { second.onCall(call); })) {
    second.onCall(call);
  }
  first.done();
  second.wait();
  while (numRun == 0) {
    yield();
  }
  second.done();
  third.wait();
  third.done();
  EXPECT_EQ(numRun, 1);
}
void ticketsTaken(Attempt& attempt) {
  Ticket::Queue queue;
  std::vector<Ticket> tickets;
  attempt([&] { queue.take(20, [&](Ticket&& ticket) { tickets.push_back(std::move(ticket)); }); });
  for (const Ticket& ticket : tickets) {
    ticket.done();
  }
  queue.take().wait();
}

void taskMade(Attempt& attempt) {
  std::atomic<int> numRun{0};
  const auto use = [&] {
    Task task(
        [&numRun, text = longText(), large = Large()] { numRun += text.empty() || large.empty() ? 0 : 1; });
    task();
  };
  const int expected = attempt(use) ? 2 : 1;
  use();
  EXPECT_EQ(numRun, expected);
}

class FailingAllocationsTest : public FailingAllocations {};

TEST_P(FailingAllocationsTest, OutsideOfTasksLeaveEverythingUsableAndNothingBehind) { failOutsideOfTasks(); }

TEST_P(FailingAllocationsTest, InATaskLeaveEverythingUsableAndNothingBehind) { failInATask(); }

INSTANTIATE_TEST_SUITE_P(
    Of, FailingAllocationsTest,
    ::testing::Values(WEFT_ALLOCATING(scheduleLarge), WEFT_ALLOCATING(scheduleBound),
                      WEFT_ALLOCATING(enqueueTask), WEFT_ALLOCATING(asyncHere), WEFT_ALLOCATING(asyncInline),
                      WEFT_ALLOCATING(asyncOnThread), WEFT_ALLOCATING(asyncInMainLoop),
                      WEFT_ALLOCATING(mainLoopMade), WEFT_ALLOCATING(thenOfReady),
                      WEFT_ALLOCATING(thenOfLater), WEFT_ALLOCATING(thenOfShared), WEFT_ALLOCATING(recoverOf),
                      WEFT_ALLOCATING(valuePassedOn), WEFT_ALLOCATING(withinOf), WEFT_ALLOCATING(afterStop),
                      WEFT_ALLOCATING(unwrapped), WEFT_ALLOCATING(promiseMade), WEFT_ALLOCATING(promiseSet),
                      WEFT_ALLOCATING(whenAllOf), WEFT_ALLOCATING(whenAnyOf), WEFT_ALLOCATING(failFastOf),
                      WEFT_ALLOCATING(firstSuccessOf), WEFT_ALLOCATING(whenAllEach),
                      WEFT_ALLOCATING(whenAnyEach), WEFT_ALLOCATING(groupRuns), WEFT_ALLOCATING(groupMade),
                      WEFT_ALLOCATING(groupOnThreads), AllocatingOperation{"groupFails", &groupFails, true},
                      AllocatingOperation{"groupCanceled", &groupCanceled, true}, WEFT_ALLOCATING(dagBuilt),
                      WEFT_ALLOCATING(dagRun), WEFT_ALLOCATING(ticketCalls), WEFT_ALLOCATING(ticketsTaken),
                      WEFT_ALLOCATING(taskMade)),
    nameOf);

}  // namespace
}  // namespace weft::failing_allocations_test
