// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <stop_token>

#include <weft/channel.h>

#include "waiting.h"

// What the tests of channels and of select share.
namespace weft::tests {

struct IntChannelState {
  friend constexpr auto member(IntChannelState);
};
template struct Expose<IntChannelState, &Channel<int>::state_>;

// Returns: how many wait to send or to receive.
inline int numWaiting(const Channel<int>& channel) {
  return static_cast<int>((channel.*member(IntChannelState{}))->numWaiting());
}

// A value whose move throws when it is told to, and which counts how many of its kind there are.
struct Fragile {
  explicit Fragile(int v) : value(v) { ++numAlive; }
  Fragile(Fragile&& other) : value(other.value) {
    if (movesUntilThrow > 0 && --movesUntilThrow == 0) {
      throw std::runtime_error("a move failed");
    }
    ++numAlive;
  }
  ~Fragile() { --numAlive; }

  static inline std::atomic<int> numAlive{0};
  static inline std::atomic<int> movesUntilThrow{0};  // 0: none throws

  int value;
};

struct FragileChannelState {
  friend constexpr auto member(FragileChannelState);
};
template struct Expose<FragileChannelState, &Channel<Fragile>::state_>;
inline int numWaiting(const Channel<Fragile>& channel) {
  return static_cast<int>((channel.*member(FragileChannelState{}))->numWaiting());
}

// Gates for the tests of waiting.h and stopping.h.
struct ReceiveGate {
  void wait() { (void)channel.receive(); }
  bool wait(const std::stop_token& token) { return channel.receive(token).has_value(); }
  template <class Duration>
  bool waitFor(const Duration& duration, const std::stop_token& token) {
    return channel.receive_for(duration, token).has_value();
  }
  void wakeOne() { channel.send(1); }
  int numWaiting() { return tests::numWaiting(channel); }
  Channel<int> channel{1000, heap()};
};

struct SendGate {
  static constexpr bool kStopWins = true;  // against room that is there
  SendGate() { channel.send(0); }
  void wait() { channel.send(1); }
  bool wait(const std::stop_token& token) { return channel.send(1, token); }
  template <class Duration>
  bool waitFor(const Duration& duration, const std::stop_token& token) {
    return channel.send_for(1, duration, token);
  }
  void wakeOne() { EXPECT_TRUE(channel.receive()); }
  int numWaiting() { return tests::numWaiting(channel); }
  Channel<int> channel{1, heap()};
};

// For a single wait.
struct RendezvousGate {
  void wait() { (void)channel.receive(); }
  void wakeOne() { channel.send(1); }
  Channel<int> channel{0, heap()};
};

struct CloseGate {
  void wait() { (void)channel.receive(); }
  void wakeOne() { channel.close(); }
  Channel<int> channel{0, heap()};
};

}  // namespace weft::tests
