// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/select.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "channels.h"
#include "stopping.h"

namespace weft {
namespace {

using std::chrono::microseconds;
using tests::awaitThat;
using tests::Crew;
using tests::Fragile;
using tests::Kind;
using tests::kKinds;
using tests::milliseconds;
using tests::numWaiting;
using tests::scaled;

using Mode = Event::Mode;

constexpr auto kIgnore = [](std::optional<int>) {};

class SelectTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(SelectTest);

class UnboundSelectTest : public tests::WithAllocator {};

TEST_F(UnboundSelectTest, TellsWhichCaseHappenedAndCallsItsHandlerAlone) {
  const Channel<int> empty(1), full(1);
  const Event event;
  full.send(7);
  int received = 0, others = 0;
  const auto other = [&] { ++others; };
  EXPECT_EQ(select(onSignal(event, other), onReceive(empty, [&](std::optional<int>) { other(); }),
                   onReceive(full, [&](std::optional<int> value) { received = *value; }),
                   onTimeout(std::chrono::hours(1), other)),
            2u);
  EXPECT_EQ(received, 7);
  EXPECT_EQ(select(onSend(empty, 8), onReceive(full, kIgnore)), 0u);
  EXPECT_EQ(empty.receive(), 8);
  event.signal();
  int signals = 0;
  EXPECT_EQ(select(onReceive(full, kIgnore), onSignal(event, [&] { ++signals; })), 1u);
  EXPECT_EQ(signals, 1);
  EXPECT_EQ(others, 0);
}

TEST_F(UnboundSelectTest, OtherwiseHappensIfNothingElseCan) {
  const Channel<int> channel(1);
  const Event event;
  bool isIdle = false;
  const auto look = [&] {
    return select(onReceive(channel, kIgnore), otherwise([&] { isIdle = true; }), onSignal(event));
  };
  EXPECT_EQ(look(), 1u);
  EXPECT_TRUE(isIdle);
  event.signal();
  EXPECT_EQ(look(), 2u);
  channel.send(1);
  EXPECT_EQ(look(), 0u);
  EXPECT_EQ(select(otherwise()), 0u);
  channel.send(1);
  EXPECT_EQ(select(onSend(channel, 2), otherwise()), 1u);
}

TEST_F(UnboundSelectTest, AClosedChannelHasNothingToReceiveAtOnce) {
  const Channel<int> channel(2);
  channel.send(1);
  channel.close();
  std::vector<std::optional<int>> received;
  for (int i = 0; i < 2; ++i) {
    select(onReceive(channel, [&](std::optional<int> value) { received.push_back(value); }));
  }
  EXPECT_EQ(received, (std::vector<std::optional<int>>{1, std::nullopt}));
}

TEST_F(UnboundSelectTest, SendingOnAClosedChannelThrows) {
  for (size_t capacity : {0, 1}) {
    const Channel<int> channel(capacity);
    channel.close();
    bool isCalled = false;
    EXPECT_THROW(select(onSend(channel, 1, [&] { isCalled = true; })), ChannelClosed);
    EXPECT_FALSE(isCalled);
  }
}

TEST_F(UnboundSelectTest, WhatIsNotChosenHasNoEffect) {
  for (int i = 0; i < 100; ++i) {
    const Channel<int> source(1), target(1);
    const Event automatic(Mode::Auto, true), manual(Mode::Manual, true);
    source.send(1);
    const size_t chosen =
        select(onReceive(source, kIgnore), onSend(target, 2), onSignal(automatic), onSignal(manual));
    EXPECT_EQ(source.size(), chosen == 0 ? 0u : 1u);
    EXPECT_EQ(target.size(), chosen == 1 ? 1u : 0u);
    EXPECT_EQ(automatic.isSignalled(), chosen != 2);
    EXPECT_TRUE(manual.isSignalled());
  }
}

TEST_F(UnboundSelectTest, AnRvalueIsMovedFromOnlyIfItIsSent) {
  const Channel<std::unique_ptr<int>> channel(1);
  const Channel<std::string> strings(1);
  auto first = std::make_unique<int>(1), second = std::make_unique<int>(2);
  EXPECT_EQ(select(onSend(channel, std::move(first))), 0u);
  EXPECT_EQ(first, nullptr);
  EXPECT_EQ(select(onSend(channel, std::move(second)), otherwise()), 1u);
  EXPECT_NE(second, nullptr);
  const std::string text = "text";
  EXPECT_EQ(select(onSend(strings, text)), 0u);
  EXPECT_EQ(text, "text");
  EXPECT_EQ(select(onReceive(strings, [](std::optional<std::string> value) { EXPECT_EQ(value, "text"); })),
            0u);
}

TEST_F(UnboundSelectTest, EachOfSeveralThatCanHappenDoes) {
  std::array<int, 4> numChosen{};
  const Channel<int> source(1), target(1);
  const Event event(Mode::Manual, true);
  std::stop_source stop;
  stop.request_stop();
  for (int i = 0; i < 400; ++i) {
    (void)source.trySend(1);
    (void)target.tryReceive();
    ++numChosen[select(onReceive(source, kIgnore), onSend(target, 1), onSignal(event),
                       onStop(stop.get_token()))];
  }
  for (int each : numChosen) {
    EXPECT_GT(each, 10);
  }
}

TEST_F(UnboundSelectTest, TheEarliestTimeoutEndsTheWait) {
  const Channel<int> channel;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(select(onTimeout(std::chrono::hours(1)), onReceive(channel, kIgnore), onTimeout(milliseconds(2)),
                   onTimeout(begin + std::chrono::hours(1))),
            2u);
  EXPECT_GE(std::chrono::steady_clock::now(), begin + milliseconds(2));
  EXPECT_EQ(select(onTimeout(milliseconds(-1)), onReceive(channel, kIgnore)), 0u);
  EXPECT_EQ(select(onTimeout(tests::kThreeHundredYears), onTimeout(milliseconds(1))), 1u);
  using Hours = std::chrono::time_point<std::chrono::steady_clock, std::chrono::hours>;
  EXPECT_EQ(select(onTimeout(Hours::max()), onTimeout(std::chrono::hours(1)), onTimeout(Hours::min())), 2u);
  EXPECT_EQ(numWaiting(channel), 0);
}

TEST_F(UnboundSelectTest, AStopThatWasRequestedBeforeEndsIt) {
  const Channel<int> channel;
  std::stop_source source;
  source.request_stop();
  bool isStopped = false;
  EXPECT_EQ(select(onReceive(channel, kIgnore), onStop(source.get_token(), [&] { isStopped = true; })), 1u);
  EXPECT_TRUE(isStopped);
  EXPECT_EQ(select(onReceive(channel, kIgnore), onStop(std::stop_token()), onTimeout(milliseconds(1))), 2u);
}

TEST_F(UnboundSelectTest, DoesNotServeItself) {
  for (size_t capacity : {0, 1}) {
    const Channel<int> channel(capacity);
    if (capacity == 0) {
      EXPECT_EQ(select(onSend(channel, 1), onReceive(channel, kIgnore), onTimeout(milliseconds(1))), 2u);
    } else {
      EXPECT_EQ(select(onSend(channel, 1), onReceive(channel, kIgnore)), 0u);
      EXPECT_EQ(select(onSend(channel, 1), onReceive(channel, kIgnore)), 1u);
    }
    EXPECT_EQ(numWaiting(channel), 0);
  }
}

TEST_F(UnboundSelectTest, WhatTheHandlerThrowsLeavesIt) {
  const Channel<int> channel(1);
  channel.send(1);
  EXPECT_THROW(select(onReceive(channel, [](std::optional<int>) { throw std::runtime_error("handler"); })),
               std::runtime_error);
  EXPECT_FALSE(channel.tryReceive());
}

TEST_P(SelectTest, EachKindOfCaseEndsTheWait) {
  tests::expectEachKindOfCaseEndsTheWait(scheduler(), [](const tests::SelectScene& scene) {
    return [&scene, closed = scene.closed]() mutable {
      const size_t chosen =
          select(onReceive(scene.in, kIgnore), onSend(scene.out, 5), onSignal(scene.automatic),
                 onSignal(scene.manual), onReceive(closed, kIgnore), onStop(scene.stop.get_token()),
                 onTimeout(std::chrono::hours(1)));
      if (chosen == 4) {
        closed = Channel<int>();
      }
      return chosen;
    };
  });
}

TEST_P(SelectTest, ASignalThatComesTooLateForItStays) {
  for (Kind kind : kKinds) {
    const Event first, second;
    Crew crew(scheduler());
    crew.start(kind, [=] { EXPECT_EQ(select(onSignal(first), onSignal(second)), 0u); });
    awaitThat([&] { return numWaiting(first) == 1; });
    first.signal();
    second.signal();
    crew.join();
    EXPECT_FALSE(first.isSignalled());
    EXPECT_TRUE(second.isSignalled());
  }
}

TEST_P(SelectTest, AManualEventWakesSelectsAndPlainWaiters) {
  constexpr int kWaiters = 12;
  const Event event(Mode::Manual), other;
  Crew crew(scheduler());
  for (int i = 0; i < kWaiters; ++i) {
    crew.start(tests::kindOf(i), [=] {
      if (i % 2 == 0) {
        EXPECT_LT(select(onSignal(event), onSignal(event), onSignal(other)), 2u);
      } else {
        event.wait();
      }
    });
  }
  awaitThat([&] { return numWaiting(event) == kWaiters / 2 * 3; });
  event.signal();
  crew.join();
  EXPECT_EQ(numWaiting(event) + numWaiting(other), 0);
}

TEST_P(SelectTest, ServesTheNextWhereASelectHasGoneElsewhere) {
  for (Kind kind : kKinds) {
    const Channel<int> channel;
    const Event event;
    Crew crew(scheduler());
    crew.start(kind, [=] { EXPECT_EQ(select(onReceive(channel, kIgnore), onSignal(event)), 1u); });
    awaitThat([&] { return numWaiting(channel) == 1; });
    crew.start(kind, [=] { EXPECT_EQ(channel.receive(), 1); });
    awaitThat([&] { return numWaiting(channel) == 2; });
    event.signal();
    channel.send(1);
  }
}

struct SelectReceiveGate : tests::ReceiveGate {
  void wait() { EXPECT_EQ(select(onReceive(other, kIgnore), onReceive(channel, kIgnore)), 1u); }
  Channel<int> other{0, tests::heap()};
};
struct SelectSendGate : tests::SendGate {
  void wait() { EXPECT_EQ(select(onReceive(other, kIgnore), onSend(channel, 1)), 1u); }
  Channel<int> other{0, tests::heap()};
};
struct SelectSignalGate : tests::AutoEventGate {
  void wait() { EXPECT_EQ(select(onReceive(other, kIgnore), onSignal(event)), 1u); }
  bool wait(const std::stop_token& token) { return select(onSignal(event), onStop(token)) == 0; }
  template <class Duration>
  bool waitFor(const Duration& duration, const std::stop_token& token = {}) {
    return select(onSignal(event), onTimeout(duration), onStop(token)) == 0;
  }
  Channel<int> other{0, tests::heap()};
};
struct SelectRendezvousGate : tests::RendezvousGate {
  void wait() { EXPECT_EQ(select(onReceive(channel, kIgnore), onReceive(other, kIgnore)), 0u); }
  Channel<int> other{0, tests::heap()};
};

TEST_P(SelectTest, WaitsInTheOrderOfAllWhoWait) {
  tests::expectFirstInFirstOut<SelectReceiveGate>(scheduler());
  tests::expectFirstInFirstOut<SelectSendGate>(scheduler());
  tests::expectFirstInFirstOut<SelectSignalGate>(scheduler());
}

TEST_P(SelectTest, WhatItWaitedForMayBeDestroyedAsSoonAsItReturns) {
  tests::destroyAtOnce<SelectReceiveGate>(scheduler(), numWorkers(), 4);
  tests::destroyAtOnce<SelectSendGate>(scheduler(), numWorkers(), 4);
  tests::destroyAtOnce<SelectSignalGate>(scheduler(), numWorkers(), 4);
  tests::destroyAtOnce<SelectRendezvousGate>(scheduler(), numWorkers(), 4);
}

TEST_P(SelectTest, AStopEndsTheWait) {
  tests::expectStopEndsTheWait<SelectSignalGate>(scheduler());
  tests::expectStopEndsAllWaits<SelectSignalGate>(scheduler());
  tests::expectTimeEndsTheWait<SelectSignalGate>(scheduler());
  tests::expectOneWinnerOfSignalStopAndTime<SelectSignalGate>(scheduler(), scaled(300, 50));
  tests::destroyAsSoonAsStopped<SelectSignalGate>(scheduler(), scaled(200, 50));
}

// Each of two can send to the other and receive from it: one of the two things happens, to both.
TEST_P(SelectTest, TwoThatFaceEachOtherAlwaysMeet) {
  const int rounds = scaled(2'000, 300);
  for (size_t capacity : {0, 1}) {
    for (Kind kind : kKinds) {
      const Channel<int> there(capacity), back(capacity);
      std::atomic<int64_t> balance{0};
      const auto face = [=, &balance](const Channel<int>& mine, const Channel<int>& theirs) {
        for (int i = 1; i <= rounds; ++i) {
          select(onSend(theirs, i, [&] { balance += i; }),
                 onReceive(mine, [&](std::optional<int> value) { balance -= *value; }));
        }
      };
      Crew crew(scheduler());
      crew.start(kind, [=] { face(there, back); });
      crew.start(Kind::Task, [=] { face(back, there); });
      crew.join();
      for (const Channel<int>& each : {there, back}) {
        while (const auto left = each.tryReceive()) {
          balance -= *left;
        }
        EXPECT_EQ(numWaiting(each), 0);
      }
      EXPECT_EQ(balance, 0);
    }
  }
}

TEST_P(SelectTest, ManySelectsOnTheSameChannelsLoseNothingAndDoubleNothing) {
  constexpr int kEach = 4;
  const int count = scaled(1'000, 150);
  for (size_t capacity : {0, 1, 8}) {
    const Channel<int> left(capacity, tests::heap()), right(capacity, tests::heap());
    const Event stir;
    std::atomic<int64_t> sent{0}, received{0};
    std::atomic<int> numReceived{0};
    WaitGroup senders(kEach);
    Crew crew(scheduler());
    for (int i = 0; i < kEach; ++i) {
      crew.start(tests::kindOf(i), [&, senders, i] {
        for (int k = 1; k <= count;) {
          const auto done = [&] { sent += k++; };
          select(onSend(left, k, done), onSignal(stir), onSend(right, k, done),
                 onTimeout(microseconds(k % (50 + i))));
          stir.signal();
        }
        senders.done();
      });
      crew.start(tests::kindOf(i + 1), [&] {
        for (bool isOver = false; !isOver;) {
          const auto take = [&](std::optional<int> value) {
            received += value.value_or(0);
            numReceived += value ? 1 : 0;
            isOver = !value;
          };
          select(onReceive(right, take), onReceive(left, take), onSignal(stir));
        }
      });
    }
    senders.wait();
    left.close();
    right.close();
    crew.join();
    for (const Channel<int>& each : {left, right}) {
      for (const int value : each) {
        received += value;
        ++numReceived;
      }
    }
    EXPECT_EQ(sent, received);
    EXPECT_EQ(numReceived, kEach * count);
  }
}

// Whoever waits is told of each signal once: by its select, or it finds the signal later.
TEST_P(SelectTest, TimeoutAgainstSignalHasOneWinner) {
  const int rounds = scaled(1'000, 200);
  for (Kind kind : kKinds) {
    const Event event, next;
    Crew crew(scheduler());
    crew.start(kind, [=] {
      const Channel<int> never;
      for (int i = 0; i < rounds; ++i) {
        if (select(onSignal(event), onReceive(never, kIgnore), onTimeout(microseconds(i % 50))) == 2) {
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

TEST_P(SelectTest, AMoveThatThrowsReachesTheOtherSideAndTheSelectWaitsOn) {
  for (Kind kind : kKinds) {
    const Channel<Fragile> channel, other;
    Crew crew(scheduler());
    crew.start(kind, [=] {
      EXPECT_EQ(select(onReceive(other, [](std::optional<Fragile>) {}),
                       onReceive(channel, [](std::optional<Fragile> value) { EXPECT_EQ(value->value, 2); })),
                1u);
    });
    awaitThat([&] { return numWaiting(channel) == 1; });
    Fragile::movesUntilThrow = 1;
    EXPECT_THROW(channel.send(Fragile(1)), std::runtime_error);
    channel.send(Fragile(2));
    crew.join();
    EXPECT_EQ(numWaiting(channel) + numWaiting(other), 0);
  }
  EXPECT_EQ(Fragile::numAlive, 0);
}

TEST_P(SelectTest, CloseWakesSelectsOfBothSides) {
  for (Kind kind : kKinds) {
    const Channel<int> channel, other;
    Crew crew(scheduler());
    crew.start(kind, [=] {
      EXPECT_EQ(select(onReceive(other, kIgnore),
                       onReceive(channel, [](std::optional<int> value) { EXPECT_FALSE(value); })),
                1u);
    });
    awaitThat([&] { return numWaiting(channel) == 1; });
    channel.close();
    crew.join();
    const Channel<int> full(1);
    full.send(1);
    crew.start(kind,
               [=] { EXPECT_THROW(select(onReceive(other, kIgnore), onSend(full, 2)), ChannelClosed); });
    awaitThat([&] { return numWaiting(full) == 1; });
    full.close();
    crew.join();
    EXPECT_EQ(numWaiting(other), 0);
  }
}

// The example in select.h.
TEST_P(SelectTest, TheExampleInTheHeaderWorks) {
  using Job = int;
  const Channel<Job> jobs(8);
  const Channel<int> results(8);
  const Event paused, resume;
  std::stop_source source;
  const std::stop_token token = source.get_token();
  const auto run = [&](Job job) { return job < 3; };
  int result = 1;
  const auto next = [&] { return result + 1; };
  bool isOver = false;
  const Semaphore places(2);
  std::vector<Semaphore::Permit> started;
  const auto start = [&](Semaphore::Permit place) { started.push_back(std::move(place)); };
  paused.signal();
  resume.signal();
  for (const int job : {1, 2, 3}) {
    jobs.send(job);
  }
  while (!isOver) {
    (void)results.tryReceive();
    weft::select(weft::onReceive(jobs, [&](std::optional<Job> job) { isOver = !job || !run(*job); }),
                 weft::onSend(results, std::move(result), [&] { result = next(); }),
                 weft::onSignal(paused, [&] { resume.wait(); }),
                 weft::onAcquire(places, [&](weft::Semaphore::Permit place) { start(std::move(place)); }),
                 weft::onTimeout(std::chrono::milliseconds(50), [] { std::puts("idle"); }),
                 weft::onStop(token, [&] { isOver = true; }));
  }
  EXPECT_EQ(jobs.size(), 0u);
}

class SelectDeathTest : public tests::DeathTest {};

TEST_F(SelectDeathTest, TwoStops) {
  const Channel<int> channel;
  std::stop_source source;
  EXPECT_DEATH(select(onReceive(channel, kIgnore), onStop(source.get_token()), onStop(source.get_token())),
               "select\\(\\) was given more than one onStop");
}

}  // namespace
}  // namespace weft
