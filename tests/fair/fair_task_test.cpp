// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/fair/task.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>

#include <gtest/gtest.h>
#include <weft/fair/task_scheduler.h>

namespace weft::inline v0_1::fair {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST(FairTaskTest, IsSmallWithItsCallable) { EXPECT_LE(sizeof(Task), 96u); }

TEST(FairTaskTest, DeadlinesKeepTheEarlier) {
  Task task;
  const auto now = Clock::now();
  EXPECT_EQ(task.deadline(), Clock::time_point::min());
  task.adjustDeadline(now);
  EXPECT_EQ(task.deadline(), Clock::time_point::min()) << "it does not wait at all";
  task.setWait();
  EXPECT_EQ(task.deadline(), Clock::time_point::max());
  task.adjustDeadline(now + 1h);
  EXPECT_EQ(task.deadline(), now + 1h);
  task.adjustDeadline(now + 2h);
  EXPECT_EQ(task.deadline(), now + 1h);
  task.adjustDelay(3h);
  EXPECT_EQ(task.deadline(), now + 1h);
  task.adjustDelay(1ns);
  EXPECT_LT(task.deadline(), now + 1h);
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

#if defined(__cpp_exceptions)

// Throws when it is moved or copied for the `left`th time. Counts its objects.
template <size_t kSize>
struct Throws {
  explicit Throws(int moves, int& objects) : left(moves), numObjects(objects) { ++numObjects; }
  Throws(const Throws& other) : left(other.left - 1), numObjects(other.numObjects) {
    if (left < 0) {
      throw std::runtime_error("moved");
    }
    ++numObjects;
  }
  ~Throws() { --numObjects; }
  void operator()() const {}
  int left;
  int& numObjects;
  char data[kSize]{};
};

template <size_t kSize>
void giveCallablesThatThrow() {
  int numObjects = 0;
  for (int moves = 0; moves < 4; ++moves) {
    const auto token = std::make_shared<int>(0);
    int numSteps = 0;
    {
      TaskScheduler scheduler("throws");
      Task task([token, &numSteps] { ++numSteps; });
      const Throws<kSize> function(moves, numObjects);
      bool hasThrown = false;
      try {
        task.setCallback(function);
      } catch (const std::runtime_error&) {
        hasThrown = true;
      }
      EXPECT_EQ(token.use_count(), hasThrown ? 2 : 1) << "the old callable stays, or goes";
      scheduler.post(&task);
      scheduler.waitEmpty();
      EXPECT_EQ(numSteps, hasThrown ? 1 : 0);
      EXPECT_EQ(numObjects, hasThrown ? 1 : 2);
      EXPECT_EQ(hasThrown, moves < 1);
      if (moves == 0) {
        EXPECT_THROW(Task{function}, std::runtime_error);
        EXPECT_THROW(scheduler.postOneShot(function), std::runtime_error);
        scheduler.waitEmpty();
      }
    }
    EXPECT_EQ(token.use_count(), 1);
    EXPECT_EQ(numObjects, 0);
  }
}

TEST(FairTaskTest, ACallableThatThrowsWhenItIsMovedLeavesTheOldOne) {
  giveCallablesThatThrow<1>();
  giveCallablesThatThrow<200>();
}

struct ThrowsAtItsEnd {
  explicit ThrowsAtItsEnd(bool& mayThrow) : may(mayThrow) {}
  ThrowsAtItsEnd(const ThrowsAtItsEnd&) = default;
  ~ThrowsAtItsEnd() noexcept(false) {
    if (may) {
      may = false;
      throw std::runtime_error("destroyed");
    }
  }
  void operator()() const {}
  bool& may;
};

TEST(FairTaskTest, ACallableThatThrowsWhenItIsDestroyedIsDestroyedOnce) {
  bool mayThrow = false;
  const auto token = std::make_shared<int>(0);
  int numSteps = 0;
  Task task{ThrowsAtItsEnd(mayThrow)};
  mayThrow = true;
  EXPECT_THROW(task.setCallback([token] {}), std::runtime_error);
  EXPECT_EQ(token.use_count(), 1);
  mayThrow = true;  // another end would throw
  TaskScheduler scheduler("destroyed");
  task.setCallback([&numSteps] { ++numSteps; });
  scheduler.post(&task);
  scheduler.waitEmpty();
  EXPECT_EQ(numSteps, 1);
}

#endif

}  // namespace
}  // namespace weft::inline v0_1::fair
