// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A thread that sleeps in a futex, and one FUTEX_WAKE.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "problem.h"

namespace {

long futex(std::atomic<uint32_t>& word, int operation, uint32_t value) {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

// Calls `measure(wake)`.
template <class F>
void besideSleeper(F&& measure) {
  std::atomic<uint32_t> word{0};
  std::atomic<std::atomic<int64_t>*> target{nullptr};
  std::atomic<bool> stop{false};
  std::thread sleeper([&] {
    for (uint32_t seen = 0;; seen++) {
      while (word.load(std::memory_order_acquire) == seen) {
        futex(word, FUTEX_WAIT, seen);
      }
      if (stop.load()) {
        return;
      }
      target.load()->store(bench::nowNs(), std::memory_order_release);
    }
  });
  auto wake = [&](std::atomic<int64_t>& started) {
    target.store(&started);
    word.fetch_add(1, std::memory_order_release);
    futex(word, FUTEX_WAKE, 1);
  };
  measure(wake);
  stop.store(true);
  word.fetch_add(1, std::memory_order_release);
  futex(word, FUTEX_WAKE, 1);
  sleeper.join();
}

void run(bench::Run& r) {
  latency::Apart apart;
  besideSleeper([&](auto wake) { latency::measure(r, apart, wake); });
}

void runBesideHogs(bench::Run& r) {
  besideSleeper([&r](auto wake) { latency::measureBesideHogs(r, wake); });
}

void runTimed(bench::Run& r) {
  latency::measureLateness(r, [](auto duration) { std::this_thread::sleep_for(duration); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(
      argc, argv, "latency", "floor",
      {{"futex-wake", {1}, run}, {"beside-hogs", {1}, runBesideHogs}, {"timed-wait", {1}, runTimed}});
}
