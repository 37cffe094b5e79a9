// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <thread>

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

int64_t roundTrips(int64_t rounds) {
  weft::Channel<int64_t> ping, pong;
  weft::WaitGroup both(2);
  int64_t replies = 0;
  weft::schedule([=, &replies] {
    for (const int64_t value : ping) {
      replies++;
      pong.send(value);
    }
    both.done();
  });
  weft::schedule([=] {
    for (int64_t i = 0; i < rounds; i++) {
      ping.send(i);
      (void)pong.receive();
    }
    ping.close();
    both.done();
  });
  both.wait();
  return replies;
}

// With two workers, each side holds its thread until the other has started too: so they are on different
// workers, and stay there.
template <size_t kCapacity>
void stream(bench::Run& r) {
  bench::Bound bound(r.workers());
  channel::measureStream(r, [&](int64_t count) {
    weft::Channel<int64_t> values(kCapacity);
    weft::WaitGroup both(2);
    std::atomic<int> started{0};
    const auto meet = [&] {
      started.fetch_add(1);
      while (started.load() < r.workers()) {
      }
    };
    std::thread::id threads[2];
    int64_t sum = 0;
    weft::schedule([&, values, both] {
      meet();
      threads[0] = std::this_thread::get_id();
      for (int64_t i = 0; i < count; i++) {
        values.send(i);
      }
      values.close();
      both.done();
    });
    weft::schedule([&, values, both] {
      meet();
      threads[1] = std::this_thread::get_id();
      int64_t ownSum = 0;  // the sender's line stays the sender's
      for (const int64_t value : values) {
        ownSum += value;
      }
      sum = ownSum;
      both.done();
    });
    both.wait();
    bench::check((threads[0] != threads[1]) == (r.workers() == 2), "channel: the threads");
    return sum;
  });
}

int64_t selectTwo(int64_t count) {
  weft::Channel<int64_t> left, right;
  weft::WaitGroup feeders(2);
  for (const auto& to : {left, right}) {
    weft::schedule([=] {
      for (int64_t i = 0; i < count; i++) {
        to.send(i);
      }
      feeders.done();
    });
  }
  int64_t sum = 0;
  bench::runTask([&] {
    for (int64_t i = 0; i < 2 * count; i++) {
      weft::select(weft::onReceive(left, [&](std::optional<int64_t> value) { sum += *value; }),
                   weft::onReceive(right, [&](std::optional<int64_t> value) { sum += *value; }));
    }
  });
  feeders.wait();
  return sum;
}

void pingPong(bench::Run& r) {
  bench::Bound bound(r.workers());
  channel::measurePingPong(r, roundTrips);
}

void select(bench::Run& r) {
  bench::Bound bound(r.workers());
  channel::measureSelect(r, selectTwo);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "channel", "weft",
                        {{"ping-pong", {0, 1}, pingPong},
                         {"stream-128", {1, 2}, stream<128>},
                         {"stream-1024", {1, 2}, stream<1024>},
                         {"select", {0, 1, 2}, select}});
}
