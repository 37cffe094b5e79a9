// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Parallel loops, each over numbers up to n, whose body is one line:
//   large    10 M floats, y[i] = a * x[i] + y[i]
//   small    the same over 1,024 floats, again and again: what a parallel region costs
//   skewed   2,000 iterations of which the last hundredth does nine tenths of the work
//   local    10 M numbers, each added to a sum of the thread that has it; then the sums are added
//   atomic   the same numbers, each added to one atomic sum

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../common/harness.h"

namespace loop {

constexpr size_t kSmall = 1024;

// `forEach(n, body)` calls body(i) for each i below n.
template <class ForEach>
void measureSaxpy(bench::Run& run, size_t n, int rounds, const char* metric, double unit, ForEach&& forEach) {
  // Half a page apart, as small arrays that begin at the same place of their pages are 1.5 to 2 times slower:
  // a load then waits for the store before it, whose address has the same lowest twelve bits.
  constexpr size_t kApart = 512;
  std::vector<float> numbers(n + kApart + n);
  float* const x = numbers.data();
  float* const y = x + n + kApart;
  for (size_t i = 0; i < n; i++) {
    x[i] = static_cast<float>(i % 7);
  }
  int calls = 0;
  const double ns = run.medianNs(
      [&] {
        for (int round = 0; round < rounds; round++) {
          forEach(n, [x, y](size_t i) { y[i] = 0.5f * x[i] + y[i]; });
          calls++;
        }
      },
      9);
  for (size_t i = 0; i < n; i++) {
    // Exact as long as the sums have 24 bits.
    bench::check(calls > 4'000'000 || y[i] == 0.5f * x[i] * static_cast<float>(calls), "loop");
  }
  run.metric(metric, ns / rounds / unit);
}

template <class ForEach>
void measureLarge(bench::Run& run, ForEach&& forEach) {
  measureSaxpy(run, run.size<size_t>(10'000'000, 10'000), run.size(5, 1), "ms", 1e6, forEach);
}

template <class ForEach>
void measureSmall(bench::Run& run, ForEach&& forEach) {
  measureSaxpy(run, kSmall, run.size(100'000, 100), "ns", 1, forEach);
}

// A chain of multiplications that no compiler shortens.
inline uint64_t work(uint64_t seed, int steps) {
  for (int i = 0; i < steps; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
  }
  return seed;
}

template <class ForEach>
void measureSkewed(bench::Run& run, ForEach&& forEach) {
  constexpr size_t n = 2000;
  const int light = run.size(1000, 10);
  const auto stepsOf = [light](size_t i) { return i < n - n / 100 ? light : 900 * light; };
  std::vector<uint64_t> results(n);
  const double ns = run.medianNs(
      [&] { forEach(n, [&results, &stepsOf](size_t i) { results[i] = work(i, stepsOf(i)); }); }, 5);
  for (size_t i = 0; i < n; i++) {
    bench::check(results[i] == work(i, stepsOf(i)), "skewed loop");
  }
  run.metric("ms", ns / 1e6);
}

// `Sum` has add(number), for all threads, and total(), for the time after the loop.
template <class Sum, class ForEach>
void measureSum(bench::Run& run, ForEach&& forEach) {
  const auto n = run.size<size_t>(10'000'000, 10'000);
  uint64_t total = 0;
  const double ns = run.medianNs(
      [&] {
        Sum sum;
        forEach(n, [&sum](size_t i) { sum.add(i ^ 5); });
        total = sum.total();
      },
      9);
  uint64_t expected = 0;
  for (size_t i = 0; i < n; i++) {
    expected += i ^ 5;
  }
  bench::check(total == expected, "sum");
  run.metric("ns", ns / static_cast<double>(n));
}

class AtomicSum {
 public:
  void add(uint64_t number) { sum_.fetch_add(number, std::memory_order_relaxed); }
  uint64_t total() const { return sum_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> sum_{0};
};

}  // namespace loop
