// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <stop_token>

#include <weft/channel.h>
#include <weft/event.h>

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

// What the cases of a select wait for. They are numbered in the order of the members.
struct SelectScene {
  Channel<int> in;   // receives 1
  Channel<int> out;  // sends 5
  Event automatic;
  Event manual{Event::Mode::Manual};
  Channel<int> closed;  // receives nothing
  std::stop_source stop;
};

// makeWait(scene) returns what selects each time it is called, and returns the number of the case. A later
// call leaves out `closed` once that has happened.
template <class MakeWait>
void expectEachKindOfCaseEndsTheWait(Scheduler& scheduler, const MakeWait& makeWait) {
  for (Kind kind : kKinds) {
    const SelectScene scene;
    std::stop_source stop = scene.stop;
    std::atomic<size_t> numDone{0};
    Crew crew(scheduler);
    crew.start(kind, [&] {
      auto wait = makeWait(scene);
      for (size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(wait(), i);
        scene.manual.clear();
        ++numDone;
      }
    });
    const auto awaitSelect = [&](size_t done) {
      awaitThat([&] { return numDone == done && numWaiting(scene.in) == 1; });
    };
    awaitSelect(0);
    scene.in.send(1);
    awaitSelect(1);
    EXPECT_EQ(scene.out.receive(), 5);
    awaitSelect(2);
    scene.automatic.signal();
    awaitSelect(3);
    scene.manual.signal();
    awaitSelect(4);
    scene.closed.close();
    awaitSelect(5);
    stop.request_stop();
    crew.join();
    EXPECT_FALSE(scene.automatic.isSignalled());
    EXPECT_EQ(numWaiting(scene.automatic) + numWaiting(scene.manual), 0);
    EXPECT_EQ(numWaiting(scene.in) + numWaiting(scene.out) + numWaiting(scene.closed), 0);
  }
}

}  // namespace weft::tests
