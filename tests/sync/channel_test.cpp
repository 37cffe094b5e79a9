// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/channel.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "channels.h"
#include "stopping.h"

namespace weft {
namespace {

using tests::awaitThat;
using tests::Crew;
using tests::Fragile;
using tests::Kind;
using tests::kKinds;
using tests::milliseconds;
using tests::numWaiting;
using tests::scaled;

class ChannelTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(ChannelTest);

class UnboundChannelTest : public tests::WithAllocator {
 protected:
  void TearDown() override {
    WithAllocator::TearDown();
    EXPECT_EQ(Fragile::numAlive, 0);
    Fragile::movesUntilThrow = 0;
  }
};

TEST_F(UnboundChannelTest, HoldsWhatItHasRoomForAndGivesItInOrder) {
  for (size_t capacity : {1, 2, 3, 7, 64}) {
    const Channel<int> channel(capacity, allocator());
    EXPECT_EQ(channel.capacity(), capacity);
    for (int round = 0; round < 5; ++round) {
      for (int i = 0; i < static_cast<int>(capacity); ++i) {
        EXPECT_TRUE(channel.trySend(i));
      }
      EXPECT_EQ(channel.size(), capacity);
      EXPECT_FALSE(channel.trySend(1));
      for (int i = 0; i < static_cast<int>(capacity); ++i) {
        EXPECT_EQ(channel.receive(), i);
      }
      EXPECT_EQ(channel.tryReceive(), std::nullopt);
      EXPECT_EQ(channel.size(), 0u);
    }
  }
}

TEST_F(UnboundChannelTest, WithoutCapacityHoldsNothing) {
  const Channel<int> channel(0, allocator());
  EXPECT_EQ(channel.capacity(), 0u);
  EXPECT_FALSE(channel.trySend(1));
  EXPECT_FALSE(channel.tryReceive());
  EXPECT_FALSE(channel.send_for(1, milliseconds(1)));
  EXPECT_FALSE(channel.receive_for(milliseconds(1)));
}

TEST_F(UnboundChannelTest, GivesWhatItHoldsAfterCloseAndThenNothing) {
  const Channel<std::string> channel(4, allocator());
  channel.send("one");
  channel.send(std::string(100, 'x'));
  EXPECT_FALSE(channel.isClosed());
  channel.close();
  EXPECT_TRUE(channel.isClosed());
  EXPECT_EQ(channel.receive(), "one");
  EXPECT_EQ(channel.tryReceive(), std::string(100, 'x'));
  EXPECT_FALSE(channel.receive());
  EXPECT_FALSE(channel.receive());
  EXPECT_FALSE(channel.tryReceive());
  EXPECT_FALSE(channel.receive_for(std::chrono::hours(1)));
  channel.close();
}

TEST_F(UnboundChannelTest, SendingOnAClosedChannelThrowsAndLeavesTheValue) {
  for (size_t capacity : {0, 3}) {
    const Channel<std::unique_ptr<int>> channel(capacity, allocator());
    channel.close();
    auto value = std::make_unique<int>(1);
    std::stop_source source;
    EXPECT_THROW(channel.send(std::move(value)), ChannelClosed);
    EXPECT_THROW((void)channel.trySend(std::move(value)), ChannelClosed);
    EXPECT_THROW((void)channel.send_for(std::move(value), milliseconds(1)), ChannelClosed);
    EXPECT_THROW((void)channel.send_until(std::move(value), std::chrono::system_clock::now()), ChannelClosed);
    EXPECT_THROW((void)channel.send(std::move(value), source.get_token()), ChannelClosed);
    EXPECT_NE(value, nullptr);
  }
  EXPECT_NE(std::string(ChannelClosed().what()).find("ChannelClosed"), std::string::npos);
}

TEST_F(UnboundChannelTest, AnRvalueIsMovedFromOnlyIfItIsSent) {
  const Channel<std::unique_ptr<int>> channel(1, allocator());
  auto first = std::make_unique<int>(1), second = std::make_unique<int>(2);
  EXPECT_TRUE(channel.trySend(std::move(first)));
  EXPECT_EQ(first, nullptr);
  EXPECT_FALSE(channel.trySend(std::move(second)));
  EXPECT_FALSE(channel.send_for(std::move(second), milliseconds(1)));
  EXPECT_FALSE(channel.send_until(std::move(second), std::chrono::steady_clock::now()));
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(**channel.receive(), 1);
}

// Who sends in a loop comes to its end when it is told to, though there is always room.
TEST_F(UnboundChannelTest, ASendThatWasStoppedBeforeFailsThoughThereIsRoom) {
  const Channel<std::string> channel(3, allocator());
  std::stop_source source;
  const std::stop_token token = source.get_token();
  EXPECT_TRUE(channel.send("first", token));
  source.request_stop();
  std::string second = "second, longer than what a string holds in itself";
  EXPECT_FALSE(channel.send(std::move(second), token));
  EXPECT_FALSE(channel.send_for(std::move(second), std::chrono::hours(1), token));
  EXPECT_FALSE(
      channel.send_until(std::move(second), std::chrono::steady_clock::now() + std::chrono::hours(1), token));
  EXPECT_FALSE(second.empty());
  EXPECT_EQ(channel.receive(token), "first");
  EXPECT_EQ(channel.receive(token), std::nullopt);
}

TEST_F(UnboundChannelTest, WhatConvertsIsMovedFromOnlyIfItIsSent) {
  struct Base {
    virtual ~Base() = default;
  };
  struct Derived : Base {};
  const Channel<std::unique_ptr<Base>> channel(1, allocator());
  auto derived = std::make_unique<Derived>();
  std::stop_source stopped;
  stopped.request_stop();
  channel.send(nullptr);
  EXPECT_FALSE(channel.trySend(std::move(derived)));
  EXPECT_FALSE(channel.send_for(std::move(derived), milliseconds(1)));
  EXPECT_FALSE(channel.send_until(std::move(derived), std::chrono::steady_clock::now()));
  EXPECT_FALSE(channel.send(std::move(derived), stopped.get_token()));
  ASSERT_NE(derived, nullptr);
  const Base* sent = derived.get();
  EXPECT_EQ(channel.receive(), nullptr);
  EXPECT_TRUE(channel.trySend(std::move(derived)));
  EXPECT_EQ(derived, nullptr);
  EXPECT_EQ(channel.receive()->get(), sent);
  channel.close();
  auto another = std::make_unique<Derived>();
  EXPECT_THROW(channel.send(std::move(another)), ChannelClosed);
  EXPECT_NE(another, nullptr);
}

// The receiver, or the sender, makes the value out of what the other has brought.
TEST_P(ChannelTest, WhatConvertsIsHandedOverWhoeverWaits) {
  struct Text {
    operator int() && { return std::stoi(digits); }
    std::string digits;
  };
  for (const size_t capacity : {0, 1}) {
    for (const bool sendsFirst : {true, false}) {
      const Channel<int> channel(capacity);
      Crew crew(scheduler());
      const auto send = [&] {
        for (int i = 0; i < 3; ++i) {
          channel.send(Text{std::to_string(i)});
        }
        channel.close();
      };
      const auto receive = [&] {
        int numReceived = 0;
        for (const int each : channel) {
          EXPECT_EQ(each, numReceived++);
        }
        EXPECT_EQ(numReceived, 3);
      };
      const auto isWaiting = [&] { return numWaiting(channel) == 1; };
      sendsFirst ? crew.start(Kind::Task, send) : crew.start(Kind::Task, receive);
      awaitThat(isWaiting);
      sendsFirst ? crew.start(Kind::FreeThread, receive) : crew.start(Kind::FreeThread, send);
    }
  }
}

TEST_P(ChannelTest, AConversionThatThrowsDoesSoAtItsSender) {
  struct Text {
    operator int() && { return std::stoi(digits); }
    std::string digits;
  };
  for (const size_t capacity : {0, 1}) {
    const Channel<int> channel(capacity);
    if (capacity != 0) {
      channel.send(0);
    }
    Crew crew(scheduler());
    crew.start(Kind::Task, [&] { EXPECT_THROW(channel.send(Text{"no number"}), std::invalid_argument); });
    awaitThat([&] { return numWaiting(channel) == 1; });
    crew.start(Kind::FreeThread, [&] { EXPECT_EQ(channel.receive(), capacity != 0 ? 0 : 1); });
    if (capacity == 0) {
      crew.start(Kind::FreeThread, [&] { channel.send(Text{"1"}); });
    }
  }
}

TEST_F(UnboundChannelTest, TakesWhatConvertsToItsValues) {
  const Channel<std::string> channel(8, allocator());
  const std::string constant = "constant";
  std::string variable = "variable";
  channel.send("literal");
  channel.send(constant);
  channel.send(variable);
  channel.send({'b', 'r', 'a', 'c', 'e', 's'});
  EXPECT_EQ(variable, "variable");
  channel.close();
  std::string all;
  for (const std::string& each : channel) {
    all += each + " ";
  }
  EXPECT_EQ(all, "literal constant variable braces ");
}

TEST_F(UnboundChannelTest, CarriesValuesThatCannotBeCopiedOrMadeFromNothing) {
  struct alignas(256) Wide {
    explicit Wide(int v) : value(v) { EXPECT_EQ(reinterpret_cast<uintptr_t>(this) % 256, 0u); }
    Wide(Wide&& other) noexcept : value(std::exchange(other.value, -1)) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(this) % 256, 0u);
    }
    Wide& operator=(Wide&&) = delete;
    int value;
  };
  const Channel<Wide> channel(3, allocator());
  for (int i = 0; i < 9; ++i) {
    channel.send(Wide(i));
    EXPECT_EQ(channel.receive()->value, i);
  }
  channel.send(Wide(1));
  channel.close();
  for (Wide& each : channel) {
    Wide taken(std::move(each));
    EXPECT_EQ(taken.value, 1);
  }
}

TEST_F(UnboundChannelTest, DestroysWhatIsLeftInIt) {
  {
    const Channel<Fragile> channel(5, allocator());
    for (int i = 0; i < 5; ++i) {
      channel.send(Fragile(i));
    }
    EXPECT_EQ(channel.receive()->value, 0);
    EXPECT_EQ(Fragile::numAlive, 4);
  }
  EXPECT_EQ(Fragile::numAlive, 0);
}

TEST_F(UnboundChannelTest, TakesOneAllocationAndItsCopiesNone) {
  const Channel<std::array<char, 100>> channel(100, allocator());
  const auto copy = channel;
  EXPECT_EQ(allocator()->stats().numAllocations(), 1u);
}

TEST_F(UnboundChannelTest, CopiesAreOneChannelAndMovesKeepIt) {
  Channel<int> channel(4, allocator());
  Channel<int> copy = channel;
  Channel<int> moved = std::move(channel);
  copy.send(1);
  EXPECT_EQ(moved.receive(), 1);
  channel = copy;
  copy = Channel<int>(1);
  EXPECT_FALSE(copy.tryReceive());
  channel.send(2);
  EXPECT_EQ(moved.receive(), 2);
}

TEST_F(UnboundChannelTest, AMoveThatThrowsIntoTheBufferLeavesTheChannelAsItWas) {
  const Channel<Fragile> channel(2, allocator());
  channel.send(Fragile(1));
  Fragile::movesUntilThrow = 1;
  EXPECT_THROW(channel.send(Fragile(2)), std::runtime_error);
  EXPECT_EQ(channel.size(), 1u);
  EXPECT_TRUE(channel.trySend(Fragile(3)));
  EXPECT_FALSE(channel.trySend(Fragile(4)));
  EXPECT_EQ(channel.receive()->value, 1);
  EXPECT_EQ(channel.receive()->value, 3);
}

TEST_F(UnboundChannelTest, AMoveThatThrowsOutOfTheBufferLosesThatValueOnly) {
  const Channel<Fragile> channel(2, allocator());
  channel.send(Fragile(1));
  channel.send(Fragile(2));
  Fragile::movesUntilThrow = 1;
  EXPECT_THROW((void)channel.receive(), std::runtime_error);
  EXPECT_EQ(Fragile::numAlive, 1);
  EXPECT_EQ(channel.size(), 1u);
  EXPECT_EQ(channel.receive()->value, 2);
  EXPECT_FALSE(channel.tryReceive());
}

TEST_P(ChannelTest, AMoveThatThrowsWhileHandingOverReachesTheSenderAndTheReceiverWaitsOn) {
  for (Kind kind : kKinds) {
    const Channel<Fragile> channel;
    Crew crew(scheduler());
    crew.start(kind, [=] { EXPECT_EQ(channel.receive()->value, 2); });
    awaitThat([&] { return numWaiting(channel) == 1; });
    Fragile::movesUntilThrow = 1;
    EXPECT_THROW(channel.send(Fragile(1)), std::runtime_error);
    channel.send(Fragile(2));
    crew.join();
  }
  EXPECT_EQ(Fragile::numAlive, 0);
}

TEST_P(ChannelTest, AMoveThatThrowsFromAWaitingSenderReachesTheReceiver) {
  for (Kind kind : kKinds) {
    const Channel<Fragile> channel;
    Crew crew(scheduler());
    crew.start(kind, [=] { channel.send(Fragile(1)); });
    awaitThat([&] { return numWaiting(channel) == 1; });
    Fragile::movesUntilThrow = 1;
    EXPECT_THROW((void)channel.receive(), std::runtime_error);
    crew.join();
    EXPECT_FALSE(channel.tryReceive());
  }
  EXPECT_EQ(Fragile::numAlive, 0);
}

TEST_P(ChannelTest, AMoveThatThrowsFromAWaitingSenderIntoTheBufferReachesThatSender) {
  for (Kind kind : kKinds) {
    const Channel<Fragile> channel(1);
    channel.send(Fragile(1));
    Crew crew(scheduler());
    crew.start(kind, [=] { EXPECT_THROW(channel.send(Fragile(2)), std::runtime_error); });
    awaitThat([&] { return numWaiting(channel) == 1; });
    crew.start(kind, [=] { channel.send(Fragile(3)); });
    awaitThat([&] { return numWaiting(channel) == 2; });
    Fragile::movesUntilThrow = 2;
    EXPECT_EQ(channel.receive()->value, 1);
    EXPECT_EQ(channel.receive()->value, 3);
    crew.join();
    EXPECT_FALSE(channel.tryReceive());
  }
  EXPECT_EQ(Fragile::numAlive, 0);
}

TEST_P(ChannelTest, HandsValuesFromEachKindToEachKind) {
  constexpr int kCount = 200;
  for (size_t capacity : {0, 1, 5}) {
    for (Kind sender : kKinds) {
      for (Kind receiver : kKinds) {
        const Channel<int> channel(capacity);
        Crew crew(scheduler());
        crew.start(receiver, [=] {
          int expected = 0;
          for (const int value : channel) {
            EXPECT_EQ(value, expected++);
          }
          EXPECT_EQ(expected, kCount);
        });
        crew.start(sender, [=] {
          for (int i = 0; i < kCount; ++i) {
            channel.send(i);
          }
          channel.close();
        });
      }
    }
  }
}

TEST_P(ChannelTest, ReceiversAreServedFirstInFirstOut) {
  tests::expectFirstInFirstOut<tests::ReceiveGate>(scheduler());
}
TEST_P(ChannelTest, SendersAreServedFirstInFirstOut) {
  tests::expectFirstInFirstOut<tests::SendGate>(scheduler());
}

TEST_P(ChannelTest, ValuesOfWaitingSendersArriveInTheirOrder) {
  constexpr int kSenders = 9;
  for (size_t capacity : {0, 1, 3}) {
    const Channel<int> channel(capacity);
    Crew crew(scheduler());
    for (int i = 0; i < static_cast<int>(capacity); ++i) {
      channel.send(i);
    }
    for (int i = 0; i < kSenders; ++i) {
      crew.start(tests::kindOf(i), [=] { channel.send(static_cast<int>(capacity) + i); });
      awaitThat([&] { return numWaiting(channel) == i + 1; });
    }
    for (int i = 0; i < kSenders + static_cast<int>(capacity); ++i) {
      EXPECT_EQ(channel.receive(), i);
    }
  }
}

// Each value says who has sent it, and how many he has sent before: whoever receives sees those of one sender
// in order.
TEST_P(ChannelTest, ManySendersAndReceiversLoseNothingAndDoubleNothing) {
  constexpr int kSenders = 6, kReceivers = 6;
  const int count = scaled(2'000, 200);
  for (size_t capacity : {0, 1, 2, 64}) {
    const Channel<int> channel(capacity, tests::heap());
    std::atomic<int64_t> sum{0};
    std::atomic<int> numReceived{0};
    WaitGroup senders(kSenders);
    Crew crew(scheduler());
    for (int i = 0; i < kReceivers; ++i) {
      crew.start(tests::kindOf(i), [&, channel] {
        std::array<int, kSenders> next{};
        for (const int value : channel) {
          int& least = next[static_cast<size_t>(value % kSenders)];
          EXPECT_GE(value / kSenders, least);
          least = value / kSenders + 1;
          sum += value;
          ++numReceived;
        }
      });
    }
    for (int i = 0; i < kSenders; ++i) {
      crew.start(tests::kindOf(i), [=] {
        for (int k = 0; k < count; ++k) {
          channel.send(k * kSenders + i);
        }
        senders.done();
      });
    }
    senders.wait();
    channel.close();
    crew.join();
    const int64_t total = int64_t{kSenders} * count;
    EXPECT_EQ(numReceived, total);
    EXPECT_EQ(sum, total * (total - 1) / 2);
  }
}

TEST_P(ChannelTest, CloseWakesAllWhoReceive) {
  for (size_t capacity : {0, 2}) {
    const Channel<int> channel(capacity);
    Crew crew(scheduler());
    for (int i = 0; i < 12; ++i) {
      crew.start(tests::kindOf(i), [=] { EXPECT_FALSE(channel.receive()); });
    }
    awaitThat([&] { return numWaiting(channel) == 12; });
    channel.close();
  }
}

TEST_P(ChannelTest, CloseWakesAllWhoSendWithAnException) {
  for (size_t capacity : {0, 2}) {
    const Channel<int> channel(capacity);
    Crew crew(scheduler());
    for (int i = 0; i < static_cast<int>(capacity); ++i) {
      channel.send(7);
    }
    for (int i = 0; i < 12; ++i) {
      crew.start(tests::kindOf(i), [=] { EXPECT_THROW(channel.send(1), ChannelClosed); });
    }
    awaitThat([&] { return numWaiting(channel) == 12; });
    channel.close();
    crew.join();
    for (int i = 0; i < static_cast<int>(capacity); ++i) {
      EXPECT_EQ(channel.receive(), 7);
    }
    EXPECT_FALSE(channel.receive());
  }
}

// What was sent without an exception is received, what was not is not.
TEST_P(ChannelTest, CloseAgainstSendersAndReceiversLosesNothing) {
  tests::Rounds rounds(scaled(100, 20), std::chrono::milliseconds(5));
  while (rounds.next()) {
    const int round = rounds.count();
    const Channel<int> channel(static_cast<size_t>(round % 4), tests::heap());
    std::atomic<int64_t> sent{0}, received{0};
    Crew crew(scheduler());
    for (int i = 0; i < 2; ++i) {
      const Kind kind = round % 10 == 0 ? Kind::FreeThread : Kind::Task;
      crew.start(kind, [&, channel, i] {
        try {
          for (int k = 1;; ++k) {
            channel.send(2 * k + i);
            sent += 2 * k + i;
          }
        } catch (const ChannelClosed&) {
        }
      });
      crew.start(kind, [&, channel] {
        for (const int value : channel) {
          received += value;
        }
      });
    }
    awaitThat([&] { return received > round; });
    channel.close();
    crew.join();
    EXPECT_EQ(sent, received);
  }
}

// Both sides give up now and then, by time or by a stop: a value that one has sent, the other has.
TEST_P(ChannelTest, TimesAndStopsAgainstHandingOverLoseNothingAndDoubleNothing) {
  const int rounds = scaled(1'000, 200);
  for (size_t capacity : {0, 1, 4}) {
    for (Kind kind : kKinds) {
      const Channel<int> channel(capacity, tests::heap());
      std::atomic<int64_t> sent{0}, received{0};
      std::atomic<int> numSenders{2};
      Crew crew(scheduler());
      for (int i = 0; i < 2; ++i) {
        crew.start(kind, [&, channel] {
          for (int k = 1; k <= rounds; ++k) {
            std::stop_source source;
            const bool isSent =
                k % 3 == 0   ? channel.send_for(k, std::chrono::microseconds(k % 40))
                : k % 3 == 1 ? channel.send_for(k, std::chrono::microseconds(k % 40), source.get_token())
                             : channel.trySend(k);
            sent += isSent ? k : 0;
          }
          if (--numSenders == 0) {
            channel.close();
          }
        });
        crew.start(kind, [&, channel] {
          for (int k = 0; !channel.isClosed(); ++k) {
            received += channel.receive_for(std::chrono::microseconds(k % 40)).value_or(0);
          }
          for (const int value : channel) {
            received += value;
          }
        });
      }
      crew.join();
      EXPECT_EQ(sent, received);
    }
  }
}

template <class Gate>
void expectStopsToWork(Scheduler& scheduler) {
  tests::expectStopEndsTheWait<Gate>(scheduler);
  tests::expectStopEndsAllWaits<Gate>(scheduler);
  tests::expectAStopBeforeTheWaitEndsItAtOnce<Gate>(scheduler);
  tests::expectTimeEndsTheWait<Gate>(scheduler);
  tests::expectOneWinnerOfSignalStopAndTime<Gate>(scheduler, scaled(300, 50));
  tests::destroyAsSoonAsStopped<Gate>(scheduler, scaled(200, 50));
}

TEST_P(ChannelTest, AStopEndsAReceive) { expectStopsToWork<tests::ReceiveGate>(scheduler()); }
TEST_P(ChannelTest, AStopEndsASend) { expectStopsToWork<tests::SendGate>(scheduler()); }

TEST_P(ChannelTest, MayBeDestroyedAsSoonAsReceiveReturns) {
  tests::destroyAtOnce<tests::ReceiveGate>(scheduler(), numWorkers(), 4);
}
TEST_P(ChannelTest, MayBeDestroyedAsSoonAsSendReturns) {
  tests::destroyAtOnce<tests::SendGate>(scheduler(), numWorkers(), 4);
}
TEST_P(ChannelTest, MayBeDestroyedAsSoonAsTheValueIsHandedOver) {
  tests::destroyAtOnce<tests::RendezvousGate>(scheduler(), numWorkers(), 4);
}
TEST_P(ChannelTest, MayBeDestroyedAsSoonAsTheCloseIsSeen) {
  tests::destroyAtOnce<tests::CloseGate>(scheduler(), numWorkers(), 4);
}

TEST_P(ChannelTest, HandlesInTasksOutliveTheFrameThatMadeThem) {
  Channel<int> last(0, allocator());
  {
    const Channel<int> first(0, allocator());
    schedule([=] { last.send(*first.receive() + 1); });
    schedule([=] { first.send(1); });
  }
  EXPECT_EQ(last.receive(), 2);
  last = Channel<int>();
}

TEST_P(ChannelTest, ATimedReceiveEndsWithTheValue) {
  for (Kind kind : kKinds) {
    const Channel<int> channel;
    Crew crew(scheduler());
    crew.start(kind, [=] { EXPECT_EQ(channel.receive_for(std::chrono::hours(1)), 1); });
    (void)channel.send_until(1, std::chrono::system_clock::now() + std::chrono::hours(1));
    crew.start(kind, [=] { EXPECT_TRUE(channel.send_for(2, tests::kThreeHundredYears)); });
    EXPECT_EQ(channel.receive_until(std::chrono::system_clock::now() + std::chrono::hours(1)), 2);
  }
}

// The example in channel.h.
TEST_P(ChannelTest, TheExampleInTheHeaderWorks) {
  std::vector<std::string> in = {"one", "two", "three"}, out;
  Channel<std::string> lines(64);
  schedule([=] {
    for (std::string line : in) {
      lines.send(std::move(line));
    }
    lines.close();
  });
  for (const std::string& line : lines) {
    out.push_back(line);
  }
  EXPECT_EQ(in, out);
}

class ChannelDeathTest : public tests::DeathTest {};

TEST_F(ChannelDeathTest, CapacityBeyondTheLimit) {
#if PTRDIFF_MAX > INT32_MAX
  EXPECT_DEATH(Channel<char>((size_t{1} << 31) + 1),
               "Channel\\(2147483649\\): the capacity must be from 0 to 2147483648");
#else
  EXPECT_DEATH(Channel<char>((size_t{1} << 30) + 1),
               "Channel\\(1073741825\\): the capacity must be from 0 to 1073741824");
#endif
  EXPECT_DEATH(Channel<char>(static_cast<size_t>(-3)), "Channel\\(-3\\): the capacity must be from 0");
}

TEST_F(ChannelDeathTest, DestroyedWhileSomebodyWaits) {
  EXPECT_DEATH(
      {
        auto* channel = new Channel<int>();
        std::thread waiter([&] { (void)channel->receive(); });
        awaitThat([&] { return numWaiting(*channel) == 1; });
        delete channel;
      },
      "Channel was destroyed while somebody waits for it");
}

// Found out once the wait has ended, which nothing but its limit can end any more.
TEST_F(ChannelDeathTest, DestroyedWhileSomebodyWaitsForALimitedTime) {
  EXPECT_DEATH(
      {
        auto* channel = new Channel<int>();
        std::stop_source source;
        std::thread waiter([&] { (void)channel->receive(source.get_token()); });
        awaitThat([&] { return numWaiting(*channel) == 1; });
        delete channel;
        source.request_stop();
        waiter.join();
      },
      "Channel was destroyed while somebody waits for it");
}

}  // namespace
}  // namespace weft
