// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Tasks that schedule tasks and wait for them. A task that waits gives its thread to another; each that is
// blocked keeps a stack, and because the newest tasks run first, there are no more of those than the tree is
// deep.

#include <weft/weft.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>

namespace {

uint64_t fibonacci(int n) {
  if (n < 2) {
    return static_cast<uint64_t>(n);
  }
  uint64_t left = 0;
  weft::WaitGroup done(1);
  weft::schedule([&left, n, done] {
    left = fibonacci(n - 1);
    done.done();
  });
  const uint64_t right = fibonacci(n - 2);
  done.wait();  // `left` is written by then, and this frame outlives the task
  return left + right;
}

}  // namespace

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  constexpr int kN = 20;
  constexpr uint64_t kExpected = 6765;
  uint64_t result = 0;
  weft::WaitGroup done(1);
  weft::schedule([&result, done] {
    result = fibonacci(kN);
    done.done();
  });
  done.wait();

  std::printf("fibonacci(%d) is %" PRIu64 "\n", kN, result);
  return result == kExpected ? 0 : 1;
}
