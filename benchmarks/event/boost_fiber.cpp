// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Boost.Fiber has no event: a flag behind its mutex and condition variable, and a channel of one item.

#include <boost/fiber/all.hpp>

#include "problem.h"

namespace {

class Event {
 public:
  void signal() {
    {
      std::lock_guard<boost::fibers::mutex> lock(mutex_);
      signalled_ = true;
    }
    condition_.notify_one();
  }

  void wait() {
    std::unique_lock<boost::fibers::mutex> lock(mutex_);
    condition_.wait(lock, [this] { return signalled_; });
    signalled_ = false;
  }

 private:
  boost::fibers::mutex mutex_;
  boost::fibers::condition_variable condition_;
  bool signalled_ = false;
};

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
      if (stop) break;
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

void conditionVariable(benchmark::State& state) {
  pingPong<Event>(state);
}
void channel(benchmark::State& state) {
  pingPong<Channel>(state);
}

BENCHMARK(conditionVariable)->Name("ping-pong/workers:1");
BENCHMARK(channel)->Name("ping-pong-channel/workers:1");

}  // namespace

int main(int argc, char** argv) {
  return bench::microMain(argc, argv);
}
