// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What does a mutex cost?
//
//   uncontended   lock and unlock by one task while a second thread is alive (glibc leaves the atomics
//                 out as long as a process has one thread only)
//   contended     sixteen take turns to add one to a counter: 2 workers x 8 fibers, or 16 threads

#pragma once

#include <cstdint>

#include "../common/harness.h"

namespace mutexes {

constexpr int kHolders = 16;

inline int64_t uncontendedRounds(const bench::Run& run) { return run.size<int64_t>(10000000, 1000); }
inline int64_t contendedRounds(const bench::Run& run) { return run.size<int64_t>(200000, 200); }

// Measures lock and unlock of `mutex` by the caller alone.
template <class Mutex>
void measureUncontended(bench::Run& run, Mutex& mutex) {
  int64_t rounds = uncontendedRounds(run);
  double ns = run.medianNs([&] {
    int64_t count = 0;
    for (int64_t i = 0; i < rounds; i++) {
      mutex.lock();
      count++;
      asm volatile("" : "+r"(count) : : "memory");
      mutex.unlock();
    }
    bench::check(count == rounds, "mutex");
  });
  run.metric("ns_per_lock", ns / static_cast<double>(rounds));
}

// What each of the holders does.
template <class Mutex>
void addUp(Mutex& mutex, int64_t& counter, int64_t rounds) {
  for (int64_t i = 0; i < rounds; i++) {
    mutex.lock();
    counter++;
    mutex.unlock();
  }
}

// Measures `all(mutex, counter, rounds)`, which calls addUp for each holder.
template <class Mutex, class F>
void measureContended(bench::Run& run, F&& all) {
  int64_t rounds = contendedRounds(run);
  double ns = run.medianNs([&] {
    Mutex mutex;
    int64_t counter = 0;
    all(mutex, counter, rounds);
    bench::check(counter == kHolders * rounds, "mutex");
  });
  run.metric("ns_per_lock", ns / static_cast<double>(kHolders * rounds));
}

}  // namespace mutexes
