// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <memory>
#include <stdexcept>

// A program with a default executor of its own, which it names before it includes anything of weft.
namespace program {
struct CountingExecutor;
CountingExecutor& counting();
}  // namespace program
#define WEFT_DEFAULT_EXECUTOR program::counting()

#include <weft/executor.h>

namespace program {
struct CountingExecutor {
  void schedule(weft::TaskHandle task) {
    ++numTasks;
    task.run();
  }
  std::atomic<int> numTasks{0};
};
inline bool isBroken = false;
inline CountingExecutor& counting() {
  static CountingExecutor executor;
  if (isBroken) {
    throw std::runtime_error("there is no executor");
  }
  return executor;
}
}  // namespace program

#include <gtest/gtest.h>

#include <weft/future.h>
#include <weft/scheduler.h>

namespace weft {
namespace {

TEST(OwnDefaultExecutorTest, ServesAsyncAndThenWhereNothingIsBound) {
  EXPECT_EQ(&defaultExecutor(), &program::counting());
  EXPECT_EQ(async([] { return 1; }).get(), 1);
  EXPECT_EQ(program::counting().numTasks, 1);
  EXPECT_EQ(makeReadyFuture(1).then([](int n) { return n + 1; }).get(), 2);
  EXPECT_EQ(program::counting().numTasks, 2);
  Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(1));
  Scheduler::Binding bound(scheduler);
  EXPECT_EQ(async([] { return Scheduler::get(); }).get(), &scheduler);
  EXPECT_EQ(program::counting().numTasks, 2) << "the bound scheduler comes first";
}

TEST(OwnDefaultExecutorTest, WhatItThrowsComesToTheCallerOfAsyncAndToAContinuationsFuture) {
  program::isBroken = true;
  auto token = std::make_shared<int>(1);
  std::weak_ptr<int> watch = token;
  EXPECT_THROW((void)async([token = std::move(token)] { return *token; }), std::runtime_error);
  EXPECT_TRUE(watch.expired());
  Future<int> next = makeReadyFuture(1).then([](int n) { return n; });
  program::isBroken = false;
  ASSERT_TRUE(next.ready());
  EXPECT_THROW(next.get(), std::runtime_error);
}

}  // namespace
}  // namespace weft
