// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What does a mutex cost that many may share?
//
//   read    lock_shared and unlock_shared by one task while a second thread is alive
//   write   lock and unlock, likewise
//   mixed   sixteen of which each reads fifteen times for each time it adds one to a counter: 2 workers x 8
//           fibers, or 16 threads

#pragma once

#include <cstdint>

#include "../common/harness.h"

namespace shared_mutexes {

constexpr int kHolders = 16;
constexpr int64_t kReadsPerWrite = 15;

inline int64_t aloneRounds(const bench::Run& run) { return run.size<int64_t>(10000000, 1000); }
inline int64_t mixedRounds(const bench::Run& run) { return run.size<int64_t>(6400, 16); }

// Measures holds of `mutex` by the caller alone: take() and release().
template <class Take, class Release>
void measureAlone(bench::Run& run, Take take, Release release) {
  const int64_t rounds = aloneRounds(run);
  const double ns = run.medianNs([&] {
    int64_t count = 0;
    for (int64_t i = 0; i < rounds; i++) {
      take();
      count++;
      asm volatile("" : "+r"(count) : : "memory");
      release();
    }
    bench::check(count == rounds, "sharedmutex");
  });
  run.metric("ns_per_lock", ns / static_cast<double>(rounds));
}
template <class Mutex>
void measureReads(bench::Run& run, Mutex& mutex) {
  measureAlone(run, [&] { mutex.lock_shared(); }, [&] { mutex.unlock_shared(); });
}
template <class Mutex>
void measureWrites(bench::Run& run, Mutex& mutex) {
  measureAlone(run, [&] { mutex.lock(); }, [&] { mutex.unlock(); });
}

// What each of the holders does.
template <class Mutex>
void readAndWrite(Mutex& mutex, int64_t& counter, int64_t rounds) {
  int64_t last = 0;
  for (int64_t i = 0; i < rounds; i++) {
    for (int64_t j = 0; j < kReadsPerWrite; j++) {
      mutex.lock_shared();
      bench::check(counter >= last, "sharedmutex");
      last = counter;
      mutex.unlock_shared();
    }
    mutex.lock();
    counter++;
    mutex.unlock();
  }
}

// Measures `all(mutex, counter, rounds)`, which calls readAndWrite for each holder.
template <class Mutex, class F>
void measureMixed(bench::Run& run, F&& all) {
  const int64_t rounds = mixedRounds(run);
  const double ns = run.medianNs([&] {
    Mutex mutex;
    int64_t counter = 0;
    all(mutex, counter, rounds);
    bench::check(counter == kHolders * rounds, "sharedmutex");
  });
  run.metric("ns_per_lock", ns / static_cast<double>(kHolders * rounds * (kReadsPerWrite + 1)));
}

}  // namespace shared_mutexes
