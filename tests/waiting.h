// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/conditionvariable.h>
#include <weft/detail/base/sync.h>
#include <weft/event.h>
#include <weft/fiber.h>
#include <weft/memory.h>
#include <weft/mutex.h>
#include <weft/scheduler.h>
#include <weft/semaphore.h>
#include <weft/waitgroup.h>

#include "rounds.h"
#include "with_scheduler.h"

// What the tests of the waiting primitives share.
namespace weft::tests {

using std::chrono::milliseconds;

inline constexpr std::chrono::hours kThreeHundredYears{24 * 365 * 300};

// Returns once pred() is true. Lets others run meanwhile, on a bound thread its tasks too.
template <class Predicate>
void awaitThat(Predicate pred) {
  for (Patience patience; !pred(); patience.wait()) {
    yield();
  }
}

// The ways to run code that may wait.
enum class Kind { Task, BoundThread, FreeThread };

inline constexpr Kind kKinds[] = {Kind::Task, Kind::BoundThread, Kind::FreeThread};

constexpr Kind kindOf(int i) { return kKinds[i % 3]; }

// Runs functions as tasks and on threads, and waits for all of them. Requires: the thread that uses it is
// bound.
class Crew {
 public:
  explicit Crew(Scheduler& scheduler) : scheduler_(scheduler) {}
  ~Crew() { join(); }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Not a template: a std::thread of each test's function would take compilers a quarter of their time.
  void start(Kind kind, std::function<void()> f) {
    if (kind == Kind::Task) {
      tasks_.add();
      schedule([f = std::move(f), tasks = tasks_] {
        f();
        tasks.done();
      });
    } else if (kind == Kind::BoundThread) {
      threads_.emplace_back([this, f = std::move(f)] {
        Scheduler::Binding bound(scheduler_);
        f();
      });
    } else {
      threads_.emplace_back(std::move(f));
    }
  }

  void join() {
    tasks_.wait();
    for (std::thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
  }

 private:
  Scheduler& scheduler_;
  WaitGroup tasks_;
  std::vector<std::thread> threads_;
};

// Calls `f` in each kind of code that may wait, all at once.
inline void everywhere(Scheduler& scheduler, const std::function<void()>& f) {
  Crew crew(scheduler);
  for (const Kind kind : kKinds) {
    crew.start(kind, f);
  }
}

// Lets tests look at how many wait: a test that must know that somebody waits need then not guess by
// sleeping. An explicit instantiation may name private members.
template <class Tag, auto kMember>
struct Expose {
  friend constexpr auto member(Tag) { return kMember; }
};

template <class Int>
int countListed(detail::WaitWord<Int>& word) {
  if (!word.lockIfAwaited()) {
    return 0;
  }
  int count = 0;
  for (const detail::Waiter* waiter = word.list.front(); waiter != nullptr; waiter = waiter->next) {
    ++count;
  }
  // Not unlock(): there may be a waiter that is in no list yet.
  word.bits.fetch_and(~word.kLocked, std::memory_order_release);
  return count;
}

// Defines numWaiting(Class&), which is to be declared before, for a class that has a detail::WaitWord as a
// member.
template <class Class, auto kWord>
struct ExposeWord {
  friend int numWaiting(Class& object) { return countListed(object.*kWord); }
};

// The same for a class that has one of those as a member.
template <class Class, auto kCore, auto kWord>
struct ExposeCore {
  friend int numWaiting(Class& object) { return countListed((object.*kCore).*kWord); }
};

struct EventState {
  friend constexpr auto member(EventState);
};
struct WaitGroupState {
  friend constexpr auto member(WaitGroupState);
};
struct SemaphoreState {
  friend constexpr auto member(SemaphoreState);
};
template struct Expose<EventState, &Event::state_>;
template struct Expose<WaitGroupState, &WaitGroup::state_>;
template struct Expose<SemaphoreState, &Semaphore::state_>;

struct EventWord {
  friend constexpr auto member(EventWord);
};
template struct Expose<EventWord, &detail::EventCore<>::word_>;

// Return: how many wait.
inline int numWaiting(const Event& event) {
  auto& word = (event.*member(EventState{}))->core.*member(EventWord{});
  return countListed(word) + (word.bits.load(std::memory_order_relaxed) > 7 ? 1 : 0);
}
struct WaitGroupWord {
  friend constexpr auto member(WaitGroupWord);
};
struct WaitGroupFirst {
  friend constexpr auto member(WaitGroupFirst);
};
template struct Expose<WaitGroupWord, &detail::WaitGroupCore<>::word_>;
template struct Expose<WaitGroupFirst, &detail::WaitGroupCore<>::first_>;
inline int numWaiting(const WaitGroup& group) {
  auto& state = *(group.*member(WaitGroupState{}));
  const auto& first = state.core.*member(WaitGroupFirst{});
  return countListed(state.core.*member(WaitGroupWord{})) +
         (first.load(std::memory_order_relaxed) != nullptr ? 1 : 0);
}
inline int numWaiting(detail::SemaphoreCore<>& core);
template struct ExposeWord<detail::SemaphoreCore<>, &detail::SemaphoreCore<>::word_>;
inline int numWaiting(const Semaphore& semaphore) {
  return numWaiting((semaphore.*member(SemaphoreState{}))->core);
}
inline int numWaiting(ConditionVariable& variable);
template struct ExposeCore<ConditionVariable, &ConditionVariable::core_, &detail::ConditionCore<>::word_>;
inline int numWaiting(mutex& mutex);
template struct ExposeCore<mutex, &mutex::core_, &detail::MutexCore<>::word_>;

// A clock that goes as it is told to.
struct SetClock {
  using duration = std::chrono::microseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<SetClock>;
  static constexpr bool is_steady = false;
  static time_point now() { return time_point(duration(current.load())); }
  static inline std::atomic<rep> current{0};
};

// A clock that is set back by three milliseconds while somebody waits for its time 2 ms, and then goes on. It
// goes by its readings, so that it says the same however long a thread takes from one to the next: 0 to the
// test and to the wait that begins, -3 ms to the wait that looks whether its time has come and begins again,
// and 2 ms to all others.
struct SetBackClock {
  using duration = milliseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<SetBackClock>;
  static constexpr bool is_steady = false;
  static time_point now() {
    const int reading = numReadings++;
    return time_point(milliseconds(reading < 2 ? 0 : reading < 4 ? -3 : 2));
  }
  static inline std::atomic<int> numReadings{0};
};

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

}  // namespace weft::tests
