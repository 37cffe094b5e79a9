// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <marl/mutex.h>

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

#include <marl/conditionvariable.h>
#include <marl/event.h>
#include <marl/scheduler.h>
#include <marl/waitgroup.h>

#include "waiting.h"

namespace {

using std::chrono::milliseconds;
using weft::tests::Crew;
using weft::tests::Kind;

class MarlMutexTest : public weft::tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(MarlMutexTest);

static_assert(std::is_convertible_v<marl::mutex&, marl::lock>);
static_assert(!std::is_copy_constructible_v<marl::lock> && !std::is_move_constructible_v<marl::lock>);

bool isFree(marl::mutex& mutex) {
  bool is = false;
  std::thread([&] {
    if (mutex.try_lock()) {
      is = true;
      mutex.unlock();
    }
  }).join();
  return is;
}

// Owns a number and a condition, all annotated: that this compiles with -Wthread-safety is part of the test.
class Box {
 public:
  void put(int value) EXCLUDES(mutex_) {
    marl::lock held(mutex_);
    value_ = value;
    filled_.notify_all();
  }
  void putByHand(int value) EXCLUDES(mutex_) {
    mutex_.lock();
    value_ = value;
    mutex_.unlock();
    filled_.notify_all();
  }
  int waitByLock() EXCLUDES(mutex_) {
    marl::lock held(mutex_);
    held.wait(filled_, [this]() REQUIRES(mutex_) { return value_ != 0; });
    return value_;
  }
  int waitByMutex() EXCLUDES(mutex_) {
    mutex_.lock();
    mutex_.wait_locked(filled_, [this]() REQUIRES(mutex_) { return value_ != 0; });
    const int value = value_;
    mutex_.unlock();
    return value;
  }
  template <class Time>
  bool waitUntil(const Time& time) EXCLUDES(mutex_) {
    const auto isFilled = [this]() REQUIRES(mutex_) { return value_ != 0; };
    mutex_.lock();
    const bool first = mutex_.wait_until_locked(filled_, time, isFilled);
    mutex_.unlock();
    marl::lock held(mutex_);
    return held.wait_until(filled_, time, isFilled) && first;
  }
  marl::mutex& mutex() RETURN_CAPABILITY(mutex_) { return mutex_; }

 private:
  marl::mutex mutex_;
  std::condition_variable filled_;
  int value_ GUARDED_BY(mutex_) = 0;
};

TEST(MarlMutexOnlyTest, WaitsAreThoseOfTheStandardLibrary) {
  for (int i = 0; i < 2; ++i) {
    Box box;
    std::thread other([&] { i == 0 ? box.put(5) : box.putByHand(5); });
    EXPECT_EQ(i == 0 ? box.waitByLock() : box.waitByMutex(), 5);
    other.join();
    EXPECT_TRUE(isFree(box.mutex()));
  }
}

TEST(MarlMutexOnlyTest, TimedWaitsReturnThePredicate) {
  Box box;
  EXPECT_FALSE(box.waitUntil(std::chrono::system_clock::now() + milliseconds(1)));
  EXPECT_FALSE(box.waitUntil(std::chrono::steady_clock::now()));
  box.put(1);
  EXPECT_TRUE(box.waitUntil(std::chrono::steady_clock::now()));
  EXPECT_TRUE(isFree(box.mutex()));
}

TEST(MarlMutexOnlyTest, APredicateThatThrowsLeavesTheLockHeld) {
  marl::mutex mutex;
  std::condition_variable variable;
  {
    marl::lock held(mutex);
    EXPECT_THROW(held.wait(variable, []() -> bool { throw std::runtime_error("pred"); }), std::runtime_error);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_FALSE(isFree(mutex));
    EXPECT_THROW(mutex.wait_locked(variable, []() -> bool { throw std::runtime_error("pred"); }),
                 std::runtime_error);
    EXPECT_FALSE(isFree(mutex));
  }
  EXPECT_TRUE(isFree(mutex));
}

TEST(MarlMutexOnlyTest, LocksAreReleasedAndTakenAgain) {
  marl::mutex mutex;
  marl::lock held(mutex);
  EXPECT_TRUE(held.owns_lock());
  held.unlock_no_tsa();
  EXPECT_FALSE(held.owns_lock());
  EXPECT_TRUE(isFree(mutex));
  held.lock_no_tsa();
  EXPECT_FALSE(isFree(mutex));
}

TEST_P(MarlMutexTest, ConditionVariablesReleaseTheLockWhileTheyWait) {
  marl::mutex mutex;
  marl::ConditionVariable variable;
  int turn = 0;
  Crew crew(scheduler());
  for (int i = 0; i < 6; ++i) {
    crew.start(weft::tests::kindOf(i), [&, i] {
      marl::lock held(mutex);
      variable.wait(held, [&] {
        EXPECT_TRUE(held.owns_lock());
        return turn == i;
      });
      ++turn;
      variable.notify_all();
    });
  }
  crew.join();
  EXPECT_EQ(turn, 6);
}

TEST_P(MarlMutexTest, TimedWaitsTakeEveryClock) {
  Crew crew(scheduler());
  for (Kind kind : weft::tests::kKinds) {
    crew.start(kind, [] {
      marl::mutex mutex;
      marl::ConditionVariable variable;
      marl::lock held(mutex);
      const auto never = [] { return false; };
      EXPECT_FALSE(variable.wait_for(held, milliseconds(1), never));
      EXPECT_FALSE(variable.wait_until(held, std::chrono::system_clock::now() + milliseconds(1), never));
      EXPECT_FALSE(variable.wait_until(held, std::chrono::steady_clock::now() + milliseconds(1), never));
      EXPECT_TRUE(held.owns_lock());
    });
  }
}

TEST_P(MarlMutexTest, FibersWaitWithALockUntilTheyAreNotified) {
  const marl::WaitGroup done(1);
  marl::mutex mutex;
  bool isReady = false;
  marl::Scheduler::Fiber* fiber = nullptr;
  marl::schedule([&, done] {
    auto* const self = marl::Scheduler::Fiber::current();
    {
      marl::lock held(mutex);
      EXPECT_FALSE(
          self->wait(held, std::chrono::system_clock::now() + milliseconds(1), [&] { return isReady; }));
      fiber = self;
      self->wait(held, [&] { return isReady; });
      EXPECT_TRUE(held.owns_lock());
      EXPECT_FALSE(self->wait(std::chrono::system_clock::now() + milliseconds(1)));
    }
    done.done();
  });
  weft::tests::awaitThat([&] {
    marl::lock held(mutex);
    return fiber != nullptr;
  });
  {
    marl::lock held(mutex);
    isReady = true;
    fiber->notify();
  }
  done.wait();
}

using MarlMutexDeathTest = weft::tests::DeathTest;

// Without the check the standard library would throw std::bad_function_call.
TEST_F(MarlMutexDeathTest, AnEmptyConditionEndsTheProgram) {
  const std::function<bool()> none;
  std::condition_variable changed;
  marl::mutex mutex;
  const auto time = std::chrono::steady_clock::now() + milliseconds(1);
  const auto expectDeath = [&](const char* where, const auto& wait) {
    EXPECT_DEATH(wait(), std::string("weft: fatal: marl::") + where + " was given an empty function");
  };
  mutex.lock();
  expectDeath("mutex::wait_locked\\(\\)",
              [&]() NO_THREAD_SAFETY_ANALYSIS { mutex.wait_locked(changed, none); });
  expectDeath("mutex::wait_until_locked\\(\\)",
              [&]() NO_THREAD_SAFETY_ANALYSIS { (void)mutex.wait_until_locked(changed, time, none); });
  mutex.unlock();
  marl::lock held(mutex);
  expectDeath("lock::wait\\(\\)", [&] { held.wait(changed, none); });
  expectDeath("lock::wait_until\\(\\)", [&] { (void)held.wait_until(changed, time, none); });
}

}  // namespace
