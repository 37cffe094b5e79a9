// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

constexpr int kFib = 25;

void spawnCounted(int64_t n) {
  bench::Countdown left(n);
  for (int64_t i = 0; i < n; i++) {
    weft::schedule([&left] { left.done(); });
  }
  left.wait();
}

void tasks(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] { growth::measurePerThing(r, growth::sizeOf(r), 1'000'000, spawnCounted); });
}

void spawnMany(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] { growth::measurePerThing(r, r.size<int64_t>(1000, 10), 1'000'000, spawnCounted); });
}

// Returns: the nanoseconds of blocking n fibers, and of the signal until all have finished.
std::pair<double, double> blockAndSignal(bench::Run& r, int64_t n) {
  weft::Event event(weft::Event::Mode::Manual);
  bench::Countdown blocked(n), finished(n);
  const double blockNs = r.onceNs([&] {
    for (int64_t i = 0; i < n; i++) {
      weft::schedule([&] {
        blocked.done();
        event.wait();
        finished.done();
      });
    }
    blocked.wait();
  });
  const double signalNs = r.onceNs([&] {
    event.signal();
    finished.wait();
  });
  return {blockNs, signalNs};
}

void blockedFibers(bench::Run& r) {
  const int64_t n = growth::sizeOf(r);
  if (n > 500'000 && bench::procField("/proc/meminfo", "MemAvailable") < 9'000'000) {
    return r.skip("needs 9 GB of free memory");
  }
  bench::Bound bound(r.workers());
  bench::runTask([&] {
    const int64_t rounds = r.tiny() ? 1 : std::max<int64_t>(1, 100'000 / n);
    blockAndSignal(r, n);
    double blockNs = 0, signalNs = 0;
    for (int64_t i = 0; i < rounds; i++) {
      auto [block, signal] = blockAndSignal(r, n);
      blockNs += block;
      signalNs += signal;
    }
    r.metric("block_ns", blockNs / static_cast<double>(n * rounds));
    r.metric("signal_ns", signalNs / static_cast<double>(n * rounds));
  });
}

int64_t descend(int64_t depth) {
  if (depth == 0) {
    return 0;
  }
  int64_t below = 0;
  weft::WaitGroup done(1);
  weft::schedule([&below, depth, done] {
    below = descend(depth - 1);
    done.done();
  });
  done.wait();
  return below + 1;
}

int64_t descendByJoin(int64_t depth) {
  if (depth == 0) {
    return 0;
  }
  int64_t left = 0, right = 0;
  weft::join([&] { left = descendByJoin(depth - 1); }, [&] { right = 1; });
  return left + right;
}

template <int64_t (*function)(int64_t)>
void depth(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] {
    growth::measurePerThing(r, growth::sizeOf(r), 100'000,
                            [](int64_t n) { bench::check(function(n) == n, "growth"); });
  });
}

int64_t fibOf(int n) {
  if (n < 2) {
    return n;
  }
  int64_t left = 0, right = 0;
  weft::join([&] { left = fibOf(n - 1); }, [&] { right = fibOf(n - 2); });
  return left + right;
}

void fib(bench::Run& r) {
  constexpr int64_t kForks = 121'392, kValue = 75'025;
  bench::Bound bound(r.workers());
  bench::runTask([&] {
    const double ns = r.medianNs([] { bench::check(fibOf(kFib) == kValue, "growth"); }, 9);
    r.metric("ns", ns / static_cast<double>(kForks));
  });
}

void runPair(int64_t wakes, bench::Countdown& finished, std::atomic<int64_t>& passes) {
  weft::Event ping, pong;
  weft::schedule([=, &finished, &passes] {
    for (int64_t i = 0; i < wakes; i++) {
      ping.signal();
      pong.wait();
    }
    passes.fetch_add(wakes);
    finished.done();
  });
  weft::schedule([=, &finished] {
    for (int64_t i = 0; i < wakes; i++) {
      ping.wait();
      pong.signal();
    }
    finished.done();
  });
}

void pairs(bench::Run& r) {
  const int64_t numPairs = r.workers(), wakes = r.size<int64_t>(100'000, 1000) / numPairs;
  bench::Bound bound(r.workers());
  const double ns = r.medianNs([&] {
    bench::Countdown finished(2 * numPairs);
    std::atomic<int64_t> passes{0};
    for (int64_t i = 0; i < numPairs; i++) {
      runPair(wakes, finished, passes);
    }
    finished.wait();
    bench::check(passes.load() == wakes * numPairs, "growth");
  });
  r.metric("ns", ns / static_cast<double>(2 * wakes * numPairs));
}

void contendedMutex(bench::Run& r) {
  constexpr int64_t kFibers = 16;
  const int64_t turns = r.size<int64_t>(50'000, 100);
  bench::Bound bound(r.workers());
  const double ns = r.medianNs([&] {
    weft::mutex mutex;
    int64_t counter = 0;
    bench::Countdown finished(kFibers);
    for (int64_t i = 0; i < kFibers; i++) {
      weft::schedule([&] {
        for (int64_t j = 0; j < turns; j++) {
          mutex.lock();
          counter++;
          mutex.unlock();
        }
        finished.done();
      });
    }
    finished.wait();
    bench::check(counter == kFibers * turns, "growth");
  });
  r.metric("ns", ns / static_cast<double>(kFibers * turns));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<int> workers{1, 2, 4, 8, 16, 32, 64};
  return bench::runMain(argc, argv, "growth", "weft",
                        {{"tasks-1", {1, 2}, tasks},
                         {"tasks-10", {1, 2}, tasks},
                         {"tasks-100", {1, 2}, tasks},
                         {"tasks-1000", {1, 2}, tasks},
                         {"tasks-10000", {1, 2}, tasks},
                         {"tasks-100000", {1, 2}, tasks},
                         {"tasks-1000000", {1, 2}, tasks},
                         {"tasks-10000000", {1, 2}, tasks},
                         {"blocked-1", {1}, blockedFibers},
                         {"blocked-10", {1}, blockedFibers},
                         {"blocked-100", {1}, blockedFibers},
                         {"blocked-1000", {1}, blockedFibers},
                         {"blocked-10000", {1}, blockedFibers},
                         {"blocked-100000", {1}, blockedFibers},
                         {"blocked-1000000", {1}, blockedFibers},
                         {"depth-1", {1, 2}, depth<descend>},
                         {"depth-10", {1, 2}, depth<descend>},
                         {"depth-100", {1, 2}, depth<descend>},
                         {"depth-1000", {1, 2}, depth<descend>},
                         {"depth-10000", {1, 2}, depth<descend>},
                         {"depth-100000", {1, 2}, depth<descend>},
                         {"join-1", {1, 2}, depth<descendByJoin>},
                         {"join-10", {1, 2}, depth<descendByJoin>},
                         {"join-100", {1, 2}, depth<descendByJoin>},
                         {"join-1000", {1, 2}, depth<descendByJoin>},
                         {"spawn", workers, spawnMany},
                         {"fib", workers, fib},
                         {"pairs", workers, pairs},
                         {"mutex", workers, contendedMutex}});
}
