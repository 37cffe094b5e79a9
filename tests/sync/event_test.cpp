// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/event.h>

#include <atomic>
#include <chrono>
#include <list>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <weft/detail/base/node_pool.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "count_mallocs.h"
#include "waiting.h"

namespace weft::event_test {
namespace {

using std::chrono::nanoseconds;
using tests::awaitThat;
using tests::Crew;
using tests::Kind;
using tests::kKinds;
using tests::milliseconds;
using tests::numWaiting;
using tests::scaled;

using Mode = Event::Mode;

class EventTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(EventTest);

class UnboundEventTest : public tests::WithAllocator {};

TEST_F(UnboundEventTest, BeginsAsToldTo) {
  EXPECT_FALSE(Event().isSignalled());
  EXPECT_FALSE(Event(Mode::Manual).isSignalled());
  EXPECT_FALSE(Event(Mode::Auto, false, allocator()).isSignalled());
  EXPECT_TRUE(Event(Mode::Auto, true, allocator()).isSignalled());
  EXPECT_TRUE(Event(Mode::Manual, true).isSignalled());
}

TEST_F(UnboundEventTest, AutoSignalIsUsedUpByOneWait) {
  const Event event(Mode::Auto, false, allocator());
  event.signal();
  EXPECT_TRUE(event.isSignalled());
  event.wait();
  EXPECT_FALSE(event.isSignalled());
  EXPECT_FALSE(event.wait_for(milliseconds(1)));
}

TEST_F(UnboundEventTest, ManualSignalStaysUntilClear) {
  const Event event(Mode::Manual, false, allocator());
  event.signal();
  event.wait();
  event.wait();
  EXPECT_TRUE(event.test());
  EXPECT_TRUE(event.isSignalled());
  event.clear();
  EXPECT_FALSE(event.test());
  EXPECT_FALSE(event.wait_for(nanoseconds(1)));
}

TEST_F(UnboundEventTest, SignallingTwiceIsSignallingOnce) {
  const Event event;
  event.signal();
  event.signal();
  EXPECT_TRUE(event.test());
  EXPECT_FALSE(event.test());
}

TEST_F(UnboundEventTest, TestUsesAnAutoSignalUpAndIsSignalledDoesNot) {
  const Event event(Mode::Auto, true);
  EXPECT_TRUE(event.isSignalled());
  EXPECT_TRUE(event.isSignalled());
  EXPECT_TRUE(event.test());
  EXPECT_FALSE(event.isSignalled());
  EXPECT_FALSE(event.test());
}

TEST_F(UnboundEventTest, ClearTakesAnAutoSignalBack) {
  const Event event(Mode::Auto, true);
  event.clear();
  EXPECT_FALSE(event.test());
  event.signal();
  EXPECT_TRUE(event.test());
}

TEST_F(UnboundEventTest, CopiesAreOneEventAndMovesKeepIt) {
  Event event(Mode::Manual, false, allocator());
  Event copy = event;
  Event moved = std::move(event);
  copy.signal();
  EXPECT_TRUE(moved.isSignalled());
  event = moved;
  EXPECT_TRUE(event.isSignalled());
  event = Event();
  EXPECT_FALSE(event.isSignalled());
  EXPECT_TRUE(copy.isSignalled());
}

TEST_P(EventTest, SignalWakesAWaiterOfEachKind) {
  for (Mode mode : {Mode::Auto, Mode::Manual}) {
    for (Kind kind : kKinds) {
      Event event(mode);
      Crew crew(scheduler());
      crew.start(kind, [&] { event.wait(); });
      awaitThat([&] { return numWaiting(event) == 1; });
      event.signal();
      crew.join();
      EXPECT_EQ(event.isSignalled(), mode == Mode::Manual);
    }
  }
}

TEST_P(EventTest, SignalBeforeTheWaitIsNotLost) {
  Event there, back;
  schedule([=] {
    there.wait();
    back.signal();
  });
  there.signal();
  back.wait();
}

TEST_P(EventTest, ManualSignalWakesAllThatWait) {
  constexpr int kWaiters = 30;
  Event event(Mode::Manual);
  Crew crew(scheduler());
  for (int i = 0; i < kWaiters; ++i) {
    crew.start(tests::kindOf(i), [&] { event.wait(); });
  }
  awaitThat([&] { return numWaiting(event) == kWaiters; });
  event.signal();
  crew.join();
  EXPECT_TRUE(event.isSignalled());
}

TEST_P(EventTest, AutoSignalsWakeFirstInFirstOut) {
  tests::expectFirstInFirstOut<tests::AutoEventGate>(scheduler());
}

// On several workers those that were woken race.
class EventOnOneThreadTest : public tests::WithScheduler {};
INSTANTIATE_TEST_SUITE_P(Workers, EventOnOneThreadTest, ::testing::Values(0, 1));

TEST_P(EventOnOneThreadTest, ManualSignalWakesFirstInFirstOut) {
  const Event event(Mode::Manual);
  tests::expectAllWokenFirstInFirstOut([&] { event.wait(); }, [&] { return numWaiting(event); },
                                       [&] { event.signal(); });
}

TEST_P(EventTest, TwoSignalsWakeTwoWaiters) {
  for (Kind first : kKinds) {
    for (Kind second : kKinds) {
      tests::expectTwoWakesWakeTwo<tests::AutoEventGate>(scheduler(), first, second);
    }
  }
}

TEST_P(EventTest, SignalIsHandedToTheWaiterSoThatNobodyElseCanUseIt) {
  Event event;
  Crew crew(scheduler());
  crew.start(Kind::FreeThread, [&] { event.wait(); });
  awaitThat([&] { return numWaiting(event) == 1; });
  event.signal();
  EXPECT_FALSE(event.test());
}

TEST_P(EventTest, WaitThatTimesOutLeavesNothingBehindAndUsesNoSignal) {
  for (Kind kind : kKinds) {
    Event event;
    Crew crew(scheduler());
    crew.start(kind, [&] {
      EXPECT_FALSE(event.wait_for(milliseconds(1)));
      EXPECT_EQ(numWaiting(event), 0);
      event.signal();
      EXPECT_TRUE(event.wait_for(milliseconds(1)));
      EXPECT_FALSE(event.wait_for(milliseconds(-1)));
      EXPECT_FALSE(event.wait_until(std::chrono::system_clock::now() - std::chrono::hours(1)));
    });
  }
}

TEST_P(EventTest, TimedWaitEndsWithTheSignal) {
  for (Kind kind : kKinds) {
    Event event;
    Crew crew(scheduler());
    std::atomic<int> numSignalled{0};
    crew.start(kind, [&] { numSignalled += event.wait_for(std::chrono::hours(1)); });
    crew.start(kind, [&] {
      numSignalled += event.wait_until(std::chrono::system_clock::now() + std::chrono::hours(1));
    });
    crew.start(kind, [&] {
      numSignalled += event.wait_until(std::chrono::steady_clock::now() + std::chrono::hours(1));
    });
    awaitThat([&] { return numWaiting(event) == 3; });
    for (int i = 0; i < 3; ++i) {
      event.signal();
    }
    crew.join();
    EXPECT_EQ(numSignalled, 3);
  }
}

// Whoever waits is told of each signal once: by its timed wait, or it finds the signal later.
TEST_P(EventTest, TimeoutAgainstSignalHasOneWinner) {
  const int rounds = scaled(2'000, 300);
  for (Kind kind : kKinds) {
    Event event, next;
    Crew crew(scheduler());
    crew.start(kind, [&] {
      for (int i = 0; i < rounds; ++i) {
        if (!event.wait_for(nanoseconds(i % 50 * 1'000))) {
          event.wait();
        }
        EXPECT_FALSE(event.isSignalled());
        next.signal();
      }
    });
    for (int i = 0; i < rounds; ++i) {
      event.signal();
      next.wait();
    }
  }
}

TEST_P(EventTest, HandlesInTasksOutliveTheFrameThatMadeThem) {
  Event last;
  {
    Event first(Mode::Auto, false, allocator()), second(Mode::Manual, false, allocator());
    schedule([=] {
      first.wait();
      second.signal();
    });
    schedule([=] {
      second.wait();
      last.signal();
    });
    first.signal();
  }
  last.wait();
}

TEST_P(EventTest, AutoMayBeDestroyedAsSoonAsWaitReturns) {
  tests::destroyAtOnce<tests::AutoEventGate>(scheduler(), numWorkers());
}
TEST_P(EventTest, ManualMayBeDestroyedAsSoonAsWaitReturns) {
  tests::destroyAtOnce<tests::ManualEventGate>(scheduler(), numWorkers());
}
TEST_P(EventTest, PooledMayBeDestroyedAsSoonAsWaitReturns) {
  tests::destroyAtOnce<tests::PooledEventGate>(scheduler(), numWorkers());
}

TEST_P(EventTest, AnyIsSignalledByEachOfItsSources) {
  for (size_t i = 0; i < 3; ++i) {
    const std::vector<Event> sources = {Event(Mode::Auto), Event(Mode::Manual), Event(Mode::Auto)};
    const Event any = Event::any(sources.begin(), sources.end());
    EXPECT_FALSE(any.isSignalled());
    schedule([=] { sources[i].signal(); });
    any.wait();
    EXPECT_FALSE(any.isSignalled());
    EXPECT_TRUE(sources[i].isSignalled());
  }
}

TEST_P(EventTest, AnyWakesWaitersOfEachKind) {
  for (Kind kind : kKinds) {
    std::list<Event> sources(5);
    Event any = Event::any(Mode::Manual, sources.begin(), sources.end());
    Crew crew(scheduler());
    crew.start(kind, [=] { any.wait(); });
    awaitThat([&] { return numWaiting(any) == 1; });
    crew.start(kind, [=] { sources.back().signal(); });
  }
}

TEST_F(UnboundEventTest, AnyIsSignalledWhereASourceIsAlready) {
  const Event sources[] = {Event(Mode::Manual), Event(Mode::Manual, true)};
  EXPECT_TRUE(Event::any(std::begin(sources), std::end(sources)).test());
  EXPECT_TRUE(sources[1].isSignalled());
}

TEST_F(UnboundEventTest, ASourceThatIsGivenTwiceSignalsOnce) {
  const Event twice, other;
  const Event sources[] = {twice, other, twice, other, twice};
  const Event any = Event::any(std::begin(sources), std::end(sources));
  std::thread first([=] { any.wait(); }), second([=] { any.wait(); });
  awaitThat([&] { return numWaiting(any) == 2; });
  twice.signal();
  EXPECT_EQ(numWaiting(any), 1);
  other.signal();
  EXPECT_EQ(numWaiting(any), 0);
  EXPECT_FALSE(any.isSignalled());
  first.join();
  second.join();
}

TEST_F(UnboundEventTest, AnyOfNothingIsNeverSignalled) {
  const std::vector<Event> none;
  EXPECT_FALSE(Event::any(none.begin(), none.end()).wait_for(milliseconds(1)));
}

TEST_F(UnboundEventTest, AnyUsesUpNoSignalOfASource) {
  std::vector<Event> sources(2);
  const Event any = Event::any(sources.begin(), sources.end());
  sources[0].signal();
  EXPECT_TRUE(any.test());
  EXPECT_FALSE(any.test());
  EXPECT_TRUE(sources[0].test());
  sources[0].signal();
  EXPECT_TRUE(any.test());
}

TEST_F(UnboundEventTest, ManualAnyStaysSignalledUntilItIsCleared) {
  std::vector<Event> sources(2);
  const Event any = Event::any(Mode::Manual, sources.begin(), sources.end());
  sources[1].signal();
  EXPECT_TRUE(any.test());
  EXPECT_TRUE(any.test());
  any.clear();
  EXPECT_FALSE(any.test());
  EXPECT_TRUE(sources[1].isSignalled());
}

TEST_F(UnboundEventTest, AnyMayOutliveTheHandlesOfItsSources) {
  std::optional<Event> any;
  std::optional<Event> kept;
  {
    std::vector<Event> sources = {Event(Mode::Auto, false, allocator()),
                                  Event(Mode::Manual, false, allocator())};
    kept = sources[0];
    any = Event::any(sources.begin(), sources.end());
  }
  EXPECT_FALSE(any->test());
  kept->signal();
  EXPECT_TRUE(any->test());
  any.reset();
  kept->clear();
  kept->signal();
  EXPECT_TRUE(kept->test());
}

TEST_F(UnboundEventTest, SourcesForgetAnAnyThatIsGone) {
  const Event source(Mode::Auto, false, allocator());
  const Event* one = &source;
  Event survivor = Event::any(one, one + 1);
  {
    const Event gone = Event::any(one, one + 1);
  }
  const Event later = Event::any(one, one + 1);
  survivor = Event();
  source.signal();
  EXPECT_TRUE(later.test());
}

TEST_F(UnboundEventTest, AnyOfAnyPassesSignalsOn) {
  std::vector<Event> sources(4);
  Event pairs[] = {Event::any(sources.begin(), sources.begin() + 2),
                   Event::any(sources.begin() + 2, sources.end())};
  const Event all = Event::any(std::begin(pairs), std::end(pairs));
  sources[3].signal();
  EXPECT_TRUE(all.test());
  EXPECT_FALSE(pairs[0].isSignalled());
  EXPECT_TRUE(pairs[1].isSignalled());
}

// Neither a signal nor the end may take stack for each of them.
TEST_F(UnboundEventTest, AnyMayBeMadeOfAnyInALongRow) {
  const Event first;
  Event last = first;
  for (int i = 0; i < scaled(300'000, 30'000); ++i) {
    last = Event::any(&last, &last + 1);
  }
  first.signal();
  EXPECT_TRUE(last.test());
}

// Memory that runs out must not end a signal halfway, with some woken and others not.
TEST_F(UnboundEventTest, ASignalThatIsPassedOnCallsNoMallocInTheSteadyState) {
  if (!tests::kCountsMallocs) {
    GTEST_SKIP() << "not counted";
  }
  Event source;
  std::vector<Event> anys;
  for (int i = 0; i < 200; ++i) {
    const Event from = i % 3 == 2 ? anys.back() : source;
    anys.push_back(Event::any(&from, &from + 1));
  }
  uint64_t before = 0;
  for (int round = 0; round < 3; ++round) {
    before = round == 2 ? tests::numMallocs() : 0;
    source.signal();
    for (const Event& any : anys) {
      ASSERT_TRUE(any.test());
    }
    ASSERT_TRUE(source.test());
  }
  EXPECT_EQ(tests::numMallocs(), before);
}

TEST_F(UnboundEventTest, AMillionAnyOnOneEventLeaveNothingBehind) {
  const Event source;
  const auto make = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const Event any = Event::any(&source, &source + 1);
      if (i % 1'000 == 0) {
        source.signal();
        EXPECT_TRUE(any.test());
        source.clear();
      }
    }
  };
  make(1'000);
  const size_t chunks = detail::numNodeChunks();
  make(scaled(1'000'000, 100'000));
  EXPECT_EQ(detail::numNodeChunks(), chunks);
}

// Sources are signalled, any-events made and dropped, by several at once; the last handles go on any of the
// threads.
TEST_P(EventTest, AnyMayBeMadeAndDroppedWhileItsSourcesAreSignalled) {
  const int rounds = scaled(3'000, 500);
  std::vector<Event> sources = {Event(Mode::Auto, false, tests::heap()),
                                Event(Mode::Manual, false, tests::heap())};
  Crew crew(scheduler());
  for (Kind kind : kKinds) {
    crew.start(kind, [=] {
      for (int i = 0; i < rounds; ++i) {
        const Event any = Event::any(sources.begin(), sources.end());
        any.wait_for(nanoseconds(i % 3));
        sources[static_cast<size_t>(i % 2)].clear();
      }
    });
    crew.start(kind, [=] {
      for (int i = 0; i < rounds; ++i) {
        sources[static_cast<size_t>(i % 2)].signal();
        sources[static_cast<size_t>(i % 2)].test();
      }
    });
  }
}

TEST_P(EventTest, AnyMayBeDestroyedAsSoonAsWaitReturns) {
  struct AnyGate {
    void wait() { any->wait(); }
    void wakeOne() { sources[1].signal(); }
    std::vector<Event> sources = {Event(Mode::Auto, false, tests::heap()),
                                  Event(Mode::Auto, false, tests::heap())};
    std::optional<Event> any = Event::any(sources.begin(), sources.end());
  };
  tests::destroyAsSoonAsWaitReturns<AnyGate>(scheduler(), Kind::Task, scaled(2'000, 500));
}

TEST(EventDeathTest, DestroyedWhileSomebodyWaits) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto* event = new Event();
        std::thread waiter([&] { event->wait(); });
        awaitThat([&] { return numWaiting(*event) == 1; });
        delete event;
      },
      "Event was destroyed while somebody waits for it");
}

}  // namespace
}  // namespace weft::event_test
