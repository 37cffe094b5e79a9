// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <optional>
#include <utility>

#include "world.h"

// The operations on channels.
namespace weft::fuzz {
namespace {

using std::chrono::steady_clock;

Item nextItem(const Actor& self, size_t channel) {
  return std::make_unique<uint32_t>(static_cast<uint32_t>(self.index << 16) | self.log.sent[channel]);
}

// Notes whether `item` was sent. One that was not sent is still there.
void logSent(Actor& self, size_t channel, bool isSent, const Item& item) {
  check(isSent == (item == nullptr), "channel %zu left a value that was%s sent", channel,
        isSent ? "" : " not");
  self.log.sent[channel] += isSent ? 1 : 0;
}

void logReceived(Actor& self, size_t channel, const std::optional<Item>& item) {
  if (item) {
    self.log.received[channel].push_back(**item);
  }
}

// Calls trySending(item), which returns whether it has sent the item.
template <class F>
void sendBy(Actor& self, size_t channel, const F& trySending) {
  const bool isClosed = self.world.isCloseEnded[channel];
  Item item = nextItem(self, channel);
  try {
    const bool isSent = trySending(item);
    check(!isClosed || !isSent, "channel %zu took a value after it was closed", channel);
    logSent(self, channel, isSent, item);
  } catch (const ChannelClosed&) {
    check(self.world.isCloseBegun[channel], "channel %zu was closed by nobody", channel);
    logSent(self, channel, false, item);
  }
}

void send(Actor& self, const Op& op) {
  const Channel<Item>& channel = self.world.channels[op.a];
  sendBy(self, op.a, [&](Item& item) {
    return self.await(
        op, [&](const auto&... token) { return channel.send(std::move(item), token...); },
        [&](auto limit, const auto& token) { return channel.send_for(std::move(item), limit, token); });
  });
}

void trySend(Actor& self, const Op& op) {
  sendBy(self, op.a, [&](Item& item) { return self.world.channels[op.a].trySend(std::move(item)); });
}

void receive(Actor& self, const Op& op) {
  const Channel<Item>& channel = self.world.channels[op.a];
  std::optional<Item> item;
  self.await(
      op,
      [&](const auto&... token) {
        item = channel.receive(token...);
        return item.has_value();
      },
      [&](auto limit, const auto& token) {
        item = channel.receive_for(limit, token);
        return item.has_value();
      },
      [&] { return self.world.isCloseBegun[op.a].load(); });
  logReceived(self, op.a, item);
}

void tryReceive(Actor& self, const Op& op) {
  logReceived(self, op.a, self.world.channels[op.a].tryReceive());
}

void close(Actor& self, const Op& op) {
  self.world.isCloseBegun[op.a] = true;
  self.world.channels[op.a].close();
  self.world.isCloseEnded[op.a] = true;
  check(self.world.channels[op.a].isClosed(), "channel %d is open after close()", op.a);
}

// What a select waits for besides the channel of operand a and its limit: operand b has the channel to send
// to, the event, and whether each of the cases is there.
struct Cases {
  explicit Cases(const Op& op)
      : receives((op.b & 0x10) != 0),
        sends((op.b & 0x20) != 0),
        waits((op.b & 0x40) != 0),
        hasOtherwise((op.b & 0x80) != 0),
        to(op.b % kNumChannels),
        event(op.b / kNumChannels % kNumEvents) {}

  bool receives, sends, waits, hasOtherwise;
  size_t to, event;
};

void select(Actor& self, const Op& op) {
  World& world = self.world;
  const Cases cases(op);
  const auto begin = steady_clock::now();
  Item item = nextItem(self, cases.to);
  int numCalls = 0;
  const auto isCalled = [&] { ++numCalls; };
  const auto limit = op.how.limit.value_or(std::chrono::hours(100));
  // Cases that are not there wait for what never comes.
  auto received = onReceive(cases.receives ? world.channels[op.a] : world.neverFilled,
                            [&](const std::optional<Item>& value) {
                              isCalled();
                              check(value || world.isCloseBegun[op.a], "channel %d gave nothing", op.a);
                              logReceived(self, op.a, value);
                            });
  auto sent = onSend(cases.sends ? world.channels[cases.to] : world.neverEmptied, std::move(item), isCalled);
  auto signalled = onSignal(cases.waits ? world.events[cases.event] : world.never, isCalled);
  const std::stop_token token = op.how.stop < 0 ? std::stop_token() : world.token(op.how.stop);
  auto stopped = onStop(token, isCalled);
  try {
    const size_t which = cases.hasOtherwise
                             ? weft::select(std::move(received), std::move(sent), std::move(signalled),
                                            std::move(stopped), otherwise(isCalled))
                             : weft::select(std::move(received), std::move(sent), std::move(signalled),
                                            std::move(stopped), onTimeout(limit, isCalled));
    check(numCalls == 1, "a select called %d handlers", numCalls);
    logSent(self, cases.to, which == 1, item);
    self.log.waited[cases.event] += which == 2;
    check(which != 3 || (op.how.stop >= 0 && world.isStopBegun[static_cast<size_t>(op.how.stop)]),
          "a select was stopped by nobody");
    check(which != 4 || cases.hasOtherwise || steady_clock::now() - begin >= limit, "a select ended early");
  } catch (const ChannelClosed&) {
    check(numCalls == 0, "a select on a closed channel called a handler");
    check(world.isCloseBegun[cases.to], "channel %zu was closed by nobody", cases.to);
    logSent(self, cases.to, false, item);
  }
}

// A channel of its own, whose sender is a task. It is destroyed as soon as the last receive has returned.
void pipe(Actor& self, const Op& op) {
  const int count = op.b % 16;
  const Channel<Item> channel(self.canSpawn() ? op.a % 4u : 16u);
  self.spawn([&channel, count] {
    for (int i = 0; i < count; ++i) {
      channel.send(std::make_unique<uint32_t>(static_cast<uint32_t>(i)));
    }
    channel.close();
  });
  uint32_t numReceived = 0;
  for (const Item& item : channel) {
    check(*item == numReceived, "a pipe gave %u after %u values", *item, numReceived);
    ++numReceived;
  }
  check(numReceived == static_cast<uint32_t>(count), "a pipe gave %u of %d values", numReceived, count);
}

void countSelect(Census& all, const Op& op, bool) {
  const Cases cases(op);
  all.channels[op.a].wanted += cases.receives;
  all.channels[cases.to].sent += cases.sends;
  all.events[cases.event].wanted += cases.waits;
}

bool isSelectSure(const Census& all, const Op& op) {
  const Cases cases(op);
  return cases.hasOtherwise || (cases.receives && all.isReceiveSure(op.a)) ||
         (cases.sends && all.isSendSure(cases.to)) || (cases.waits && all.isSignalSure(cases.event));
}

void countSend(Census& all, const Op& op, bool bySupplier) {
  Census::ChannelFlow& flow = all.channels[op.a];
  ++flow.sent;
  flow.given += bySupplier && op.how.stop < 0;
}

constexpr OpType kOps[] = {
    {.name = "send to",
     .a = Arg::Channel,
     .waits = Waits::Others,
     .count = countSend,
     .isSure = [](const Census& all, const Op& op) { return all.isSendSure(op.a); },
     .run = send},
    {.name = "try to send to", .a = Arg::Channel, .count = countSend, .run = trySend},
    {.name = "receive from",
     .a = Arg::Channel,
     .waits = Waits::Others,
     .count = [](Census& all, const Op& op, bool) { ++all.channels[op.a].wanted; },
     .isSure = [](const Census& all, const Op& op) { return all.isReceiveSure(op.a); },
     .run = receive},
    {.name = "try to receive from",
     .a = Arg::Channel,
     .count = [](Census& all, const Op& op, bool) { ++all.channels[op.a].wanted; },
     .run = tryReceive},
    {.name = "close",
     .a = Arg::Channel,
     .count = [](Census& all, const Op& op, bool bySupplier) { all.channels[op.a].closed += bySupplier; },
     .run = close},
    {.name = "select from",
     .a = Arg::Channel,
     .b = Arg::Number,
     .waits = Waits::Others,
     .count = countSelect,
     .isSure = isSelectSure,
     .run = select},
    {.name = "pipe", .a = Arg::Number, .b = Arg::Number, .run = pipe},
};

}  // namespace

std::span<const OpType> channelOps() { return kOps; }

}  // namespace weft::fuzz
