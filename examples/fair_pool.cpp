// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A plain pool of threads: functions that are called once, first come, first served. Counts the primes below
// a million, a piece of the range at a time, and splits pieces that are too large within the pool.

#include <weft/weft.h>

#include <atomic>
#include <cstdio>

namespace {

constexpr int kSmall = 10'000;

bool isPrime(int n) {
  for (int i = 2; i * i <= n; ++i) {
    if (n % i == 0) {
      return false;
    }
  }
  return n >= 2;
}

void count(weft::fair::TaskScheduler& pool, int begin, int end, std::atomic<int>& numPrimes) {
  if (end - begin > kSmall) {
    const int middle = begin + (end - begin) / 2;
    pool.postOneShot([&pool, begin, middle, &numPrimes] { count(pool, begin, middle, numPrimes); });
    pool.postOneShot([&pool, middle, end, &numPrimes] { count(pool, middle, end, numPrimes); });
    return;
  }
  int found = 0;
  for (int n = begin; n < end; ++n) {
    found += isPrime(n) ? 1 : 0;
  }
  numPrimes += found;
}

}  // namespace

int main() {
  std::atomic<int> numPrimes{0};
  weft::fair::TaskScheduler pool("pool", 4);
  pool.postOneShot([&] { count(pool, 0, 1'000'000, numPrimes); });
  pool.waitEmpty();
  std::printf("%d primes below a million\n", numPrimes.load());
}
