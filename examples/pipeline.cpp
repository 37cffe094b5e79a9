// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A pipeline of three stages with channels between them, which bound how far a stage may run ahead: one makes numbers, four
// test them, one collects. A stop, or a stage that hangs for a minute, ends it early.

#include <weft/weft.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <stop_token>

namespace {

constexpr uint32_t kLast = 20'000;
constexpr int kTesters = 4;
constexpr uint32_t kExpected = 2262;  // primes below 20,000

bool isPrime(uint32_t n) {
  for (uint32_t divisor = 2; divisor * divisor <= n; ++divisor) {
    if (n % divisor == 0) {
      return false;
    }
  }
  return n > 1;
}

// Sends all numbers, and closes the channel behind the last; sends no more once a stop was requested.
void make(const weft::Channel<uint32_t>& numbers, const std::stop_token& token) {
  for (uint32_t n = 0; n < kLast && numbers.send(n, token); ++n) {
  }
  numbers.close();
}

void test(const weft::Channel<uint32_t>& numbers, const weft::Channel<uint32_t>& primes) {
  for (const uint32_t n : numbers) {
    if (isPrime(n)) {
      primes.send(n);
    }
  }
}

// Returns: how many primes came until the channel was closed.
uint32_t collect(const weft::Channel<uint32_t>& primes, std::stop_source& stop) {
  uint32_t count = 0;
  for (bool isOver = false; !isOver;) {
    weft::select(weft::onReceive(primes,
                                 [&](std::optional<uint32_t> prime) {
                                   count += prime ? 1 : 0;
                                   isOver = !prime;
                                 }),
                 weft::onTimeout(std::chrono::minutes(1), [&] {
                   std::fputs("nothing came for a minute: stopping\n", stderr);
                   stop.request_stop();
                 }));
  }
  return count;
}

}  // namespace

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  const weft::Channel<uint32_t> numbers(64), primes(64);
  std::stop_source stop;
  const weft::WaitGroup testers(kTesters);
  weft::schedule([=] { make(numbers, stop.get_token()); });
  for (int i = 0; i < kTesters; ++i) {
    weft::schedule([=] {
      test(numbers, primes);
      if (testers.done()) {
        primes.close();  // the last one out
      }
    });
  }

  const uint32_t count = collect(primes, stop);
  std::printf("%u primes below %u\n", count, kLast);
  return count == kExpected ? 0 : 1;
}
