// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/on_lock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <weft/channel.h>
#include <weft/event.h>
#include <weft/mutex.h>
#include <weft/scheduler.h>
#include <weft/semaphore.h>
#include <weft/waitgroup.h>

#include "channels.h"
#include "count_mallocs.h"
#include "crew.h"
#include "gates.h"
#include "live_objects.h"
#include "num_waiting.h"
#include "while_linking.h"

namespace weft {
namespace {
namespace on_lock_test {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using tests::awaitThat;
using tests::Crew;
using tests::Kind;
using tests::kKinds;
using tests::LiveObject;
using tests::numWaiting;
using tests::scaled;

// A task that runs on the thread that schedules it.
template <class F>
Task sameThread(const F& f) {
  return Task(f, Task::Flags::SameThread);
}

using Held = std::unique_lock<mutex>;

constexpr auto kIgnore = [](std::optional<int>) {};

// Returns: whether nobody holds `one`.
bool isFree(mutex& one) WEFT_NO_THREAD_SAFETY_ANALYSIS {
  const bool took = one.try_lock();
  if (took) {
    one.unlock();
  }
  return took;
}

// Unseen by the thread-safety analysis, which does not know what a select() has locked.
void lock(mutex& one) WEFT_NO_THREAD_SAFETY_ANALYSIS { one.lock(); }
void unlock(mutex& one) WEFT_NO_THREAD_SAFETY_ANALYSIS { one.unlock(); }

class OnLockTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(OnLockTest);

class UnboundOnLockTest : public tests::WithAllocator {};

TEST_F(UnboundOnLockTest, LocksAMutexThatIsFree) {
  mutex free;
  const Semaphore none(0);
  int numCalls = 0;
  EXPECT_EQ(select(onAcquire(none), onLock(free, [&] { ++numCalls; })), 1u);
  EXPECT_EQ(numCalls, 1);
  EXPECT_FALSE(isFree(free));
  unlock(free);
  EXPECT_EQ(select(onLock(free)), 0u);
  unlock(free);
  EXPECT_TRUE(isFree(free));
}

TEST_F(UnboundOnLockTest, AHandlerGetsTheLockAndReleasesIt) {
  mutex free;
  Held kept;
  EXPECT_EQ(select(onLock(free, [&](Held held) { kept = std::move(held); })), 0u);
  EXPECT_TRUE(kept.owns_lock());
  EXPECT_FALSE(isFree(free));
  kept.unlock();
  EXPECT_EQ(select(onLock(free, [&](const auto& held) { EXPECT_TRUE(held.owns_lock()); })), 0u);
  EXPECT_TRUE(isFree(free));
  EXPECT_THROW(select(onLock(free, [](Held) { throw std::runtime_error("handler"); })), std::runtime_error);
  EXPECT_TRUE(isFree(free));
}

TEST_F(UnboundOnLockTest, AHandlerThatThrowsWithoutTheLockKeepsIt) {
  mutex free;
  EXPECT_THROW(select(onLock(free, [] { throw std::runtime_error("handler"); })), std::runtime_error);
  EXPECT_FALSE(isFree(free));
  unlock(free);
}

TEST_F(UnboundOnLockTest, WhatIsNotChosenStaysFreeAndEachIsChosen) {
  std::array<int, 4> numChosen{};
  for (int i = 0; i < 400; ++i) {
    mutex left, right;
    const Channel<int> channel(1);
    const Semaphore semaphore(1);
    channel.send(1);
    const size_t chosen =
        select(onLock(left), onReceive(channel, kIgnore), onLock(right), onAcquire(semaphore));
    ++numChosen[chosen];
    EXPECT_EQ(isFree(left), chosen != 0);
    EXPECT_EQ(channel.size(), chosen == 1 ? 0u : 1u);
    EXPECT_EQ(isFree(right), chosen != 2);
    EXPECT_EQ(semaphore.try_acquire(), chosen != 3);
    if (chosen % 2 == 0) {
      unlock(chosen == 0 ? left : right);
    }
  }
  for (const int each : numChosen) {
    EXPECT_GT(each, 10);
  }
}

// Holds a mutex on a thread of its own.
class Holder {
 public:
  explicit Holder(mutex& one)
      : thread_([this, &one] {
          lock(one);
          holds_.signal();
          mayEnd_.wait();
          unlock(one);
        }) {
    holds_.wait();
  }
  ~Holder() { release(); }
  // The mutex is unlocked when this returns.
  void release() {
    if (thread_.joinable()) {
      mayEnd_.signal();
      thread_.join();
    }
  }

 private:
  const Event holds_{Event::Mode::Manual, false, tests::heap()};
  const Event mayEnd_{Event::Mode::Manual, false, tests::heap()};
  std::thread thread_;
};

TEST_F(UnboundOnLockTest, ATimeEndsTheWaitAndLeavesNothing) {
  mutex held;
  {
    Holder holder(held);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(select(onLock(held), onTimeout(milliseconds(4)), onLock(held)), 1u);
    EXPECT_GE(std::chrono::steady_clock::now(), begin + milliseconds(4));
    EXPECT_EQ(numWaiting(held), 0);
    EXPECT_EQ(select(onLock(held), otherwise()), 1u);
  }
  EXPECT_TRUE(isFree(held));
}

TEST_F(UnboundOnLockTest, AMutexThatIsUnlockedWhileItLinksIsLocked) {
  bool wasFirst = false, wasLast = false;
  // A select begins to link with a random case.
  while (!wasFirst || !wasLast) {
    mutex first, last;
    Holder holder(first), otherHolder(last);
    const auto release = [&] {
      holder.release();
      otherHolder.release();
    };
    const size_t chosen = select(onLock(first), tests::WhileLinking(release), onLock(last));
    ASSERT_TRUE(chosen == 0 || chosen == 2);
    (chosen == 0 ? wasFirst : wasLast) = true;
    EXPECT_EQ(numWaiting(first) + numWaiting(last), 0);
    EXPECT_EQ(isFree(first), chosen != 0);
    EXPECT_EQ(isFree(last), chosen != 2);
    unlock(chosen == 0 ? first : last);
  }
}

TEST_F(UnboundOnLockTest, AListLocksAgainAndAgainAndAllocatesNothing) {
  mutex free, held;
  const Holder holder(held);
  int numCalls = 0;
  std::vector<AnyCase> cases;
  cases.emplace_back(onLock(held));
  cases.emplace_back(onLock(free, [&](Held) { ++numCalls; }));
  select(cases);  // a thread's first select may allocate
  const uint64_t before = tests::numMallocs();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(select(onLock(held), onTimeout(microseconds(1))), 1u);
    EXPECT_EQ(select(cases), 1u);
  }
  EXPECT_EQ(tests::numMallocs(), before);
  EXPECT_EQ(numCalls, 21);
}

TEST_F(UnboundOnLockTest, AHandlerIsMovedIntoItsCaseAndDestroyed) {
  mutex free;
  {
    int sum = 0;
    const auto handler = [&sum, object = LiveObject(5)](Held) { sum += object.value; };
    std::vector<AnyCase> cases;
    cases.emplace_back(onLock(free, handler));
    select(cases);
    select(onLock(free, handler));
    EXPECT_EQ(sum, 10);
  }
  EXPECT_EQ(LiveObject::numAlive, 0);
}

// Locks both, and lets one end the wait of a select of the two and a channel.
struct LockScene {
  LockScene() {
    lock(first);
    lock(second);
  }
  size_t select() { return weft::select(onLock(first), onReceive(channel, kIgnore), onLock(second)); }
  void awaitSelect() {
    awaitThat([&] { return numWaiting(first) == 1 && numWaiting(second) == 1 && numWaiting(channel) == 1; });
  }

  mutex first, second;
  const Channel<int> channel{0, tests::heap()};
};

TEST_P(OnLockTest, AnUnlockEndsTheWait) {
  for (Kind kind : kKinds) {
    for (const size_t expected : {0u, 2u}) {
      LockScene scene;
      mutex& chosen = expected == 0 ? scene.first : scene.second;
      Crew crew(scheduler());
      crew.start(kind, [&] {
        EXPECT_EQ(scene.select(), expected);
        unlock(chosen);
      });
      scene.awaitSelect();
      unlock(chosen);
      crew.join();
      EXPECT_EQ(numWaiting(scene.first) + numWaiting(scene.second) + numWaiting(scene.channel), 0);
      EXPECT_TRUE(isFree(chosen));
      unlock(expected == 0 ? scene.second : scene.first);
    }
  }
}

TEST_P(OnLockTest, AMutexThatIsUnlockedTooLateForItGoesToTheNext) {
  for (Kind kind : kKinds) {
    LockScene scene;
    Crew crew(scheduler());
    crew.start(kind, [&] { EXPECT_EQ(scene.select(), 1u); });
    scene.awaitSelect();
    crew.start(kind, [&] { const weft::lock held(scene.first); });
    awaitThat([&] { return numWaiting(scene.first) == 2; });
    scene.channel.send(1);
    unlock(scene.first);
    unlock(scene.second);
    crew.join();
    EXPECT_TRUE(isFree(scene.first));
    EXPECT_TRUE(isFree(scene.second));
  }
}

TEST_P(OnLockTest, AStopOrATimeEndsTheWait) {
  for (Kind kind : kKinds) {
    mutex held;
    lock(held);
    std::stop_source stop;
    Crew crew(scheduler());
    crew.start(kind, [&] { EXPECT_EQ(select(onStop(stop.get_token()), onLock(held)), 0u); });
    crew.start(kind, [&] { EXPECT_EQ(select(onLock(held), onTimeout(milliseconds(3))), 1u); });
    awaitThat([&] { return numWaiting(held) >= 1; });
    stop.request_stop();
    crew.join();
    EXPECT_EQ(numWaiting(held), 0);
    unlock(held);
    EXPECT_TRUE(isFree(held));
  }
}

// Hangs if the select waits until it is woken: the waiter before it was woken, and cannot run.
TEST_P(OnLockTest, DoesNotWaitForAWaiterThatCannotRun) {
  mutex guard;
  const Event never;
  std::atomic<bool> hadIt{false};
  WaitGroup done(1);
  lock(guard);
  schedule(sameThread([&] {
    const weft::lock held(guard);
    done.done();
  }));
  awaitThat([&] { return numWaiting(guard) == 1; });
  Crew crew(scheduler());
  crew.start(Kind::FreeThread, [&] {
    EXPECT_EQ(select(onSignal(never), onLock(guard, [](Held) {})), 1u);
    hadIt = true;
  });
  awaitThat([&] { return numWaiting(guard) == 2; });
  unlock(guard);
  while (!hadIt) {
    detail::StdSync::pause();  // runs code of its own
  }
  done.wait();
}

// Hangs if the mutex is the select's before that runs.
TEST_P(OnLockTest, ASelectThatCannotRunKeepsTheMutexFromNobodyAndComesAgain) {
  mutex guard;
  const Event never;
  std::atomic<bool> hasIt{false}, mayEnd{false};
  WaitGroup done(1);
  lock(guard);
  schedule(sameThread([&] {
    EXPECT_EQ(select(onSignal(never), onLock(guard, [](Held) {})), 1u);
    done.done();
  }));
  awaitThat([&] { return numWaiting(guard) == 1; });
  Crew crew(scheduler());
  crew.start(Kind::FreeThread, [&] {
    const weft::lock held(guard);
    hasIt = true;
    while (!mayEnd) {
      std::this_thread::yield();
    }
  });
  awaitThat([&] { return numWaiting(guard) == 2; });
  unlock(guard);
  while (!hasIt) {
    detail::StdSync::pause();
  }
  // Now it runs, comes too late, and waits once more.
  awaitThat([&] { return numWaiting(guard) == 1; });
  mayEnd = true;
  done.wait();
  EXPECT_EQ(numWaiting(never), 0);
}

// What a mutex guards, with a check that it does.
struct Guarded {
  auto use() {
    return [this](Held held) {
      useHeld();
      held.unlock();
    };
  }
  void useHeld() {
    EXPECT_EQ(++numInside, 1);
    yield();
    ++count;
    --numInside;
  }

  mutex guard;
  std::atomic<int> numInside{0};
  int count = 0;
};

TEST_P(OnLockTest, ManySelectsAndOthersLockInTurn) {
  constexpr int kSelects = 6;
  const int count = scaled(300, 60);
  Guarded guarded[2];
  const Channel<int> channel(1);
  std::atomic<int> sum{0}, numLocked{0};
  Crew crew(scheduler());
  for (int i = 0; i < kSelects; ++i) {
    crew.start(tests::kindOf(i), [&, i] {
      for (int k = 0; k < count; ++k) {
        const int first = (i + k) % 2;
        std::stop_source stop;
        stop = k % 3 == 0 ? stop : std::stop_source(std::nostopstate);
        const size_t chosen = select(
            onLock(guarded[first].guard, guarded[first].use()), onSend(channel, 1, [&] { sum += 1; }),
            onTimeout(microseconds((k + i) % 20)), onLock(guarded[1 - first].guard, guarded[1 - first].use()),
            onReceive(channel, [&](std::optional<int> value) { sum -= *value; }), onStop(stop.get_token()));
        numLocked += chosen == 0 || chosen == 3 ? 1 : 0;
      }
    });
    crew.start(tests::kindOf(i + 1), [&, i] {
      for (int k = 0; k < count; ++k) {
        Guarded& one = guarded[(i + k) % 2];
        const weft::lock held(one.guard);
        one.useHeld();
        ++numLocked;
      }
    });
  }
  crew.join();
  sum -= static_cast<int>(channel.size());
  EXPECT_EQ(sum, 0);
  EXPECT_EQ(guarded[0].count + guarded[1].count, numLocked);
  for (Guarded& each : guarded) {
    EXPECT_EQ(numWaiting(each.guard), 0);
    EXPECT_TRUE(isFree(each.guard));
  }
}

// No time ends these waits: whose wake is lost stays for ever.
TEST_P(OnLockTest, NobodyIsLeftAsleepWhileAMutexIsFree) {
  constexpr int kSelects = 6;
  const int count = scaled(500, 100);
  Guarded left, right;
  const Event never;
  Crew crew(scheduler());
  for (int i = 0; i < kSelects; ++i) {
    crew.start(tests::kindOf(i), [&, i] {
      const std::stop_source source;
      Guarded& first = i % 2 == 0 ? left : right;
      Guarded& second = i % 2 == 0 ? right : left;
      for (int k = 0; k < count; ++k) {
        select(onLock(first.guard, first.use()), onSignal(never), onStop(source.get_token()),
               onLock(second.guard, second.use()));
      }
    });
  }
  crew.join();
  EXPECT_EQ(left.count + right.count, kSelects * count);
  EXPECT_EQ(numWaiting(left.guard) + numWaiting(right.guard) + numWaiting(never), 0);
}

TEST_P(OnLockTest, TheMutexMayBeDestroyedAsSoonAsTheLastHasIt) {
  for (Kind kind : kKinds) {
    for (int i = 0; i < scaled(100, 20); ++i) {
      auto guard = std::make_unique<mutex>();
      const Event never(Event::Mode::Auto, false, tests::heap());
      lock(*guard);
      Crew crew(scheduler());
      crew.start(kind, [&] {
        EXPECT_EQ(select(onLock(*guard), onSignal(never)), 0u);
        unlock(*guard);
        guard.reset();
      });
      awaitThat([&] { return numWaiting(*guard) == 1; });
      unlock(*guard);
    }
  }
}

// The example in on_lock.h.
TEST_F(UnboundOnLockTest, TheExampleMergesWhereTheMutexIsFree) {
  weft::mutex mutex;
  int merged = 0;
  const auto example = [&](int total) {
    const auto merge = [&](int more) { merged += more; };
    weft::select(weft::onLock(mutex, [&](std::unique_lock<weft::mutex>) { merge(total); }),
                 weft::onTimeout(std::chrono::milliseconds(5), [] { std::puts("busy"); }));
  };
  example(2);
  EXPECT_EQ(merged, 2);
  {
    const Holder holder(mutex);
    example(3);
  }
  EXPECT_EQ(merged, 2);
}

class OnLockDeathTest : public tests::DeathTest {};

TEST_F(OnLockDeathTest, CasesThatCannotBeMade) {
  mutex guard;
  EXPECT_DEATH((void)onLock(guard, std::function<void()>()), "onLock\\(\\)");
  lock(guard);
  EXPECT_DEATH(select(onLock(guard), onTimeout(milliseconds(1))), "was locked by the fiber or thread that");
  unlock(guard);
}

}  // namespace on_lock_test
}  // namespace
}  // namespace weft
