// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "channel_parts.h"

// Seeded bug: channel/side.h:1
// Seeded bug: channel/side.h:1:split
// Seeded bug: channel/side.h:2
// Seeded bug: channel/side.h:2:touch
// Seeded bug: channel/side.h:3
// Seeded bug: channel/side.h:4
namespace weft::model {
namespace {

// One sends, one receives: the values come in order, with what was written before, and nobody sleeps for
// ever.
template <size_t kCapacity, int kCount>
struct Stream : rl::test_suite<Stream<kCapacity, kCount>, 2> {
  Channel<kCapacity> channel;
  Party parties[2];
  RelacySync::Var<int> data;

  void thread(unsigned index) {
    Party& me = parties[index];
    if (index == 0) {
      data.set(7);
      for (int i = 1; i <= kCount; ++i) {
        check(me.send(channel.core, i) == ChannelEnd::Done, "sent");
      }
    } else {
      for (int i = 1; i <= kCount; ++i) {
        int value = 0;
        check(me.receive(channel.core, value) == ChannelEnd::Done && value == i, "received in order");
        check(data.get() == 7, "the data came with the value");
      }
    }
  }
};

// Two send, one receives.
template <size_t kCapacity>
struct TwoSenders : rl::test_suite<TwoSenders<kCapacity>, 3> {
  Channel<kCapacity> channel;
  Party parties[3];

  void thread(unsigned index) {
    Party& me = parties[index];
    if (index < 2) {
      me.send(channel.core, static_cast<int>(index) + 1);
      me.send(channel.core, 10 * (static_cast<int>(index) + 1));
    } else {
      int sum = 0;
      for (int i = 0; i < 4; ++i) {
        int value = 0;
        check(me.receive(channel.core, value) == ChannelEnd::Done, "received");
        sum += value;
      }
      check(sum == 33, "each value once");
    }
  }
};

// One sends, two receive.
template <size_t kCapacity>
struct TwoReceivers : rl::test_suite<TwoReceivers<kCapacity>, 3> {
  Channel<kCapacity> channel;
  Party parties[3];
  int sums[2] = {0, 0};

  void thread(unsigned index) {
    Party& me = parties[index];
    if (index < 2) {
      check(me.receive(channel.core, sums[index]) == ChannelEnd::Done, "received");
    } else {
      me.send(channel.core, 1);
      me.send(channel.core, 2);
    }
  }
  void after() { check(sums[0] + sums[1] == 3, "each value once"); }
};

// What was sent before the close is received, what was not is not, and the close brings what was written
// before it.
template <size_t kCapacity>
struct Close : rl::test_suite<Close<kCapacity>, 3> {
  Channel<kCapacity> channel;
  Party parties[2];
  RelacySync::Var<int> data;
  int numSent = 0, numReceived = 0;

  void thread(unsigned index) {
    int value = 0;
    if (index == 0) {
      for (int i = 1; i <= 2 && parties[0].send(channel.core, i) == ChannelEnd::Done; ++i) {
        ++numSent;
      }
    } else if (index == 1) {
      while (parties[1].receive(channel.core, value) == ChannelEnd::Done) {
        check(value == ++numReceived, "received in order");
      }
      check(data.get() == 7, "the data came with the close");
    } else {
      data.set(7);
      Core::Section section(channel.core);
      channel.core.close(section);
    }
  }
  void after() { check(numSent == numReceived, "received is what was sent"); }
};

// Whoever sees by isClosed() that it is closed sees what was written before.
struct SeenClosed : rl::test_suite<SeenClosed, 2> {
  Channel<0> channel;
  RelacySync::Var<int> data;

  void thread(unsigned index) {
    if (index == 0) {
      data.set(7);
      Core::Section section(channel.core);
      channel.core.close(section);
    } else if (channel.core.isClosed()) {
      check(data.get() == 7, "the data came with the close");
    }
  }
};

// Whoever sees that it is closed may destroy it, though the close is still returning.
template <size_t kCapacity>
struct DestroyWhenClosed : rl::test_suite<DestroyWhenClosed<kCapacity>, 2> {
  Channel<kCapacity>* channel = nullptr;
  Party party;

  void before() { channel = new Channel<kCapacity>; }

  void thread(unsigned index) {
    Core& core = channel->core;
    if (index == 0) {
      for (size_t i = 0; i < kCapacity; ++i) {
        int value = 0;
        party.send(core, 1);
        party.receive(core, value);
      }
      Core::Section section(core);
      core.close(section);
    } else {
      while (!core.isClosed()) {
        RelacySync::pause();
      }
      delete channel;
    }
  }
};

// Whoever receives the last value may destroy it, since the others have received theirs, though their calls
// are still returning.
struct DestroyWhenReceived : rl::test_suite<DestroyWhenReceived, 3> {
  Channel<2>* channel = nullptr;
  Party parties[3];

  void before() { channel = new Channel<2>; }

  void thread(unsigned index) {
    Core& core = channel->core;
    Party& me = parties[index];
    if (index == 2) {
      me.send(core, 1);
      me.send(core, 2);
      return;
    }
    int value = 0;
    check(me.receive(core, value) == ChannelEnd::Done, "received");
    if (value == 2) {
      delete channel;
    }
  }
};

// Both sides give up when they like: a value that one has sent the other has, or the channel.
template <size_t kCapacity>
struct GiveUp : rl::test_suite<GiveUp<kCapacity>, 2> {
  Channel<kCapacity> channel;
  Party parties[2];
  int sent = 0, received = 0;

  void thread(unsigned index) {
    Party& me = parties[index];
    for (int i = 1; i <= 2; ++i) {
      if (index == 0) {
        sent += me.send(channel.core, i, true) == ChannelEnd::Done ? i : 0;
      } else {
        int value = 0;
        me.receive(channel.core, value, true);
        received += value;
      }
    }
  }
  void after() {
    int value = 0;
    while (channel.core.size() != 0 && parties[1].receive(channel.core, value) == ChannelEnd::Done) {
      received += value;
    }
    check(sent == received, "received is what was sent");
    check(channel.core.senders().isEmpty() && channel.core.receivers().isEmpty(), "nobody is left behind");
    for (Party& party : parties) {
      check(!party.self.parker.tryPark(), "no wake is left behind");
    }
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<Stream<0, 2>>("without a buffer", 100'000) &&
           explore<Stream<1, 3>>("a buffer of one", 200'000) &&
           explore<Stream<2, 5>>("a buffer of two", 100'000) &&
           explore<TwoSenders<0>>("two senders", 100'000) &&
           explore<TwoSenders<1>>("two senders, a buffer", 100'000) &&
           explore<TwoReceivers<0>>("two receivers", 100'000) &&
           explore<TwoReceivers<1>>("two receivers, a buffer", 100'000) &&
           explore<Close<0>>("close", 100'000) && explore<Close<1>>("close, a buffer", 100'000) &&
           explore<SeenClosed>("seen closed", 50'000) &&
           explore<DestroyWhenClosed<0>>("one destroys it once it is closed", 100'000) &&
           explore<DestroyWhenClosed<1>>("one destroys it once it is closed, a buffer", 100'000) &&
           explore<DestroyWhenReceived>("one destroys it with the last value", 200'000) &&
           explore<GiveUp<0>>("giving up", 100'000) && explore<GiveUp<1>>("giving up, a buffer", 100'000);
  });
}
