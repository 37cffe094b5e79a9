// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the machine itself takes: an uncontended atomic increment, a cache line that two threads pass to and
// fro, and a thread that sleeps in a futex until a time.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <thread>

#include "problem.h"

namespace {

void increment(bench::Run& run) {
  const int64_t count = run.size<int64_t>(20'000'000, 1'000);
  std::atomic<int64_t> counter{0};
  const double ns = run.medianNs([&] {
    for (int64_t i = 0; i < count; i++) {
      counter.fetch_add(1, std::memory_order_relaxed);
    }
  });
  bench::check(counter.load() >= count, "fair: increments");
  run.metric("ns_per_step", ns / static_cast<double>(count));
}

void line(bench::Run& run) {
  const int64_t rounds = run.size<int64_t>(1'000'000, 500);
  alignas(128) static std::atomic<int64_t> word;
  const double ns = run.medianNs([&] {
    word.store(0);
    std::thread other([&] {
      for (int64_t i = 0; i < rounds; i++) {
        while (word.load(std::memory_order_acquire) != 2 * i + 1) {
        }
        word.store(2 * i + 2, std::memory_order_release);
      }
    });
    for (int64_t i = 0; i < rounds; i++) {
      word.store(2 * i + 1, std::memory_order_release);
      while (word.load(std::memory_order_acquire) != 2 * i + 2) {
      }
    }
    other.join();
  });
  run.metric("ns_per_round_trip", ns / static_cast<double>(rounds));
}

void lateness(bench::Run& run) {
  std::vector<double> late(static_cast<size_t>(run.size(3'000, 20)));
  std::mt19937_64 random(1);
  std::atomic<uint32_t> word{0};
  for (double& result : late) {
    const int64_t at = bench::nowNs() + 100'000 + static_cast<int64_t>(random() % 1'000'000);
    const timespec until{static_cast<time_t>(at / 1'000'000'000), static_cast<long>(at % 1'000'000'000)};
    while (bench::nowNs() < at) {
      syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, &until, nullptr,
              FUTEX_BITSET_MATCH_ANY);
    }
    result = static_cast<double>(bench::nowNs() - at);
  }
  fair::reportLateness(run, late);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(
      argc, argv, "fair", "floor",
      {{"increment", {1}, increment}, {"line", {2}, line}, {"lateness-idle", {1}, lateness}});
}
