// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/select.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "channels.h"
#include "count_mallocs.h"
#include "live_objects.h"
#include "stopping.h"

namespace weft {
namespace {
namespace select_list_test {

using tests::awaitThat;
using tests::Crew;
using tests::Kind;
using tests::kKinds;
using tests::LiveObject;
using tests::milliseconds;
using tests::numWaiting;
using tests::scaled;

using Cases = std::vector<AnyCase>;
using Mode = Event::Mode;

constexpr auto kIgnore = [](std::optional<int>) {};

static_assert(std::is_nothrow_move_constructible_v<AnyCase> && !std::is_copy_constructible_v<AnyCase>);

class SelectListTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(SelectListTest);

class UnboundSelectListTest : public tests::WithAllocator {};

TEST_F(UnboundSelectListTest, TellsWhichCaseHappenedAndCallsItsHandlerAlone) {
  const Channel<int> empty(1), full(1), target(1);
  const Event event;
  std::stop_source source;
  std::string called;
  Cases cases;
  cases.push_back(onReceive(empty, [&](std::optional<int>) { called += "empty"; }));
  cases.push_back(onSignal(event, [&] { called += "event"; }));
  cases.push_back(onReceive(full, [&](std::optional<int> value) { called += std::to_string(*value); }));
  cases.push_back(onTimeout(std::chrono::hours(1), [&] { called += "timeout"; }));
  cases.push_back(onStop(source.get_token(), [&] { called += "stop"; }));
  cases.push_back(otherwise([&] { called += "otherwise"; }));
  EXPECT_EQ(select(cases), 5u);
  full.send(7);
  EXPECT_EQ(select(cases), 2u);
  event.signal();
  EXPECT_EQ(select(cases), 1u);
  empty.send(1);
  EXPECT_EQ(select(cases), 0u);
  source.request_stop();
  EXPECT_EQ(select(cases), 4u);
  cases[4] = onTimeout(milliseconds(-1), [&] { called += "now"; });
  EXPECT_EQ(select(cases), 4u);
  cases[4] = onSend(target, 8, [&] { called += "sent"; });
  EXPECT_EQ(select(cases), 4u);
  EXPECT_EQ(target.tryReceive(), 8);
  EXPECT_EQ(called, "otherwise7eventemptystopnowsent");
}

TEST_F(UnboundSelectListTest, TakesListsOfSeveralKinds) {
  const Event event(Mode::Manual, true), never;
  std::array<AnyCase, 2> inArray = {onSignal(never), onSignal(event)};
  EXPECT_EQ(select(inArray), 1u);
  AnyCase plain[] = {onSignal(event), onSignal(never)};
  EXPECT_EQ(select(plain), 0u);
  Cases cases;
  cases.push_back(onSignal(event));
  EXPECT_EQ(select(std::move(cases)), 0u);
}

// Of an onStop() also the token is a temporary.
TEST_F(UnboundSelectListTest, ACaseKeepsWhatItUses) {
  Cases cases;
  {
    std::stop_source source;
    const Channel<LiveObject> channel(1), full(1);
    channel.send(LiveObject(5));
    cases.push_back(onReceive(channel, [](std::optional<LiveObject> value) { EXPECT_EQ(value->value, 5); }));
    cases.push_back(onSignal(Event(Mode::Auto, true)));
    cases.push_back(onStop(source.get_token()));
    cases.push_back(onSend(Channel<LiveObject>(1), LiveObject(3)));
    source.request_stop();
  }
  std::array<int, 4> numChosen{};
  for (int i = 0; i < 400 && cases.size() == 4; ++i) {
    const size_t chosen = select(cases);
    ++numChosen[chosen];
    if (chosen != 2) {
      cases[chosen] = onSignal(Event(Mode::Auto, false));  // as it was used up
    }
  }
  EXPECT_EQ(numChosen, (std::array<int, 4>{1, 1, 397, 1}));
  cases.clear();
  EXPECT_EQ(LiveObject::numAlive, 0);
}

TEST_F(UnboundSelectListTest, AValueThatIsNotSentStaysInItsCase) {
  const Channel<std::unique_ptr<int>> channel(1);
  const Channel<std::string> strings(1);
  const std::string text(100, 'x');
  Cases cases;
  auto number = std::make_unique<int>(7);
  cases.push_back(onSend(channel, std::move(number)));
  EXPECT_EQ(number, nullptr);
  cases.push_back(onSend(strings, text));
  cases.push_back(otherwise());
  channel.send(nullptr);
  strings.send("");
  EXPECT_EQ(select(cases), 2u);
  EXPECT_EQ(channel.receive(), nullptr);
  EXPECT_EQ(select(cases), 0u);
  EXPECT_EQ(**channel.receive(), 7);
  cases.erase(cases.begin());
  EXPECT_EQ(strings.receive(), "");
  EXPECT_EQ(select(cases), 0u);
  EXPECT_EQ(strings.receive(), text);
}

TEST_F(UnboundSelectListTest, ANextReceiveSeesNothingOfTheOneBefore) {
  const Channel<LiveObject> channel(2);
  std::vector<int> received;
  Cases cases;
  cases.push_back(onReceive(
      channel, [&](std::optional<LiveObject>&& value) { received.push_back(value ? value->value : -1); }));
  channel.send(LiveObject(1));
  channel.close();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(select(cases), 0u);
    EXPECT_EQ(LiveObject::numAlive, 0);
  }
  EXPECT_EQ(received, (std::vector<int>{1, -1, -1}));
}

TEST_F(UnboundSelectListTest, SendingOnAClosedChannelThrowsEachTime) {
  const Channel<int> channel(1);
  channel.close();
  Cases cases;
  cases.push_back(onSend(channel, 1, [] { ADD_FAILURE() << "called"; }));
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(select(cases), ChannelClosed);
  }
}

TEST_F(UnboundSelectListTest, AHandlerMayChangeTheListOrUseIt) {
  const Event event(Mode::Manual, true), automatic(Mode::Auto, true);
  Cases cases;
  auto number = std::make_unique<int>(1);
  int numCalls = 0;
  cases.push_back(onSignal(event, [&, number = std::move(number)] {
    cases.clear();
    numCalls += *number;
  }));
  EXPECT_EQ(select(cases), 0u);
  EXPECT_EQ(numCalls, 1);
  cases.push_back(onSignal(automatic, [&] {
    if (++numCalls == 2) {
      automatic.signal();
      EXPECT_EQ(select(cases), 0u);
    }
  }));
  EXPECT_EQ(select(cases), 0u);
  EXPECT_EQ(numCalls, 3);
}

TEST_F(UnboundSelectListTest, WhatTheHandlerThrowsLeavesIt) {
  const Channel<LiveObject> channel(2);
  bool throws = true;
  Cases cases;
  cases.push_back(onReceive(channel, [&](std::optional<LiveObject>) {
    if (throws) {
      throw std::runtime_error("handler");
    }
  }));
  channel.send(LiveObject(1));
  channel.send(LiveObject(2));
  EXPECT_THROW(select(cases), std::runtime_error);
  EXPECT_EQ(LiveObject::numAlive, 1);
  throws = false;
  EXPECT_EQ(select(cases), 0u);
}

TEST_F(UnboundSelectListTest, AMoveThatThrowsMakesNoCase) {
  const Channel<tests::Fragile> channel(1);
  {
    Cases cases;
    tests::Fragile::movesUntilThrow = 1;
    EXPECT_THROW(cases.push_back(onSend(channel, tests::Fragile(1))), std::runtime_error);
    EXPECT_TRUE(cases.empty());
    cases.push_back(onSend(channel, tests::Fragile(2)));
    tests::Fragile::movesUntilThrow = 1;
    EXPECT_THROW(select(cases), std::runtime_error);
    EXPECT_EQ(select(cases), 0u);  // since it was not sent
    EXPECT_EQ(channel.receive()->value, 2);
  }
  EXPECT_EQ(tests::Fragile::numAlive, 0);
}

TEST_F(UnboundSelectListTest, EachOfSeveralThatCanHappenDoes) {
  constexpr size_t kCases = 20;
  const Event event(Mode::Manual, true);
  std::array<int, kCases> numChosen{};
  Cases cases;
  for (size_t i = 0; i < kCases; ++i) {
    cases.push_back(onSignal(event));
  }
  for (int i = 0; i < 4'000; ++i) {
    ++numChosen[select(cases)];
  }
  for (const int each : numChosen) {
    EXPECT_GT(each, 40);
  }
}

TEST_F(UnboundSelectListTest, UsedAgainItAllocatesNothing) {
  const Channel<int> channel(1);
  const Event event;
  std::stop_source source;
  int sum = 0;
  Cases cases;
  cases.push_back(onReceive(channel, [&](std::optional<int> value) { sum += *value; }));
  cases.push_back(onSignal(event, [&] { ++sum; }));
  cases.push_back(onStop(source.get_token()));
  cases.push_back(onTimeout(std::chrono::hours(1)));
  const uint64_t before = tests::numMallocs();
  for (int i = 0; i < 100; ++i) {
    channel.send(1);
    select(cases);
    event.signal();
    select(cases);
  }
  EXPECT_EQ(tests::numMallocs(), before);
  EXPECT_EQ(sum, 200);
}

TEST_P(SelectListTest, EachKindOfCaseEndsTheWait) {
  tests::expectEachKindOfCaseEndsTheWait(scheduler(), [](const tests::SelectScene& scene) {
    Cases cases;
    cases.push_back(onReceive(scene.in, kIgnore));
    cases.push_back(onSend(scene.out, 5));
    cases.push_back(onSignal(scene.automatic));
    cases.push_back(onSignal(scene.manual));
    cases.push_back(onReceive(scene.closed, kIgnore));
    cases.push_back(onStop(scene.stop.get_token()));
    return [cases = std::move(cases)]() mutable {
      const size_t chosen = select(cases);
      if (chosen == 1 || chosen == 4) {
        cases[chosen] = onTimeout(std::chrono::hours(1));
      }
      return chosen;
    };
  });
}

// The stacks have 64 KiB: less than the cases need, or an array of their addresses.
TEST_P(SelectListTest, ManyCasesNeedNoStack) {
  const size_t count = static_cast<size_t>(scaled(10'000, 2'000));
  for (Kind kind : kKinds) {
    std::vector<Channel<int>> channels;
    for (size_t i = 0; i < count / 2; ++i) {
      channels.emplace_back(0);
    }
    std::atomic<size_t> numDone{0};
    Crew crew(scheduler());
    crew.start(kind, [&] {
      Cases cases;
      size_t received = 0;
      for (size_t i = 0; i < count; ++i) {  // two on each channel, far from each other
        cases.push_back(onReceive(channels[i % channels.size()],
                                  [&](std::optional<int> value) { received = static_cast<size_t>(*value); }));
      }
      for (; numDone < 3; ++numDone) {
        const size_t chosen = select(cases);
        EXPECT_EQ(chosen % channels.size(), received);
      }
    });
    for (size_t round = 0; round < 3; ++round) {
      const size_t at = round * (channels.size() - 1) / 2;
      awaitThat([&] { return numDone == round && numWaiting(channels[at]) == 2; });
      channels[at].send(static_cast<int>(at));
    }
    crew.join();
    for (const Channel<int>& each : channels) {
      ASSERT_EQ(numWaiting(each), 0);
    }
  }
}

struct SelectListGate : tests::AutoEventGate {
  void wait() { EXPECT_EQ(select(casesWith(onReceive(other, kIgnore))), 0u); }
  bool wait(const std::stop_token& token) { return select(casesWith(onStop(token))) == 0; }
  template <class Duration>
  bool waitFor(const Duration& duration, const std::stop_token& token = {}) {
    Cases cases = casesWith(onStop(token));
    cases.push_back(onTimeout(duration));
    return select(cases) == 0;
  }
  Cases casesWith(AnyCase one) {
    Cases cases;
    cases.push_back(onSignal(event));
    cases.push_back(std::move(one));
    return cases;
  }
  Channel<int> other{0, tests::heap()};
};

TEST_P(SelectListTest, WaitsInTheOrderOfAllWhoWait) {
  tests::expectFirstInFirstOut<SelectListGate>(scheduler());
}

TEST_P(SelectListTest, AStopEndsTheWait) {
  tests::expectStopEndsTheWait<SelectListGate>(scheduler());
  tests::expectStopEndsAllWaits<SelectListGate>(scheduler());
  tests::expectTimeEndsTheWait<SelectListGate>(scheduler());
  tests::expectOneWinnerOfSignalStopAndTime<SelectListGate>(scheduler(), scaled(300, 50));
}

// Each has the channels in another order, and each channel several times.
TEST_P(SelectListTest, ListsOnTheSameChannelsMeetAndLoseNothing) {
  constexpr size_t kChannels = 12;
  const int rounds = scaled(1'000, 150);
  std::vector<Channel<int>> channels;
  for (size_t i = 0; i < kChannels; ++i) {
    channels.emplace_back(i % 2, tests::heap());
  }
  std::atomic<int64_t> balance{0};
  std::atomic<int> numOver{0};
  Crew crew(scheduler());
  for (int sender = 0; sender < 2; ++sender) {
    crew.start(tests::kindOf(sender), [&, sender] {
      Cases cases;
      const auto put = [&](size_t i, int value) {
        const size_t at = sender == 0 ? i : kChannels - 1 - i;
        return AnyCase(onSend(channels[at], value, [&balance, value] { balance += value; }));
      };
      for (size_t i = 0; i < kChannels; ++i) {
        cases.push_back(put(i, 1));
        cases.push_back(onReceive(channels[i], [&](std::optional<int> value) { balance -= *value; }));
      }
      for (int i = 2; i <= rounds; ++i) {
        const size_t chosen = select(cases);
        if (chosen % 2 == 0) {
          cases[chosen] = put(chosen / 2, i);
        }
      }
      ++numOver;
    });
  }
  const auto drain = [&] {
    for (const Channel<int>& each : channels) {
      while (const auto left = each.tryReceive()) {
        balance -= *left;
      }
    }
  };
  // Once one is over, the other finds no partner.
  while (numOver < 2) {
    if (numOver == 1) {
      drain();
    }
    yield();
  }
  crew.join();
  drain();
  for (const Channel<int>& each : channels) {
    EXPECT_EQ(numWaiting(each), 0);
  }
  EXPECT_EQ(balance, 0);
}

// The example in select.h.
TEST_P(SelectListTest, TheExampleInTheHeaderWorks) {
  using Job = int;
  const std::vector<Channel<Job>> queues = {Channel<Job>(8), Channel<Job>(8), Channel<Job>(8)};
  std::stop_source source;
  const std::stop_token token = source.get_token();
  int numRun = 0;
  const auto run = [&](Job) { return ++numRun < 9; };
  bool isOver = false;
  for (const Channel<Job>& jobs : queues) {
    for (const Job job : {1, 2, 3}) {
      jobs.send(job);
    }
  }

  std::vector<weft::AnyCase> cases;
  for (const weft::Channel<Job>& jobs : queues) {
    cases.push_back(weft::onReceive(jobs, [&](std::optional<Job> job) { isOver = !job || !run(*job); }));
  }
  cases.push_back(weft::onStop(token, [&] { isOver = true; }));
  while (!isOver) {
    weft::select(cases);
  }

  EXPECT_EQ(numRun, 9);
}

class SelectListDeathTest : public tests::DeathTest {};

TEST_F(SelectListDeathTest, ListsThatCannotBeUsed) {
  const Channel<int> channel(2);
  std::stop_source source;
  Cases cases;
  EXPECT_DEATH(select(cases), "select\\(\\) was given an empty list of cases");
  cases.push_back(onSend(channel, 1));
  select(cases);
  EXPECT_DEATH(select(cases), "case 0 of the list is an onSend\\(\\) whose value was sent");
  const AnyCase taken = std::move(cases[0]);
  EXPECT_DEATH(select(cases), "case 0 of the list was moved from");
  cases.clear();
  cases.push_back(onStop(source.get_token()));
  cases.push_back(onStop(source.get_token()));
  EXPECT_DEATH(select(cases), "select\\(\\) was given more than one onStop");
}

}  // namespace select_list_test
}  // namespace
}  // namespace weft
