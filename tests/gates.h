// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <weft/conditionvariable.h>
#include <weft/detail/base/sync.h>
#include <weft/event.h>
#include <weft/memory.h>
#include <weft/mutex.h>
#include <weft/scheduler.h>
#include <weft/semaphore.h>
#include <weft/waitgroup.h>

#include "crew.h"
#include "num_waiting.h"
#include "rounds.h"
#include "with_scheduler.h"

// What all primitives of waiting must do: tests of it are templates over a gate, which has a primitive.
namespace weft::tests {

// An allocator that is not the default one, so that shared state lies in memory whose misuse a sanitizer
// sees.
inline Allocator* heap() {
  static TrackedAllocator allocator(Allocator::Default);
  return &allocator;
}

// What every primitive can do: wait() and waitFor() take one token each, wakeOne() gives one.
struct AutoEventGate {
  void wait() { event.wait(); }
  template <class Duration>
  bool waitFor(const Duration& duration) {
    return event.wait_for(duration);
  }
  template <class TimePoint>
  bool waitUntil(const TimePoint& time) {
    return event.wait_until(time);
  }
  void wakeOne() { event.signal(); }
  int numWaiting() { return tests::numWaiting(event); }
  Event event{Event::Mode::Auto, false, heap()};
};

struct SemaphoreGate {
  void wait() { semaphore.acquire(); }
  template <class Duration>
  bool waitFor(const Duration& duration) {
    return semaphore.try_acquire_for(duration);
  }
  template <class TimePoint>
  bool waitUntil(const TimePoint& time) {
    return semaphore.try_acquire_until(time);
  }
  void wakeOne() { semaphore.release(); }
  int numWaiting() { return tests::numWaiting(semaphore); }
  Semaphore semaphore{0, heap()};
};

// Over std::mutex, or over weft::mutex.
template <class Mutex, class Lock>
struct VariableGate {
  void wait() {
    Lock lock(guard);
    variable.wait(lock, [this] { return tokens > 0; });
    --tokens;
  }
  template <class Duration>
  bool waitFor(const Duration& duration) {
    Lock lock(guard);
    const bool took = variable.wait_for(lock, duration, [this] { return tokens > 0; });
    tokens -= took ? 1 : 0;
    return took;
  }
  template <class TimePoint>
  bool waitUntil(const TimePoint& time) {
    Lock lock(guard);
    const bool took = variable.wait_until(lock, time, [this] { return tokens > 0; });
    tokens -= took ? 1 : 0;
    return took;
  }
  void wakeOne() {
    Lock lock(guard);
    ++tokens;
    variable.notify_one();
  }
  int numWaiting() { return tests::numWaiting(variable); }
  Mutex guard;
  ConditionVariable variable;
  int tokens = 0;
};
using StdVariableGate = VariableGate<std::mutex, std::unique_lock<std::mutex>>;
using WeftVariableGate = VariableGate<mutex, lock>;

// Those of use for a single wait.
struct ManualEventGate {
  void wait() { event.wait(); }
  void wakeOne() { event.signal(); }
  Event event{Event::Mode::Manual, false, heap()};
};

struct PooledEventGate {
  void wait() { event.wait(); }
  void wakeOne() { event.signal(); }
  Event event;
};

struct WaitGroupGate {
  void wait() { group.wait(); }
  void wakeOne() { group.done(); }
  WaitGroup group{1, heap()};
};

// The waker holds the mutex while the waiter comes.
struct MutexGate {
  void wait() {
    for (Patience patience; !isHeld.load();) {
      patience.wait();
    }
    lock lock(guard);
  }
  void wakeOne() {
    lock lock(guard);
    isHeld = true;
  }
  mutex guard;
  std::atomic<bool> isHeld{false};
};

// Waiters of every kind, one after the other, then as many wakes: they come back in the order in which they
// came.
template <class Gate>
void expectFirstInFirstOut(Scheduler& scheduler) {
  constexpr int kWaiters = 9;
  Gate gate;
  std::mutex guard;
  std::vector<int> order;
  const auto numBack = [&] {
    std::scoped_lock lock(guard);
    return static_cast<int>(order.size());
  };
  Crew crew(scheduler);
  for (int i = 0; i < kWaiters; ++i) {
    crew.start(kindOf(i), [&, i] {
      gate.wait();
      std::scoped_lock lock(guard);
      order.push_back(i);
    });
    awaitThat([&] { return gate.numWaiting() == i + 1; });
  }
  for (int i = 0; i < kWaiters; ++i) {
    EXPECT_EQ(numBack(), i) << "somebody was woken without a wake";
    gate.wakeOne();
    awaitThat([&] { return numBack() > i; });
    EXPECT_EQ(order[static_cast<size_t>(i)], i);
  }
}

// Tasks that wait, one after the other, then one wake of all: they come back in the order in which they came.
// Requires: tasks run on one thread, since on several those that were woken race.
inline void expectAllWokenFirstInFirstOut(const std::function<void()>& wait,
                                          const std::function<int()>& countWaiting,
                                          const std::function<void()>& wake) {
  constexpr int kWaiters = 20;
  std::vector<int> order;
  WaitGroup done(kWaiters);
  for (int i = 0; i < kWaiters; ++i) {
    schedule([&, i, done] {
      wait();
      order.push_back(i);
      done.done();
    });
    awaitThat([&] { return countWaiting() == i + 1; });
  }
  wake();
  done.wait();
  for (int i = 0; i < kWaiters; ++i) {
    EXPECT_EQ(order[static_cast<size_t>(i)], i);
  }
}

// Two wait, two wakes in a row: both come back.
template <class Gate>
void expectTwoWakesWakeTwo(Scheduler& scheduler, Kind first, Kind second) {
  Gate gate;
  Crew crew(scheduler);
  crew.start(first, [&] { gate.wait(); });
  awaitThat([&] { return gate.numWaiting() == 1; });
  crew.start(second, [&] { gate.wait(); });
  awaitThat([&] { return gate.numWaiting() == 2; });
  gate.wakeOne();
  gate.wakeOne();
  crew.join();
  EXPECT_EQ(gate.numWaiting(), 0);
}

// Again and again somebody waits for a wake from another thread, and destroys the primitive the moment it is
// back, while the waker may still be returning.
template <class Gate>
void destroyAsSoonAsWaitReturns(Scheduler& scheduler, Kind kind, int rounds) {
  std::atomic<Gate*> offered{nullptr};
  Tokens isOffered;
  Crew crew(scheduler);
  crew.start(kind, [&] {
    for (Rounds round(rounds); round.next();) {
      auto gate = std::make_unique<Gate>();
      offered.store(gate.get(), std::memory_order_release);
      isOffered.give();
      for (int pauses = 0; pauses < round.count() % 32; ++pauses) {
        detail::StdSync::pause();
      }
      gate->wait();
    }
    isOffered.give();  // without a gate: it was the last round
  });
  crew.start(Kind::FreeThread, [&] {
    for (;;) {
      isOffered.take();
      Gate* gate = offered.exchange(nullptr, std::memory_order_acquire);
      if (gate == nullptr) {
        return;
      }
      gate->wakeOne();
    }
  });
}

// Rounds of the above: most of them where a fiber waits on a worker thread, which searches for a while before
// it sleeps.
inline int destructionRounds(Kind kind, int numWorkers) {
  if (kind == Kind::Task && numWorkers == 1) {
    return 100'000;
  }
  return scaled(2'000, 500);
}

// The test above with waiters of each kind, in a part of the usual number of rounds.
template <class Gate>
void destroyAtOnce(Scheduler& scheduler, int numWorkers, int part = 1) {
  for (Kind kind : kKinds) {
    destroyAsSoonAsWaitReturns<Gate>(scheduler, kind, destructionRounds(kind, numWorkers) / part);
  }
}

}  // namespace weft::tests
