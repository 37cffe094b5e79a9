// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/select.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <utility>
#include <vector>

#include <weft/scheduler.h>
#include <weft/semaphore.h>

#include "channels.h"
#include "count_mallocs.h"
#include "live_objects.h"
#include "stopping.h"
#include "while_linking.h"

namespace weft {
namespace {
namespace select_semaphore_test {

using std::chrono::microseconds;
using tests::awaitThat;
using tests::Crew;
using tests::Kind;
using tests::kKinds;
using tests::LiveObject;
using tests::milliseconds;
using tests::numWaiting;
using tests::scaled;

using Permit = Semaphore::Permit;

constexpr auto kIgnore = [](std::optional<int>) {};

// Takes the permits that are there. Returns: how many.
int drain(const Semaphore& semaphore) {
  int numTaken = 0;
  while (semaphore.try_acquire()) {
    ++numTaken;
  }
  return numTaken;
}

class SelectSemaphoreTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(SelectSemaphoreTest);

class UnboundSelectSemaphoreTest : public tests::WithAllocator {};

TEST_F(UnboundSelectSemaphoreTest, TakesOnePermitThatIsThere) {
  const Semaphore semaphore(3), none(0);
  int numCalls = 0;
  EXPECT_EQ(select(onAcquire(none), onAcquire(semaphore, [&] { ++numCalls; })), 1u);
  EXPECT_EQ(numCalls, 1);
  EXPECT_EQ(select(onAcquire(semaphore), onAcquire(none)), 0u);
  EXPECT_EQ(drain(semaphore), 1);
  EXPECT_EQ(select(onAcquire(semaphore), otherwise()), 1u);
}

TEST_F(UnboundSelectSemaphoreTest, AHandlerGetsThePermitAndGivesItBack) {
  const Semaphore semaphore(1);
  Permit kept;
  EXPECT_EQ(select(onAcquire(semaphore, [&](Permit permit) { kept = std::move(permit); })), 0u);
  EXPECT_EQ(kept.count(), 1);
  EXPECT_FALSE(semaphore.try_acquire());
  kept.release();
  EXPECT_THROW(select(onAcquire(semaphore, [](Permit) { throw std::runtime_error("handler"); })),
               std::runtime_error);
  EXPECT_EQ(drain(semaphore), 1);
}

TEST_F(UnboundSelectSemaphoreTest, AHandlerThatThrowsWithoutAPermitKeepsIt) {
  const Semaphore semaphore(1);
  EXPECT_THROW(select(onAcquire(semaphore, [] { throw std::runtime_error("handler"); })), std::runtime_error);
  EXPECT_EQ(drain(semaphore), 0);
}

TEST_F(UnboundSelectSemaphoreTest, WhatIsNotChosenTakesNoPermitAndEachIsChosen) {
  std::array<int, 4> numChosen{};
  for (int i = 0; i < 400; ++i) {
    const Semaphore left(1), right(1);
    const Channel<int> channel(1);
    const Event event(Event::Mode::Auto, true);
    channel.send(1);
    const size_t chosen =
        select(onAcquire(left), onReceive(channel, kIgnore), onAcquire(right), onSignal(event));
    ++numChosen[chosen];
    EXPECT_EQ(drain(left), chosen == 0 ? 0 : 1);
    EXPECT_EQ(channel.size(), chosen == 1 ? 0u : 1u);
    EXPECT_EQ(drain(right), chosen == 2 ? 0 : 1);
    EXPECT_EQ(event.isSignalled(), chosen != 3);
  }
  for (const int each : numChosen) {
    EXPECT_GT(each, 10);
  }
}

TEST_F(UnboundSelectSemaphoreTest, ATimeEndsTheWaitAndLeavesNothing) {
  const Semaphore semaphore(0);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(select(onAcquire(semaphore), onTimeout(milliseconds(2)), onAcquire(semaphore)), 1u);
  EXPECT_GE(std::chrono::steady_clock::now(), begin + milliseconds(2));
  EXPECT_EQ(numWaiting(semaphore), 0);
  semaphore.release();
  EXPECT_EQ(drain(semaphore), 1);
}

TEST_F(UnboundSelectSemaphoreTest, APermitThatComesWhileItLinksIsTaken) {
  const Semaphore first(0), second(0);
  EXPECT_EQ(select(onAcquire(first), tests::WhileLinking([&] { second.release(); }), onAcquire(second)), 2u);
  EXPECT_EQ(numWaiting(first), 0);
  EXPECT_EQ(drain(second), 0);
}

TEST_F(UnboundSelectSemaphoreTest, ClaimedWhileItLinksItTakesNothingElse) {
  const Semaphore first(0), second(0), third(0);
  const auto release = [&] {
    first.release();
    second.release();
  };
  bool wasFirst = false, wasSecond = false;
  // A select begins to link with a random case.
  while (!wasFirst || !wasSecond) {
    const size_t chosen =
        select(onAcquire(first), tests::WhileLinking(release), onAcquire(second), onAcquire(third));
    ASSERT_TRUE(chosen == 0 || chosen == 2);
    (chosen == 0 ? wasFirst : wasSecond) = true;
    EXPECT_EQ(numWaiting(first) + numWaiting(second) + numWaiting(third), 0);
    EXPECT_EQ(drain(first), chosen == 0 ? 0 : 1);
    EXPECT_EQ(drain(second), chosen == 0 ? 1 : 0);
  }
}

TEST_F(UnboundSelectSemaphoreTest, AListKeepsItsSemaphore) {
  std::vector<AnyCase> cases;
  Permit kept;
  {
    const Semaphore semaphore(1);
    cases.emplace_back(onAcquire(semaphore, [&](Permit permit) { kept = std::move(permit); }));
    cases.emplace_back(onAcquire(Semaphore(0)));
  }
  EXPECT_EQ(select(cases), 0u);
  EXPECT_TRUE(kept);
  cases.emplace_back(onTimeout(milliseconds(1)));
  EXPECT_EQ(select(cases), 2u);
  cases.pop_back();
  kept.release();
  EXPECT_EQ(select(cases), 0u);
  cases.clear();
  kept.release();
}

TEST_F(UnboundSelectSemaphoreTest, AListThatIsUsedAgainAllocatesNothing) {
  const Semaphore semaphore(1), never(0);
  int numTaken = 0;
  std::vector<AnyCase> cases;
  cases.emplace_back(onAcquire(never));
  cases.emplace_back(onAcquire(semaphore, [&] { ++numTaken; }));
  select(cases);  // a thread's first select may allocate
  const uint64_t before = tests::numMallocs();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(select(onAcquire(semaphore), onTimeout(microseconds(1))), 1u);
    semaphore.release();
    EXPECT_EQ(select(cases), 1u);
  }
  EXPECT_EQ(tests::numMallocs(), before);
  EXPECT_EQ(numTaken, 21);
}

TEST_F(UnboundSelectSemaphoreTest, AHandlerIsMovedIntoItsCaseAndDestroyed) {
  const Semaphore semaphore(2);
  {
    int sum = 0;
    const auto handler = [&sum, object = LiveObject(5)](Permit) { sum += object.value; };
    std::vector<AnyCase> cases;
    cases.emplace_back(onAcquire(semaphore, handler));
    select(cases);
    select(onAcquire(semaphore, handler));
    EXPECT_EQ(sum, 10);
  }
  EXPECT_EQ(LiveObject::numAlive, 0);
  EXPECT_EQ(drain(semaphore), 2);
}

TEST_P(SelectSemaphoreTest, APermitEndsTheWait) {
  for (Kind kind : kKinds) {
    const Semaphore first(0), second(0);
    const Channel<int> channel;
    std::atomic<int> numDone{0};
    Crew crew(scheduler());
    crew.start(kind, [&] {
      for (const size_t expected : {2u, 0u, 1u}) {
        EXPECT_EQ(select(onAcquire(first), onReceive(channel, kIgnore), onAcquire(second)), expected);
        ++numDone;
      }
    });
    const auto awaitSelect = [&](int done) {
      // It links the semaphores from a random one on.
      awaitThat([&] {
        return numDone == done && numWaiting(first) == 1 && numWaiting(second) == 1 &&
               numWaiting(channel) == 1;
      });
    };
    awaitSelect(0);
    second.release();
    awaitSelect(1);
    first.release();
    awaitSelect(2);
    channel.send(1);
    crew.join();
    EXPECT_EQ(numWaiting(first) + numWaiting(second) + numWaiting(channel), 0);
    EXPECT_EQ(drain(first) + drain(second), 0);
  }
}

TEST_P(SelectSemaphoreTest, APermitThatComesTooLateForItStays) {
  for (Kind kind : kKinds) {
    const Semaphore semaphore(0);
    const Event event;
    Crew crew(scheduler());
    crew.start(kind, [&] { EXPECT_EQ(select(onAcquire(semaphore), onSignal(event)), 1u); });
    awaitThat([&] { return numWaiting(event) == 1 && numWaiting(semaphore) == 1; });
    event.signal();
    semaphore.release();
    crew.join();
    EXPECT_EQ(drain(semaphore), 1);
  }
}

TEST_P(SelectSemaphoreTest, ServesTheNextWhereASelectHasGoneElsewhere) {
  for (Kind kind : kKinds) {
    const Semaphore semaphore(0);
    const Event event;
    Crew crew(scheduler());
    crew.start(kind, [&] { EXPECT_EQ(select(onAcquire(semaphore), onSignal(event)), 1u); });
    awaitThat([&] { return numWaiting(event) == 1 && numWaiting(semaphore) == 1; });
    crew.start(kind, [&] { semaphore.acquire(2); });
    awaitThat([&] { return numWaiting(semaphore) == 2; });
    event.signal();
    semaphore.release(2);
    crew.join();
    EXPECT_EQ(drain(semaphore), 0);
  }
}

TEST_P(SelectSemaphoreTest, GetsThePermitThatAWaiterForManyLeaves) {
  for (Kind kind : kKinds) {
    const Semaphore semaphore(1);
    std::stop_source stop;
    Crew crew(scheduler());
    crew.start(kind, [&] { EXPECT_FALSE(semaphore.acquire(2, stop.get_token())); });
    awaitThat([&] { return numWaiting(semaphore) == 1; });
    crew.start(kind, [&] { EXPECT_EQ(select(onAcquire(semaphore), onStop(std::stop_token())), 0u); });
    awaitThat([&] { return numWaiting(semaphore) == 2; });
    stop.request_stop();
    crew.join();
    EXPECT_EQ(drain(semaphore), 0);
  }
}

struct SelectAcquireGate : tests::SemaphoreGate {
  void wait() { EXPECT_EQ(select(onReceive(other, kIgnore), onAcquire(semaphore)), 1u); }
  bool wait(const std::stop_token& token) { return select(onAcquire(semaphore), onStop(token)) == 0; }
  template <class Duration>
  bool waitFor(const Duration& duration, const std::stop_token& token = {}) {
    return select(onAcquire(semaphore), onTimeout(duration), onStop(token)) == 0;
  }
  Channel<int> other{0, tests::heap()};
};

// Every second wait is an acquire().
struct MixedAcquireGate : SelectAcquireGate {
  void wait() { ++numWaits % 2 == 0 ? semaphore.acquire() : SelectAcquireGate::wait(); }
  std::atomic<int> numWaits{0};
};

struct ListAcquireGate : tests::SemaphoreGate {
  void wait() {
    std::vector<AnyCase> cases;
    cases.emplace_back(onAcquire(other));
    cases.emplace_back(onAcquire(semaphore));
    EXPECT_EQ(select(cases), 1u);
  }
  Semaphore other{0, tests::heap()};
};

TEST_P(SelectSemaphoreTest, WaitsInTheOrderOfAllWhoWait) {
  tests::expectFirstInFirstOut<SelectAcquireGate>(scheduler());
  tests::expectFirstInFirstOut<MixedAcquireGate>(scheduler());
  tests::expectFirstInFirstOut<ListAcquireGate>(scheduler());
}

TEST_P(SelectSemaphoreTest, TheSemaphoreMayBeDestroyedAsSoonAsItReturns) {
  tests::destroyAtOnce<SelectAcquireGate>(scheduler(), numWorkers(), 4);
}

TEST_P(SelectSemaphoreTest, AStopOrATimeEndsTheWait) {
  tests::expectStopEndsTheWait<SelectAcquireGate>(scheduler());
  tests::expectStopEndsAllWaits<SelectAcquireGate>(scheduler());
  tests::expectTimeEndsTheWait<SelectAcquireGate>(scheduler());
  tests::expectOneWinnerOfSignalStopAndTime<SelectAcquireGate>(scheduler(), scaled(300, 50));
  tests::destroyAsSoonAsStopped<SelectAcquireGate>(scheduler(), scaled(200, 50));
}

// Who holds a permit of each of two semaphores, counted against what there are.
struct Places {
  static constexpr int kPlaces = 2;

  // Returns: what takes note of a permit, lets others run, and gives it back.
  auto use(int which) {
    return [this, which](Permit permit) {
      const auto at = static_cast<size_t>(which);
      EXPECT_LE(++numInside[at], kPlaces);
      yield();
      --numInside[at];
      ++numTaken;
      permit.release();
    };
  }

  Semaphore semaphores[2] = {Semaphore(kPlaces, tests::heap()), Semaphore(kPlaces, tests::heap())};
  std::atomic<int> numInside[2] = {0, 0};
  std::atomic<int> numTaken{0};
};

TEST_P(SelectSemaphoreTest, ManySelectsTakeEachPermitOnceAndLoseNone) {
  constexpr int kSelects = 6;
  const int count = scaled(500, 100);
  Places places;
  const Channel<int> channel(1);
  std::atomic<int> sum{0};
  std::stop_source stopped;
  Crew crew(scheduler());
  for (int i = 0; i < kSelects; ++i) {
    crew.start(tests::kindOf(i), [&, i] {
      for (int k = 0; k < count; ++k) {
        const int first = (i + k) % 2;
        select(onAcquire(places.semaphores[first], places.use(first)), onSend(channel, 1, [&] { sum += 1; }),
               onTimeout(microseconds((k + i) % 20)),
               onAcquire(places.semaphores[1 - first], places.use(1 - first)),
               onReceive(channel, [&](std::optional<int> value) { sum -= *value; }));
      }
    });
    crew.start(tests::kindOf(i + 1), [&, i] {
      for (int k = 0; k < count; ++k) {
        const ptrdiff_t wanted = 1 + k % 2;
        places.semaphores[i % 2].acquire(wanted);
        yield();
        places.semaphores[i % 2].release(wanted);
      }
    });
  }
  crew.join();
  sum -= static_cast<int>(channel.size());
  EXPECT_EQ(sum, 0);
  EXPECT_GT(places.numTaken, 0);
  for (const Semaphore& each : places.semaphores) {
    EXPECT_EQ(numWaiting(each), 0);
    EXPECT_EQ(drain(each), Places::kPlaces);
  }
}

// No time ends these waits: who is passed over, or whose wake is lost, stays for ever.
TEST_P(SelectSemaphoreTest, NobodyIsLeftAsleepWhileAPermitIsThere) {
  constexpr int kSelects = 6;
  const int count = scaled(1'000, 200);
  const Semaphore left(0, tests::heap()), right(0, tests::heap());
  const Event never;
  std::atomic<int> numTaken{0};
  Crew crew(scheduler());
  for (int i = 0; i < kSelects; ++i) {
    crew.start(tests::kindOf(i), [&, i] {
      const std::stop_source source;
      const Semaphore& first = i % 2 == 0 ? left : right;
      const Semaphore& second = i % 2 == 0 ? right : left;
      for (int k = 0; k < count; ++k) {
        select(onAcquire(first), onSignal(never), onStop(source.get_token()), onAcquire(second));
        ++numTaken;
      }
    });
  }
  for (int k = 0; k < kSelects * count / 2; ++k) {
    left.release();
    right.release();
    if (k % 8 == 0) {
      awaitThat([&] { return numTaken >= 2 * k; });
    }
  }
  crew.join();
  EXPECT_EQ(numTaken, kSelects * count);
  EXPECT_EQ(drain(left) + drain(right), 0);
  EXPECT_EQ(numWaiting(left) + numWaiting(right) + numWaiting(never), 0);
}

class SelectSemaphoreDeathTest : public tests::DeathTest {};

TEST_F(SelectSemaphoreDeathTest, CasesThatCannotBeMade) {
  Semaphore semaphore(1);
  EXPECT_DEATH((void)onAcquire(semaphore, std::function<void()>()), "onAcquire\\(\\)");
  const Semaphore taken = std::move(semaphore);
  EXPECT_DEATH((void)onAcquire(semaphore), "a Semaphore");
}

}  // namespace select_semaphore_test
}  // namespace
}  // namespace weft
