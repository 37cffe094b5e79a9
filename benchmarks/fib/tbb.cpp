// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/tbb_harness.h"
#include "problem.h"

namespace {

int64_t compute(int n) {
  if (n < 2) {
    return n;
  }
  int64_t a = 0;
  tbb::task_group group;
  group.run([&a, n] { a = compute(n - 1); });
  int64_t b = compute(n - 2);
  group.wait();
  return a + b;
}

void run(bench::Run& r) {
  bench::inArena(r.workers(), [&] { fib::measure(r, compute); });
}

}  // namespace

int main(int argc, char** argv) { return bench::runMain(argc, argv, "fib", "tbb", {{"fib", {1, 2}, run}}); }
