// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// By a mutex and a condition variable, and by a channel of one item.

#include <boost/fiber/all.hpp>

#include "../common/boost_event.h"
#include "problem.h"

namespace {

class Channel {
 public:
  void signal() { channel_.push(1); }
  void wait() { channel_.value_pop(); }

 private:
  boost::fibers::buffered_channel<int> channel_{2};
};

template <class Signal>
void pingPong(benchmark::State& state) {
  Signal ping, pong;
  bool stop = false;
  int64_t replies = 0;
  boost::fibers::fiber partner([&] {
    for (;;) {
      ping.wait();
      if (stop) {
        break;
      }
      replies++;
      pong.signal();
    }
  });
  event::measure(state, replies, [&] {
    ping.signal();
    pong.wait();
  });
  stop = true;
  ping.signal();
  partner.join();
}

void conditionVariable(benchmark::State& state) { pingPong<bench::BoostEvent>(state); }
void channel(benchmark::State& state) { pingPong<Channel>(state); }

BENCHMARK(conditionVariable)->Name("ping-pong/workers:1");
BENCHMARK(channel)->Name("ping-pong-channel/workers:1");

}  // namespace

int main(int argc, char** argv) { return bench::microMain(argc, argv); }
