// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <weft/barrier.h>
#include <weft/blockingcall.h>
#include <weft/channel.h>
#include <weft/conditionvariable.h>
#include <weft/dag.h>
#include <weft/event.h>
#include <weft/fair/task_scheduler.h>
#include <weft/fiber.h>
#include <weft/fiberlocal.h>
#include <weft/finally.h>
#include <weft/future.h>
#include <weft/join.h>
#include <weft/mutex.h>
#include <weft/once.h>
#include <weft/parallel.h>
#include <weft/parallelize.h>
#include <weft/pool.h>
#include <weft/scheduler.h>
#include <weft/select.h>
#include <weft/taskgroup.h>
#include <weft/thread.h>
#include <weft/ticket.h>
#include <weft/workerlocal.h>

#include "with_scheduler.h"

// A function that is empty (a std::function without a target, a null pointer, an empty Task) ends the program
// where it is given, not where it would be called.
namespace weft {
namespace {

using EmptyFunctionDeathTest = tests::DeathTest;

const std::function<void()> kNothing;
constexpr void (*kNull)() = nullptr;

void expectDeath(const char* where, const std::function<void(Scheduler&)>& use) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(1));
        const Scheduler::Binding binding(scheduler);
        use(scheduler);
      },
      "weft: fatal: " + std::string(where) + " was given an empty function")
      << where;
}

TEST_F(EmptyFunctionDeathTest, OfATask) {
  constexpr const char* kSchedule = "schedule\\(\\)";
  expectDeath(kSchedule, [](Scheduler&) { schedule(kNothing); });
  expectDeath("scheduleMany\\(\\)",
              [](Scheduler&) { scheduleMany(std::vector<std::function<void()>>{[] {}, kNothing}); });
  expectDeath("Scheduler::enqueueMany\\(\\)",
              [](Scheduler& scheduler) { scheduler.enqueueMany(std::vector<Task>(1)); });
  expectDeath(kSchedule, [](Scheduler&) { schedule(kNull); });
  expectDeath(kSchedule, [](Scheduler&) { schedule(Task()); });
  expectDeath(kSchedule, [](Scheduler&) { schedule(std::function<void(int)>(), 1); });
  expectDeath("Scheduler::enqueue\\(\\)", [](Scheduler& scheduler) { scheduler.enqueue(Task()); });
  expectDeath("Scheduler::enqueueOn\\(\\)", [](Scheduler& scheduler) { scheduler.enqueueOn(0, Task()); });
  expectDeath("TaskGroup::run\\(\\)", [](Scheduler&) { TaskGroup().run(kNothing); });
  expectDeath("Ticket::onCall\\(\\)", [](Scheduler&) { Ticket::Queue().take().onCall(kNothing); });
  expectDeath("DAGBuilder::node\\(\\)", [](Scheduler&) { DAGBuilder<void>().node(kNull); });
  expectDeath("DAGBuilder::node\\(\\)", [](Scheduler&) { DAGBuilder<void>().root().then(kNothing); });
}

TEST_F(EmptyFunctionDeathTest, OfAFuture) {
  expectDeath("async\\(\\)", [](Scheduler&) { (void)async(kNull); });
  expectDeath("async\\(\\)", [](Scheduler& scheduler) { (void)async(scheduler, kNothing); });
  expectDeath("async\\(\\)", [](Scheduler&) { (void)async(std::stop_token(), kNothing); });
  expectDeath("Future::then\\(\\)", [](Scheduler&) { (void)makeReadyFuture().then(kNothing); });
}

TEST_F(EmptyFunctionDeathTest, OfAFork) {
  expectDeath("join\\(\\)", [](Scheduler&) { join(kNothing, [] {}); });
  expectDeath("join\\(\\)", [](Scheduler&) { join([] {}, kNull); });
  expectDeath("parallelInvoke\\(\\)", [](Scheduler&) { parallelInvoke([] {}, kNothing); });
  expectDeath("parallelize\\(\\)", [](Scheduler&) { parallelize(kNothing, [] {}); });
  expectDeath("parallelFor", [](Scheduler&) { parallelFor(0, 9, std::function<void(int)>()); });
  expectDeath("parallelTransform", [](Scheduler&) {
    std::vector<int> numbers(9);
    parallelTransform(numbers, numbers.begin(), std::function<int(int)>());
  });
  for (const bool isLong : {false, true}) {
    const std::vector<int> given(isLong ? 9 : 0);
    expectDeath("parallelSort", [&](Scheduler&) {
      std::vector<int> numbers = given;
      parallelSort(numbers, std::function<bool(int, int)>());
    });
    expectDeath("parallelStableSort", [&](Scheduler&) {
      std::vector<int> numbers = given;
      parallelStableSort(numbers.begin(), numbers.end(), std::function<bool(int, int)>());
    });
    expectDeath("parallelScan", [&](Scheduler&) {
      std::vector<int> sums(given.size());
      parallelScan(given, sums.begin(), std::function<int(int, int)>());
    });
    expectDeath("parallelExclusiveScan", [&](Scheduler&) {
      std::vector<int> sums(given.size());
      parallelExclusiveScan(given, sums.begin(), 0, std::function<int(int, int)>());
    });
  }
  const std::vector<int> some(9);
  const std::function<bool(int)> noPredicate;
  const std::function<bool(int, int)> noLess;
  expectDeath("parallelFind", [&](Scheduler&) { (void)parallelFind(some, noPredicate); });
  expectDeath("parallelAnyOf", [&](Scheduler&) { (void)parallelAnyOf(some, noPredicate); });
  expectDeath("parallelAllOf", [&](Scheduler&) { (void)parallelAllOf(some, noPredicate); });
  expectDeath("parallelNoneOf", [&](Scheduler&) { (void)parallelNoneOf(some, noPredicate); });
  expectDeath("parallelCountIf", [&](Scheduler&) { (void)parallelCountIf(some, noPredicate); });
  expectDeath("parallelMerge", [&](Scheduler&) {
    std::vector<int> merged(18);
    parallelMerge(some, some, merged.begin(), noLess);
  });
  expectDeath("parallelCopyIf", [&](Scheduler&) {
    std::vector<int> copies(9);
    parallelCopyIf(some, copies.begin(), noPredicate);
  });
  expectDeath("parallelMinElement", [&](Scheduler&) { (void)parallelMinElement(some, noLess); });
  expectDeath("parallelMaxElement", [&](Scheduler&) { (void)parallelMaxElement(some, noLess); });
  expectDeath("serialStage\\(\\)", [](Scheduler&) { (void)serialStage(kNothing); });
  expectDeath("parallelReduce", [](Scheduler&) {
    const std::vector<int> numbers(9);
    (void)parallelReduce(numbers, 0, std::function<int(int, int)>());
  });
}

TEST_F(EmptyFunctionDeathTest, OfACall) {
  expectDeath("blocking_call\\(\\)", [](Scheduler&) { blocking_call(kNothing); });
  expectDeath("make_finally\\(\\)", [](Scheduler&) { (void)make_finally(kNothing); });
  expectDeath("Once::call\\(\\)", [](Scheduler&) { Once().call(kNothing); });
  expectDeath("FiberLocal\\(\\)", [](Scheduler&) { const FiberLocal<int> local{std::function<int()>()}; });
  expectDeath("WorkerLocal\\(\\)", [](Scheduler&) { const WorkerLocal<int> local{std::function<int()>()}; });
  expectDeath("Ticket::Queue::take\\(\\)",
              [](Scheduler&) { Ticket::Queue().take(1, std::function<void(Ticket)>()); });
  EXPECT_DEATH(
      {
        (void)setThreadWaitHandler([](const WaitHandle& wait) { wait.onReady({}); });
        (void)Event().wait_for(std::chrono::seconds(1));
      },
      "weft: fatal: WaitHandle::onReady\\(\\) was given an empty function");
  expectDeath("Barrier\\(\\)", [](Scheduler&) { const Barrier<std::function<void()>> barrier(1); });
  expectDeath("fair::TaskScheduler::schedule\\(\\)",
              [](Scheduler&) { fair::TaskScheduler("fair").schedule(TaskHandle()); });
}

TEST_F(EmptyFunctionDeathTest, OfAPool) {
  for (const size_t count : {0, 1}) {
    expectDeath("Pool::borrow\\(\\)",
                [&](Scheduler&) { UnboundedPool<int>().borrow(count, std::function<void(Loan<int>)>()); });
    expectDeath("Pool::borrow\\(\\)", [&](Scheduler&) {
      constexpr void (*kNone)(Loan<int>) = nullptr;
      BoundedPool<int, 2>().borrow(count, kNone);
    });
  }
}

TEST_F(EmptyFunctionDeathTest, OfACondition) {
  mutex guard;
  ConditionVariable changed;
  const std::function<bool()> none;
  constexpr bool (*kNone)() = nullptr;
  const std::chrono::seconds second(1);
  const auto expectDeathOfWait = [&](const auto& wait) {
    expectDeath("a wait of a ConditionVariable", [&](Scheduler&) {
      lock held(guard);
      wait(held);
    });
  };
  expectDeathOfWait([&](lock& held) { changed.wait(held, none); });
  expectDeathOfWait([&](lock& held) { changed.wait(held, kNone); });
  expectDeathOfWait([&](lock& held) { (void)changed.wait_for(held, second, none); });
  expectDeathOfWait(
      [&](lock& held) { (void)changed.wait_until(held, std::chrono::steady_clock::now() + second, none); });
  expectDeathOfWait([&](lock& held) { (void)changed.wait(held, std::stop_token(), none); });
  expectDeathOfWait([&](lock& held) { (void)changed.wait_for(held, std::stop_token(), second, none); });
  expectDeathOfWait([&](lock& held) {
    (void)changed.wait_until(held, std::stop_token(), std::chrono::steady_clock::now() + second, none);
  });
  expectDeath("Fiber::wait\\(\\)", [&](Scheduler&) {
    lock held(guard);
    Fiber::current()->wait(held, none);
  });
  expectDeath("Fiber::wait\\(\\)", [&](Scheduler&) {
    lock held(guard);
    Fiber::current()->wait(held, std::chrono::steady_clock::now() + second, kNone);
  });
}

TEST_F(EmptyFunctionDeathTest, OfACaseOfSelect) {
  const Channel<int> channel(1);
  expectDeath("onReceive\\(\\)",
              [&](Scheduler&) { select(onReceive(channel, std::function<void(std::optional<int>)>())); });
  expectDeath("onSend\\(\\)", [&](Scheduler&) { select(onSend(channel, 1, kNothing)); });
  expectDeath("a case of select\\(\\)", [](Scheduler&) { select(otherwise(kNothing)); });
  expectDeath("a case of select\\(\\)",
              [](Scheduler&) { select(onTimeout(std::chrono::seconds(1), kNull)); });
}

TEST(EmptyFunctionTest, WhatMayBeEmptyIsCalledIfItIsNot) {
  bool isCalled = false;
  {
    const auto atEnd = make_finally(std::function<void()>([&] { isCalled = true; }));
  }
  EXPECT_TRUE(isCalled);
  // No thread initializer is "none".
  const Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(1).setWorkerThreadInitializer(nullptr));
}

}  // namespace
}  // namespace weft
