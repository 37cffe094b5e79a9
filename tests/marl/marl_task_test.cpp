// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <marl/task.h>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <marl/scheduler.h>
#include <marl/waitgroup.h>

#include "count_mallocs.h"
#include "with_scheduler.h"

namespace {

using marl::Task;

class MarlTaskTest : public weft::tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(MarlTaskTest);

// Counts its calls in itself, and its copies.
struct Counting {
  Counting(int* callsSeen, int* copiesMade) : seen(callsSeen), copies(copiesMade) {}
  Counting(const Counting& other) : seen(other.seen), copies(other.copies), calls(other.calls) { ++*copies; }
  void operator()() { *seen = ++calls; }
  int* seen;
  int* copies;
  int calls = 0;
};

static_assert(std::is_copy_constructible_v<Task> && std::is_copy_assignable_v<Task>);
static_assert(std::is_nothrow_move_constructible_v<Task> && std::is_nothrow_move_assignable_v<Task>);
static_assert(std::is_convertible_v<std::function<void()>, Task>);
static_assert(std::is_convertible_v<Task, bool>);
static_assert(std::is_same_v<Task::Function, std::function<void()>>);
static_assert(!std::is_constructible_v<Task, int>);

TEST(MarlTaskOnlyTest, IsEmptyWithoutAFunction) {
  const Task none, fromEmpty = Task::Function();
  const bool isThere = none;
  EXPECT_FALSE(isThere || fromEmpty);
  const Task copy = none;
  EXPECT_FALSE(copy);
  EXPECT_FALSE(none.is(Task::Flags::SameThread));
}

TEST(MarlTaskOnlyTest, IsMadeFromStdFunction) {
  int calls = 0;
  const Task::Function function = [&] { ++calls; };
  const Task copied = function;
  const Task moved(Task::Function(function), Task::Flags::SameThread);
  Task assigned;
  assigned = function;
  assigned();
  assigned = Task::Function(function);
  copied();
  moved();
  assigned();
  EXPECT_EQ(calls, 4);
  EXPECT_TRUE(moved.is(Task::Flags::SameThread));
  EXPECT_FALSE(copied.is(Task::Flags::SameThread));
}

TEST(MarlTaskOnlyTest, ACopyHoldsACopyOfTheFunction) {
  int seen = 0, copies = 0;
  const Task original(Counting(&seen, &copies), Task::Flags::SameThread);
  original();
  copies = 0;
  const Task copy = original;
  EXPECT_EQ(copies, 1);
  original();
  original();
  EXPECT_EQ(seen, 3);
  copy();
  EXPECT_EQ(seen, 2) << "the copy counts on its own";
  EXPECT_TRUE(copy.is(Task::Flags::SameThread));
}

TEST(MarlTaskOnlyTest, AssignsCopiesAndMoves) {
  auto first = std::make_shared<int>(1), second = std::make_shared<int>(2);
  int sum = 0;
  Task a([&sum, first] { sum += *first; });
  Task b([&sum, second] { sum += 10 * *second; });
  a = b;
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_EQ(second.use_count(), 3);
  a();
  b = std::move(a);
  EXPECT_FALSE(a);
  EXPECT_EQ(second.use_count(), 2);
  b();
  b = *&b;
  b();
  EXPECT_EQ(sum, 60);
  a = Task();
  b = Task();
  EXPECT_EQ(second.use_count(), 1);
}

TEST(MarlTaskOnlyTest, CopiesCapturesOfAnySize) {
  struct Large {
    int numbers[200];
  } large{};
  large.numbers[199] = 7;
  int seen = 0;
  const Task task([large, &seen] { seen = large.numbers[199]; });
  const Task copy = task;
  copy();
  EXPECT_EQ(seen, 7);
}

TEST_P(MarlTaskTest, ATaskIsScheduledAsOftenAsItIsCopied) {
  const marl::WaitGroup done(4);
  const Task task([=] { done.done(); });
  Task last = task;
  marl::schedule(task);
  marl::schedule(last);
  marl::Scheduler::get()->enqueue(Task(task));
  marl::schedule(std::move(last));
  EXPECT_FALSE(last);
  done.wait();
}

TEST_P(MarlTaskTest, FlagsReachTheScheduler) {
  const auto mine = std::this_thread::get_id();
  const marl::WaitGroup done(3);
  const Task task(
      [=] {
        EXPECT_EQ(std::this_thread::get_id(), mine);
        done.done();
      },
      Task::Flags::SameThread);
  Task copy = task;
  marl::schedule(task);
  marl::schedule(std::move(copy));
  marl::Scheduler::get()->enqueue(Task(task));
  done.wait();
}

TEST_P(MarlTaskTest, VectorsOfTasksAreScheduled) {
  const marl::WaitGroup done(100);
  const std::vector<Task> tasks(100, Task([=] { done.done(); }));
  for (const Task& task : tasks) {
    marl::schedule(task);
  }
  done.wait();
}

TEST_P(MarlTaskTest, SchedulingATaskAllocatesNoMoreThanItsFunction) {
  if (!weft::tests::kCountsMallocs) {
    return;
  }
  const auto run = [] {
    const marl::WaitGroup done(100);
    for (int i = 0; i < 100; ++i) {
      marl::schedule(Task([=] { done.done(); }, Task::Flags::SameThread));
    }
    done.wait();
  };
  uint64_t numNew = 1;
  for (int attempt = 0; numNew != 0 && attempt < 50; ++attempt) {
    const uint64_t before = weft::tests::numMallocs();
    run();
    numNew = weft::tests::numMallocs() - before;
  }
  EXPECT_EQ(numNew, 0u);
}

// What marl::Task cannot hold, since it must be copyable, schedule() takes all the same.
TEST_P(MarlTaskTest, MoveOnlyFunctionsAreScheduledWithoutATask) {
  static_assert(!std::is_constructible_v<Task, decltype([p = std::unique_ptr<int>()] {})>);
  const marl::WaitGroup done(2);
  marl::schedule(
      [=, number = std::make_unique<int>(1)] { done.add(static_cast<unsigned>(*number) - 1), done.done(); });
  marl::schedule(
      weft::Task([=, number = std::make_unique<int>(1)] { done.done(); }, weft::Task::Flags::SameThread));
  done.wait();
}

}  // namespace
