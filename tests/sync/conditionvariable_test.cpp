// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/conditionvariable.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include <weft/event.h>
#include <weft/mutex.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "waiting.h"

namespace weft {
namespace {

using tests::awaitThat;
using tests::Crew;
using tests::Kind;
using tests::kindOf;
using tests::kKinds;
using tests::milliseconds;
using tests::numWaiting;
using tests::scaled;
using tests::smallConfig;

static_assert(!std::is_copy_constructible_v<ConditionVariable> &&
              !std::is_move_constructible_v<ConditionVariable>);

class ConditionVariableTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(ConditionVariableTest);

// A lock with the two functions that every lock has, and no more.
class BareLock {
 public:
  explicit BareLock(std::mutex& guard) : guard_(guard) { guard_.lock(); }
  ~BareLock() { guard_.unlock(); }
  void lock() { guard_.lock(); }
  void unlock() { guard_.unlock(); }

 private:
  std::mutex& guard_;
};

template <class Mutex, class Lock>
void expectNotifyWakes(Scheduler& scheduler) {
  for (Kind kind : kKinds) {
    Mutex guard;
    ConditionVariable variable;
    bool isTrue = false;
    Crew crew(scheduler);
    crew.start(kind, [&] {
      Lock held(guard);
      variable.wait(held, [&] { return isTrue; });
      EXPECT_TRUE(isTrue);
    });
    awaitThat([&] { return numWaiting(variable) == 1; });
    variable.notify_one();  // the condition is not true: it waits on
    awaitThat([&] { return numWaiting(variable) == 1; });
    {
      Lock held(guard);
      isTrue = true;
    }
    variable.notify_one();
  }
}

// Its waiter must not stay behind.
TEST_P(ConditionVariableTest, AWaitWhoseUnlockThrowsHasNotBegun) {
  for (Kind kind : kKinds) {
    ConditionVariable variable;
    Crew crew(scheduler());
    crew.start(kind, [&] {
      std::mutex guard;
      std::unique_lock lock(guard, std::defer_lock);
      EXPECT_THROW(variable.wait(lock), std::system_error);
      EXPECT_THROW(variable.wait_for(lock, milliseconds(1), [] { return false; }), std::system_error);
      EXPECT_EQ(numWaiting(variable), 0);
      Event(Event::Mode::Auto, true).wait();
    });
  }
}

TEST_P(ConditionVariableTest, AWaitWhoseUnlockThrowsHandsItsNotifyOn) {
  // Its unlock() notifies the wait that it is called by, once there is another one, and throws.
  struct NotifyingLock {
    void lock() {}
    void unlock() {
      awaitThat([this] { return numWaiting(*variable) == 2; });
      variable->notify_one();
      throw std::runtime_error("not unlocked");
    }
    ConditionVariable* variable;
  };
  ConditionVariable variable;
  mutex guard;
  Crew crew(scheduler());
  crew.start(Kind::FreeThread, [&] {
    NotifyingLock notifying{&variable};
    EXPECT_THROW(variable.wait(notifying), std::runtime_error);
  });
  awaitThat([&] { return numWaiting(variable) == 1; });
  lock held(guard);
  variable.wait(held);  // would wait for ever
}

TEST_P(ConditionVariableTest, NotifyWakesWhoHoldsALock) { expectNotifyWakes<mutex, lock>(scheduler()); }
TEST_P(ConditionVariableTest, NotifyWakesWhoHoldsAUniqueLockOfAStdMutex) {
  expectNotifyWakes<std::mutex, std::unique_lock<std::mutex>>(scheduler());
}
TEST_P(ConditionVariableTest, NotifyWakesWhoHoldsAUniqueLockOfAMutex) {
  expectNotifyWakes<mutex, std::unique_lock<mutex>>(scheduler());
}
TEST_P(ConditionVariableTest, NotifyWakesWhoHoldsALockOfAnotherType) {
  expectNotifyWakes<std::mutex, BareLock>(scheduler());
}

TEST_P(ConditionVariableTest, WaitWithoutPredicateEndsWithANotify) {
  for (Kind kind : kKinds) {
    mutex guard;
    ConditionVariable variable;
    Crew crew(scheduler());
    crew.start(kind, [&] {
      lock held(guard);
      variable.wait(held);
      EXPECT_TRUE(held.owns_lock());
      EXPECT_FALSE(guard.try_lock());
    });
    awaitThat([&] { return numWaiting(variable) == 1; });
    variable.notify_one();
  }
}

TEST_P(ConditionVariableTest, NotifyAllWakesAll) {
  constexpr int kWaiters = 30;
  mutex guard;
  ConditionVariable variable;
  bool isTrue = false;
  Crew crew(scheduler());
  for (int i = 0; i < kWaiters; ++i) {
    crew.start(kindOf(i), [&] {
      lock held(guard);
      variable.wait(held, [&] { return isTrue; });
    });
  }
  awaitThat([&] { return numWaiting(variable) == kWaiters; });
  {
    lock held(guard);
    isTrue = true;
    variable.notify_all();
  }
}

TEST_P(ConditionVariableTest, NotifyIsNotKeptForLater) {
  mutex guard;
  ConditionVariable variable;
  variable.notify_one();
  variable.notify_all();
  lock held(guard);
  EXPECT_FALSE(variable.wait_for(held, milliseconds(1), [] { return false; }));
}

TEST_P(ConditionVariableTest, NotifyOneWakesFirstInFirstOut) {
  tests::expectFirstInFirstOut<tests::WeftVariableGate>(scheduler());
  tests::expectFirstInFirstOut<tests::StdVariableGate>(scheduler());
}

TEST_P(ConditionVariableTest, TwoNotifyOneWakeTwoWaiters) {
  for (Kind first : kKinds) {
    for (Kind second : kKinds) {
      tests::expectTwoWakesWakeTwo<tests::WeftVariableGate>(scheduler(), first, second);
      tests::expectTwoWakesWakeTwo<tests::StdVariableGate>(scheduler(), first, second);
    }
  }
}

TEST_P(ConditionVariableTest, PredicateRunsWithTheLockHeld) {
  mutex guard;
  ConditionVariable variable;
  int numCalls = 0;
  Crew crew(scheduler());
  crew.start(Kind::Task, [&] {
    lock held(guard);
    const auto isHeld = [&] {
      EXPECT_TRUE(held.owns_lock());
      EXPECT_FALSE(guard.try_lock());
      return ++numCalls % 2 == 0;
    };
    variable.wait(held, isHeld);
    EXPECT_TRUE(variable.wait_for(held, std::chrono::hours(1), isHeld));
    EXPECT_TRUE(variable.wait_until(held, std::chrono::steady_clock::now(), isHeld));
  });
  for (int i = 0; i < 2; ++i) {
    awaitThat([&] { return numWaiting(variable) == 1; });
    variable.notify_one();
  }
}

TEST_P(ConditionVariableTest, TimedWaitTellsWhetherTheConditionIsTrueAtItsEnd) {
  for (Kind kind : kKinds) {
    mutex guard;
    ConditionVariable variable;
    Crew crew(scheduler());
    crew.start(kind, [&] {
      lock held(guard);
      int numCalls = 0;
      EXPECT_FALSE(variable.wait_for(held, milliseconds(1), [] { return false; }));
      // It comes true without a notify, while the wait times out.
      EXPECT_TRUE(variable.wait_for(held, milliseconds(1), [&] { return ++numCalls > 1; }));
      EXPECT_FALSE(variable.wait_for(held, milliseconds(-1), [] { return false; }));
      EXPECT_TRUE(variable.wait_for(held, milliseconds(-1), [] { return true; }));
      EXPECT_EQ(numWaiting(variable), 0);
    });
  }
}

TEST_P(ConditionVariableTest, NotifyGoesPastAWaiterThatTimedOut) {
  for (Kind kind : kKinds) {
    tests::WeftVariableGate gate;
    Event hasTimedOut;
    Crew crew(scheduler());
    crew.start(kind, [&] {
      EXPECT_FALSE(gate.waitFor(milliseconds(1)));
      hasTimedOut.signal();
    });
    hasTimedOut.wait();
    crew.start(Kind::Task, [&] { gate.wait(); });
    awaitThat([&] { return gate.numWaiting() == 1; });
    gate.wakeOne();
  }
}

// Runs a function when it is locked again: as another thread would that gets the lock just before.
class IntrudedLock {
 public:
  void lock() {
    if (intrude) {
      std::exchange(intrude, nullptr)();
    }
  }
  void unlock() {}
  std::function<void()> intrude;
};

TEST_P(ConditionVariableTest, NotifyBetweenTheTwoWaitsOfAClockThatWasSetBackIsNotLost) {
  using Clock = tests::SetClock;
  Clock::current = 0;
  ConditionVariable variable;
  bool isTrue = false;
  IntrudedLock held;
  held.intrude = [&] {
    Clock::current = -3'600'000'000;  // an hour back: the wait that has just ended has to go on
    isTrue = true;
    variable.notify_one();
  };
  EXPECT_TRUE(variable.wait_until(held, Clock::time_point(milliseconds(1)), [&] { return isTrue; }));
}

TEST_P(ConditionVariableTest, TimeoutAgainstNotifyLosesNoToken) {
  const int rounds = scaled(2'000, 300);
  for (Kind kind : kKinds) {
    tests::WeftVariableGate gate;
    Event next;
    Crew crew(scheduler());
    crew.start(kind, [&] {
      for (int i = 0; i < rounds; ++i) {
        if (!gate.waitFor(std::chrono::microseconds(i % 50))) {
          gate.wait();
        }
        next.signal();
      }
    });
    for (int i = 0; i < rounds; ++i) {
      gate.wakeOne();
      next.wait();
    }
    crew.join();
    EXPECT_EQ(gate.tokens, 0);
  }
}

// A notify_one() goes past one that was stopped before, and is not used up by one that is stopped after it.
TEST_P(ConditionVariableTest, AStopLosesNoNotify) {
  const int rounds = scaled(300, 60);
  for (Kind kind : kKinds) {
    mutex guard;
    ConditionVariable variable;
    int tokens = 0, numTaken = 0;
    std::stop_source current;
    Crew crew(scheduler());
    crew.start(kind, [&] {
      lock held(guard);
      while (numTaken < rounds) {
        current = std::stop_source();
        if (variable.wait(held, current.get_token(), [&] { return tokens > 0 || numTaken == rounds; }) &&
            tokens > 0) {
          --tokens;
          ++numTaken;
        }
      }
    });
    crew.start(kind, [&] {
      lock held(guard);
      while (numTaken < rounds) {
        variable.wait(held, [&] { return tokens > 0 || numTaken == rounds; });
        if (tokens > 0) {
          --tokens;
          ++numTaken;
        }
      }
    });
    for (int i = 0; i < rounds; ++i) {
      std::stop_source source;
      {
        lock held(guard);
        source = current;
        ++tokens;
      }
      if (i % 2 == 0) {
        source.request_stop();
        variable.notify_one();
      } else {
        variable.notify_one();
        source.request_stop();
      }
      awaitThat([&] {
        lock held(guard);
        return tokens == 0;
      });
    }
    variable.notify_all();
    crew.join();
    EXPECT_EQ(numTaken, rounds);
  }
}

TEST_P(ConditionVariableTest, AStopIsToldWithTheConditionAndTheLockIsHeld) {
  for (Kind kind : kKinds) {
    mutex guard;
    ConditionVariable variable;
    std::stop_source source;
    bool isTrue = false;
    Crew crew(scheduler());
    crew.start(kind, [&] {
      lock held(guard);
      EXPECT_FALSE(variable.wait(held, source.get_token(), [&] { return isTrue; }));
      EXPECT_FALSE(guard.try_lock());
      EXPECT_FALSE(
          variable.wait_for(held, source.get_token(), std::chrono::hours(1), [&] { return isTrue; }));
      EXPECT_FALSE(variable.wait_until(held, std::stop_token(),
                                       std::chrono::system_clock::now() + milliseconds(1),
                                       [&] { return isTrue; }));
      isTrue = true;
      EXPECT_TRUE(variable.wait(held, source.get_token(), [&] { return isTrue; }));
    });
    awaitThat([&] { return numWaiting(variable) == 1; });
    source.request_stop();
  }
}

TEST_P(ConditionVariableTest, MayBeDestroyedAsSoonAsWaitReturns) {
  tests::destroyAtOnce<tests::StdVariableGate>(scheduler(), numWorkers());
  tests::destroyAtOnce<tests::WeftVariableGate>(scheduler(), numWorkers());
}

TEST_P(ConditionVariableTest, MayBeDestroyedAsSoonAsTheLastWaiterHasBeenNotified) {
  for (Kind kind : kKinds) {
    for (int i = 0; i < scaled(50, 20); ++i) {
      std::mutex guard;
      auto variable = std::make_unique<ConditionVariable>();
      Crew crew(scheduler());
      crew.start(kind, [&guard, variable = variable.get()] {
        std::unique_lock held(guard);
        variable->wait(held);
      });
      awaitThat([&] { return numWaiting(*variable) == 1; });
      variable->notify_all();
      variable.reset();
    }
  }
}

using ConditionVariableOwnSchedulerTest = tests::WithAllocator;

// A monitor: whoever leaves it tells those who wait that something may have changed.
struct Monitor {
  mutex guard;
  ConditionVariable changed;
  void lock() WEFT_NO_THREAD_SAFETY_ANALYSIS { guard.lock(); }
  void unlock() WEFT_NO_THREAD_SAFETY_ANALYSIS {
    guard.unlock();
    changed.notify_all();
  }
};

// wait() links the fiber, then unlocks, and so is woken by itself before it blocks. It must not stay among
// the ready fibers.
TEST_F(ConditionVariableOwnSchedulerTest, AFiberWokenBeforeItBlocksIsReadyOnce) {
  Scheduler scheduler(smallConfig(0, allocator()));
  scheduler.bind();
  Monitor monitor;
  WaitGroup done(3);
  int turn = 0;
  for (int i = 0; i < 3; ++i) {
    schedule([&, done, i] {
      monitor.lock();
      while (turn != 2 - i) {
        monitor.changed.wait(monitor);
      }
      ++turn;
      monitor.unlock();
      done.done();
    });
  }
  done.wait();
  Event event;
  schedule([event] { event.signal(); });
  event.wait();
  EXPECT_EQ(turn, 3);
  Scheduler::unbind();
}

// A lock whose unlock() notifies one waiter wakes the fiber that unlocks it: that fiber goes on at once, and
// ends while it is still listed.
TEST_F(ConditionVariableOwnSchedulerTest, AFiberWokenBeforeItBlocksMayEndItsTask) {
  struct NotifyingLock {
    ConditionVariable* changed;
    void lock() {}
    void unlock() { changed->notify_one(); }
  };
  Scheduler scheduler(smallConfig(0, allocator()));
  scheduler.bind();
  for (const auto timeout : {std::chrono::hours(1), std::chrono::hours::max()}) {
    ConditionVariable changed;
    NotifyingLock lock{&changed};
    WaitGroup done(2);
    schedule([&, done] {
      int looks = 0;
      changed.wait_for(lock, timeout, [&] { return looks++ > 0; });
      done.done();
    });
    schedule([done] { done.done(); });
    done.wait();
    Event event;
    schedule([event] { event.signal(); });
    event.wait();
  }
  Scheduler::unbind();
}

using ConditionVariableDeathTest = tests::DeathTest;

TEST_F(ConditionVariableDeathTest, DestroyedWhileSomebodyWaits) {
  EXPECT_DEATH(
      {
        std::mutex guard;
        auto variable = std::make_unique<ConditionVariable>();
        std::thread waiter([&guard, variable = variable.get()] {
          std::unique_lock held(guard);
          variable->wait(held);
        });
        awaitThat([&] { return numWaiting(*variable) == 1; });
        variable.reset();
      },
      "ConditionVariable was destroyed while somebody waits for it");
}

TEST_F(ConditionVariableDeathTest, GivenALockThatWaitsWhenItIsUnlocked) {
  struct WaitingLock {
    void lock() {}
    void unlock() { Event().wait(); }
  };
  EXPECT_DEATH(
      {
        ConditionVariable variable;
        WaitingLock held;
        variable.wait(held);
      },
      "a fiber or thread that waits already began another wait");
}

}  // namespace
}  // namespace weft
