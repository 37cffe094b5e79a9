// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

void events(benchmark::State& state) {
  weft::Event ping, pong;
  weft::WaitGroup partner(1);
  bool stop = false;
  int64_t replies = 0;
  weft::schedule([&, partner] {
    for (;;) {
      ping.wait();
      if (stop) {
        break;
      }
      replies++;
      pong.signal();
    }
    partner.done();
  });
  event::measure(state, replies, [&] {
    ping.signal();
    pong.wait();
  });
  stop = true;
  ping.signal();
  partner.wait();
}

[[gnu::noinline]] void takeTurns(const weft::Event& mine, const weft::Event& theirs, int64_t turns) {
  for (int64_t i = 0; i < turns; i++) {
    mine.wait();
    theirs.signal();
  }
}

// The same by two tasks that run one function. The return from wait() to two places in turn, as above, is
// mispredicted each time; rivals' loops around yield() are one place.
void alike(benchmark::State& state) {
  constexpr int64_t kTurns = 1000;
  weft::Event ping, pong;
  while (state.KeepRunningBatch(kTurns)) {
    weft::WaitGroup partner(1);
    weft::schedule([=] {
      takeTurns(ping, pong, kTurns);
      partner.done();
    });
    ping.signal();
    takeTurns(pong, ping, kTurns);
    partner.wait();
    bench::check(ping.test() && !pong.test(), "event");
  }
  state.counters["per_iteration"] = 2;
}

// Fiber::wait and Fiber::notify alone, which is what every primitive stands on.
void notify(benchmark::State& state) {
  auto* first = weft::Fiber::current();
  weft::Fiber* second = nullptr;
  weft::WaitGroup partner(1);
  bool stop = false;
  int64_t replies = 0;
  weft::schedule([&, partner] {
    second = weft::Fiber::current();
    first->notify();
    for (;;) {
      second->wait();
      if (stop) {
        break;
      }
      replies++;
      first->notify();
    }
    partner.done();
  });
  first->wait();
  event::measure(state, replies, [&] {
    second->notify();
    first->wait();
  });
  stop = true;
  second->notify();
  partner.wait();
}

template <void (*pingPong)(benchmark::State&)>
void run(benchmark::State& state) {
  bench::Bound bound(static_cast<int>(state.range(0)));
  bench::runTask([&] { pingPong(state); });
}

BENCHMARK(run<events>)->Name("ping-pong")->ArgName("workers")->Arg(0)->Arg(1)->UseRealTime();
BENCHMARK(run<alike>)->Name("ping-pong-alike")->ArgName("workers")->Arg(0)->Arg(1)->UseRealTime();
BENCHMARK(run<notify>)->Name("notify")->ArgName("workers")->Arg(0)->Arg(1)->UseRealTime();

}  // namespace

int main(int argc, char** argv) { return bench::microMain(argc, argv); }
