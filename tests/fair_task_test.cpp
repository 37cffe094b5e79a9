// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/fair/task.h>

#include <array>
#include <chrono>
#include <memory>

#include <gtest/gtest.h>
#include <weft/fair/task_scheduler.h>

namespace weft::fair {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST(FairTaskTest, IsSmallWithItsCallable) {
  EXPECT_LE(sizeof(Task), 96u);
}

TEST(FairTaskTest, DeadlinesKeepTheEarlier) {
  Task task;
  const auto now = Clock::now();
  EXPECT_EQ(task.deadline(), Clock::time_point::min());
  task.adjustDeadline(now);
  EXPECT_EQ(task.deadline(), Clock::time_point::min()) << "it does not wait at all";
  task.setWait();
  EXPECT_EQ(task.deadline(), Clock::time_point::max());
  task.adjustDeadline(now + 2s);
  EXPECT_EQ(task.deadline(), now + 2s);
  task.adjustDeadline(now + 3s);
  EXPECT_EQ(task.deadline(), now + 2s);
  task.adjustDelay(1h);
  EXPECT_EQ(task.deadline(), now + 2s);
  task.adjustDelay(1ns);
  EXPECT_LT(task.deadline(), now + 2s);
  task.setDelay(std::chrono::hours::max());
  EXPECT_EQ(task.deadline(), Clock::time_point::max());
  task.setDelay(1h);
  EXPECT_GE(task.deadline(), now + 1h);
  task.setDeadline(now);
  EXPECT_EQ(task.deadline(), now);
}

struct Visitor {
  explicit Visitor(TaskScheduler& owner) : scheduler(owner), task(this, &Visitor::first) {}
  void first(Task* self) {
    EXPECT_EQ(self, &task);
    task.setCallback(this, &Visitor::second);
    scheduler.post(&task);
  }
  void second() {
    task.setCallback([this](Task* self) {
      Visitor* const visitor = this;
      self->setCallback([visitor] { ++visitor->numSteps; });
      visitor->scheduler.post(self);
    });
    scheduler.post(&task);
  }
  TaskScheduler& scheduler;
  int numSteps = 0;
  Task task;
};

TEST(FairTaskTest, CallsMembersAndMayBeGivenAnotherCallbackInEachStep) {
  TaskScheduler scheduler("members");
  Visitor visitor(scheduler);
  scheduler.post(&visitor.task);
  scheduler.waitEmpty();
  EXPECT_EQ(visitor.numSteps, 1);
}

TEST(FairTaskTest, DestroysItsCallableOnce) {
  const auto token = std::make_shared<int>(0);
  std::array<char, 200> large{};
  {
    Task small([token] {});
    Task big([token, large] { (void)large; });
    EXPECT_EQ(token.use_count(), 3);
    small.setCallback([token, large] { (void)large; });
    big.setCallback([] {});
    EXPECT_EQ(token.use_count(), 2);
  }
  EXPECT_EQ(token.use_count(), 1);
}

}  // namespace
}  // namespace weft::fair
