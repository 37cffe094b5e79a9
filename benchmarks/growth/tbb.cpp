// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/tbb_harness.h"
#include "problem.h"

namespace {

void tasks(bench::Run& r) {
  bench::inArena(r.workers(),
                 [&] { growth::measurePerThing(r, growth::sizeOf(r), 1'000'000, bench::spawnCounted); });
}

void spawnMany(bench::Run& r) {
  bench::inArena(r.workers(), [&] {
    growth::measurePerThing(r, r.size<int64_t>(1000, 10), 1'000'000, bench::spawnCounted);
  });
}

int64_t fibOf(int n) {
  if (n < 2) {
    return n;
  }
  int64_t left = 0;
  tbb::task_group group;
  group.run([&] { left = fibOf(n - 1); });
  const int64_t right = fibOf(n - 2);
  group.wait();
  return left + right;
}

void fib(bench::Run& r) {
  constexpr int64_t kForks = 121'392, kValue = 75'025;
  bench::inArena(r.workers(), [&] {
    const double ns = r.medianNs([] { bench::check(fibOf(25) == kValue, "growth"); }, 9);
    r.metric("ns", ns / static_cast<double>(kForks));
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<int> workers{1, 2, 4, 8, 16, 32, 64};
  return bench::runMain(argc, argv, "growth", "tbb",
                        {{"tasks-1", {1, 2}, tasks},
                         {"tasks-10", {1, 2}, tasks},
                         {"tasks-100", {1, 2}, tasks},
                         {"tasks-1000", {1, 2}, tasks},
                         {"tasks-10000", {1, 2}, tasks},
                         {"tasks-100000", {1, 2}, tasks},
                         {"tasks-1000000", {1, 2}, tasks},
                         {"spawn", workers, spawnMany},
                         {"fib", workers, fib}});
}
