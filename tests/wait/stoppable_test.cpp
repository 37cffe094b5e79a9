// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/wait/stoppable.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <stop_token>

#include <weft/conditionvariable.h>
#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/semaphore.h>
#include <weft/sleep.h>
#include <weft/waitgroup.h>

#include "stopping.h"

// Each wait that takes a token, beside what the tests of the primitives' own headers say.
namespace weft {
namespace {

using tests::awaitThat;
using tests::Crew;
using tests::Kind;
using tests::kKinds;
using tests::scaled;

struct EventGate : tests::AutoEventGate {
  bool wait(const std::stop_token& token) { return event.wait(token); }
  template <class Duration>
  bool waitFor(const Duration& duration, const std::stop_token& token) {
    return event.wait_for(duration, token);
  }
};

struct SemaphoreGate : tests::SemaphoreGate {
  bool wait(const std::stop_token& token) { return semaphore.acquire(token); }
  template <class Duration>
  bool waitFor(const Duration& duration, const std::stop_token& token) {
    return semaphore.try_acquire_for(duration, token);
  }
};

template <class Mutex, class Lock>
struct VariableGate : tests::VariableGate<Mutex, Lock> {
  bool wait(const std::stop_token& token) {
    return take(
        [&](Lock& lock) { return this->variable.wait(lock, token, [this] { return this->tokens > 0; }); });
  }
  template <class Duration>
  bool waitFor(const Duration& duration, const std::stop_token& token) {
    return take([&](Lock& lock) {
      return this->variable.wait_for(lock, token, duration, [this] { return this->tokens > 0; });
    });
  }

  template <class Wait>
  bool take(Wait wait) {
    Lock lock(this->guard);
    const bool took = wait(lock);
    this->tokens -= took ? 1 : 0;
    return took;
  }
};

// A wait group that goes up and down between zero and one: who finds it at zero has to bring it back to one
// before anybody else looks, so that there is one waiter at most.
struct WaitGroupGate {
  bool wait(const std::stop_token& token) { return group.wait(token) && restart(); }
  template <class Duration>
  bool waitFor(const Duration& duration, const std::stop_token& token) {
    return group.wait_for(duration, token) && restart();
  }
  bool restart() {
    group.add();
    return true;
  }
  void wakeOne() { group.done(); }
  int numWaiting() { return tests::numWaiting(group); }
  WaitGroup group{1, tests::heap()};
};

class StoppableTest : public tests::WithScheduler {
 protected:
  // Calls check<Gate>() for each of the gates.
  template <class F>
  static void forEachGate(F check) {
    check(static_cast<WaitGroupGate*>(nullptr));
    forEachSharedGate(check);
  }
  // Those for which several may wait.
  template <class F>
  static void forEachSharedGate(F check) {
    check(static_cast<EventGate*>(nullptr));
    check(static_cast<SemaphoreGate*>(nullptr));
    check(static_cast<VariableGate<std::mutex, std::unique_lock<std::mutex>>*>(nullptr));
    check(static_cast<VariableGate<mutex, lock>*>(nullptr));
  }
};
WEFT_INSTANTIATE_WITH_SCHEDULER(StoppableTest);

TEST_P(StoppableTest, StopEndsTheWait) {
  forEachGate([&]<class Gate>(Gate*) { tests::expectStopEndsTheWait<Gate>(scheduler()); });
}

TEST_P(StoppableTest, StopEndsAllWaitsThatHaveItsTokenAndNoOther) {
  forEachSharedGate([&]<class Gate>(Gate*) { tests::expectStopEndsAllWaits<Gate>(scheduler()); });
}

TEST_P(StoppableTest, AStopBeforeTheWaitEndsItAtOnceAndASignalWins) {
  forEachGate([&]<class Gate>(Gate*) { tests::expectAStopBeforeTheWaitEndsItAtOnce<Gate>(scheduler()); });
}

TEST_P(StoppableTest, TimeEndsTheWaitToo) {
  forEachGate([&]<class Gate>(Gate*) { tests::expectTimeEndsTheWait<Gate>(scheduler()); });
}

TEST_P(StoppableTest, SignalStopAndTimeHaveOneWinner) {
  forEachGate([&]<class Gate>(Gate*) {
    tests::expectOneWinnerOfSignalStopAndTime<Gate>(scheduler(), scaled(500, 100));
  });
}

TEST_P(StoppableTest, MayBeDestroyedAsSoonAsStopped) {
  forEachGate([&]<class Gate>(Gate*) { tests::destroyAsSoonAsStopped<Gate>(scheduler(), scaled(500, 100)); });
}

// A fiber's permit: the fiber exists only within its task, so that it is no Gate.
TEST_P(StoppableTest, StopEndsAFibersWait) {
  std::stop_source source;
  std::atomic<Fiber*> waiting{nullptr};
  Crew crew(scheduler());
  crew.start(Kind::Task, [&] {
    waiting = Fiber::current();
    EXPECT_FALSE(Fiber::current()->wait(source.get_token()));
    EXPECT_FALSE(
        Fiber::current()->wait(std::chrono::steady_clock::now() + std::chrono::hours(1), source.get_token()));
    Fiber::current()->notify();
    EXPECT_TRUE(Fiber::current()->wait(source.get_token()));
    EXPECT_FALSE(Fiber::current()->wait(std::chrono::steady_clock::now(), std::stop_token()));
  });
  awaitThat([&] { return waiting != nullptr; });
  source.request_stop();
}

// Each permit is taken by one wait, whether stops come in between or not.
TEST_P(StoppableTest, NotifyAndStopHaveOneWinner) {
  std::atomic<Fiber*> fiber{nullptr};
  tests::Stopper stopper;
  const Event isThere, taken;
  std::atomic<int> numTaken{0};
  std::atomic<bool> isOver{false};
  Crew crew(scheduler());
  crew.start(Kind::Task, [&] {
    fiber = Fiber::current();
    isThere.signal();
    while (!isOver) {
      if (Fiber::current()->wait(stopper.next())) {
        ++numTaken;
        taken.signal();
      }
    }
    stopper.end();
  });
  crew.start(Kind::FreeThread, [&] { stopper.run(); });
  isThere.wait();
  tests::Rounds round(scaled(500, 100));
  while (round.next()) {
    fiber.load()->notify();
    taken.wait();
    EXPECT_EQ(numTaken, round.count());
  }
  isOver = true;
}

TEST_P(StoppableTest, StopEndsSleep) {
  for (Kind kind : kKinds) {
    std::stop_source source;
    std::atomic<bool> isThere{false};
    Crew crew(scheduler());
    crew.start(kind, [&] {
      isThere = true;
      EXPECT_FALSE(sleep_for(std::chrono::hours(1), source.get_token()));
      EXPECT_FALSE(sleep_until(std::chrono::system_clock::now() + std::chrono::hours(1), source.get_token()));
      EXPECT_TRUE(sleep_for(std::chrono::milliseconds(1), std::stop_token()));
    });
    awaitThat([&] { return isThere.load(); });
    source.request_stop();
  }
}

// A stop that finds its waiter claimed already changes nothing: the signal is told.
TEST_P(StoppableTest, AStopAfterTheSignalComesTooLate) {
  for (Kind kind : {Kind::Task, Kind::BoundThread}) {
    Event event;
    std::stop_source source;
    Crew crew(scheduler());
    crew.start(kind, [&] { EXPECT_TRUE(event.wait(source.get_token())); });
    awaitThat([&] { return tests::numWaiting(event) == 1; });
    event.signal();
    source.request_stop();
  }
}

}  // namespace
}  // namespace weft
