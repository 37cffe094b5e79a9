// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the programs share: arguments, the library that they measure, and the keys that the ranking's driver
// reads.

#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>

#ifdef RANKING_BY_TBB
#include "by_tbb.h"
#else
#include "by_weft.h"
#endif

// The ranking has a header of its own for this. Elsewhere Linux says it.
#if __has_include("memusage.hpp")
#include "memusage.hpp"
#else
#include <sys/resource.h>

inline long peak_memory_usage() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : -1;  // KiB
}
#endif

namespace ranking {

// Returns: the argument at that position, a number, or `otherwise` where there are fewer.
inline size_t argument(int argc, char** argv, int position, size_t otherwise) {
  return argc > position ? std::strtoul(argv[position], nullptr, 10) : otherwise;
}

// Returns: the number of threads that the argument at that position asks for, by default one for each two
// processors.
inline size_t threadsOf(int argc, char** argv, int position) {
  const size_t processors = std::thread::hardware_concurrency();
  const size_t threads = argument(argc, argv, position, processors < 2 ? 1 : processors / 2);
  std::printf("threads: %zu\n", threads);
  return threads;
}

// Ends the program with an error unless the program `what` has computed what it should.
inline void check(const char* what, size_t result, size_t expected) {
  if (result != expected) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: the result is %zu instead of %zu\n", what, result, expected);
    std::_Exit(1);
  }
}

template <class F>
size_t microsecondsOf(F&& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  const auto time = std::chrono::steady_clock::now() - begin;
  return static_cast<size_t>(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

// Prints one run; `key` says what it was a run of.
inline void report(size_t us, const char* key = "iteration_count", size_t value = 1) {
  std::printf("runs:\n  - %s: %zu\n    duration: %zu us\n    max_rss: %ld KiB\n", key, value, us,
              peak_memory_usage());
}

// Prints one run that is compared by its rate.
inline void reportRate(size_t us, const char* things, size_t count) {
  std::printf(
      "runs:\n  - iteration_count: 1\n    %s: %zu\n    duration: %zu us\n    %s/sec: %zu\n    max_rss: %ld "
      "KiB\n",
      things, count, us, things, us == 0 ? 0 : count * 1000000 / us, peak_memory_usage());
}

// Returns: the sum of f(begin) to f(end - 1), computed by halves at the same time.
template <class F>
size_t sumByHalves(size_t begin, size_t end, const F& f) {
  if (end - begin == 1) {
    return f(begin);
  }
  const size_t middle = begin + (end - begin) / 2;
  auto [left, right] =
      fork([&] { return sumByHalves(begin, middle, f); }, [&] { return sumByHalves(middle, end, f); });
  return left + right;
}

// Returns: the sum of f(0) to f(count - 1), each a task of one group.
// Requires: count <= 16.
template <class Group, class F>
size_t sumBy(size_t count, const F& f) {
  std::array<size_t, 16> values{};
  Group group;
  for (size_t i = 0; i < count; i++) {
    group.run([&f, i, value = &values[i]] { *value = f(i); });
  }
  group.wait();
  size_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    sum += values[i];
  }
  return sum;
}

}  // namespace ranking
