// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// 1 MiB of address space and a guard for each fiber. With 0 workers everything runs on the bound thread, with
// 1 on the worker's.

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

class Round {
 public:
  explicit Round(int64_t n) : left_(n), blocked_(n), finished_(static_cast<unsigned>(n)) {}

  void begin() {
    for (int64_t i = 0; i < left_; i++) {
      weft::schedule([this] {
        blocked_.done();
        event_.wait();
        finishedCount_.fetch_add(1, std::memory_order_relaxed);
        finished_.done();
      });
    }
    blocked_.wait();
  }

  int64_t finish() {
    event_.signal();
    finished_.wait();
    return finishedCount_.load();
  }

 private:
  int64_t left_;
  bench::Countdown blocked_;
  weft::Event event_{weft::Event::Mode::Manual};
  weft::WaitGroup finished_;
  std::atomic<int64_t> finishedCount_{0};
};

void measureRounds(bench::Run& r, int64_t n) {
  std::unique_ptr<Round> round;
  auto block = [&](int64_t count) {
    round = std::make_unique<Round>(count);
    round->begin();
  };
  blocked::measure(r, n, block, [&] { return round->finish(); });
}

void measureAll(bench::Run& r, int64_t n) {
  int64_t before = bench::residentKib();
  {
    bench::Bound bound(r.workers());
    bench::runTask([&] { measureRounds(r, n); });
  }
  r.metric("left_bytes", blocked::perFiber(bench::residentKib() - before, n));
}

void hundredThousand(bench::Run& r) { measureAll(r, blocked::fibers(r)); }

void million(bench::Run& r) {
  if (!r.tiny() && bench::procField("/proc/meminfo", "MemAvailable") < 9000000) {
    return r.skip("needs 9 GB of free memory");
  }
  measureAll(r, r.size<int64_t>(1000000, 2000));
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "blocked", "weft",
                        {{"blocked", {0, 1}, hundredThousand}, {"million", {1}, million}});
}
