// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Counts the primes up to ten million, with a task for each stretch of numbers.

#include <weft/weft.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

namespace {

// Returns: how many of the numbers [first, last] have no factor in `primes`, which holds all primes up to the
// root of last.
uint64_t countPrimes(uint64_t first, uint64_t last, const std::vector<uint64_t>& primes) {
  std::vector<bool> composite(last - first + 1);
  for (const uint64_t prime : primes) {
    // A smaller multiple has a smaller factor as well.
    const uint64_t start = std::max(prime * prime, (first + prime - 1) / prime * prime);
    for (uint64_t multiple = start; multiple <= last; multiple += prime) {
      composite[multiple - first] = true;
    }
  }
  return static_cast<uint64_t>(std::count(composite.begin(), composite.end(), false));
}

std::vector<uint64_t> primesWithSquareUpTo(uint64_t limit) {
  std::vector<uint64_t> primes;
  for (uint64_t n = 2; n * n <= limit; ++n) {
    if (std::none_of(primes.begin(), primes.end(), [n](uint64_t prime) { return n % prime == 0; })) {
      primes.push_back(n);
    }
  }
  return primes;
}

}  // namespace

int main() {
  constexpr uint64_t kLimit = 10'000'000;
  constexpr uint64_t kKnown = 664'579;
  constexpr uint64_t kStretch = 200'000;

  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  const std::vector<uint64_t> primes = primesWithSquareUpTo(kLimit);
  std::vector<uint64_t> counts(kLimit / kStretch);  // each task has its own element, and needs no lock
  weft::WaitGroup done(static_cast<unsigned>(counts.size()));
  for (size_t i = 0; i < counts.size(); ++i) {
    weft::schedule([&, i, done] {
      const uint64_t first = std::max<uint64_t>(i * kStretch + 1, 2);
      counts[i] = countPrimes(first, (i + 1) * kStretch, primes);
      done.done();
    });
  }
  done.wait();

  const uint64_t count = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  std::printf("%" PRIu64 " primes up to %" PRIu64 "\n", count, kLimit);
  return count == kKnown ? 0 : 1;
}
