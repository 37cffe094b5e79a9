// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "perturb.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "weft/detail/port/processor.h"

// Everything here is of ::std: nothing waits while it waits.
namespace weft::stress {
namespace {

constexpr uint64_t mix(uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Returns: the seed, which it prints, or 0.
uint64_t chooseSeed() {
  uint64_t seed = 0;
  if (const char* text = ::std::getenv("WEFT_STRESS_SEED")) {
    seed = ::std::strtoull(text, nullptr, 10);
  } else {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    seed = mix(static_cast<uint64_t>(now.tv_nsec) + static_cast<uint64_t>(getpid())) % 1'000'000 + 1;
  }
  char line[80];
  const int length = ::std::snprintf(line, sizeof line, "weft stress: WEFT_STRESS_SEED=%llu\n",
                                     static_cast<unsigned long long>(seed));
  if (seed != 0 && write(STDERR_FILENO, line, static_cast<size_t>(length)) < 0) {
    return seed;  // nobody listens
  }
  return seed;
}

uint64_t seed() {
  static const uint64_t chosen = chooseSeed();
  return chosen;
}

// How often each place has waited, and how many times it is passed until it waits again. A row belongs to one
// thread, unless there are very many. relaxed, throughout: off by one does not matter.
constexpr uint32_t kRows = 64, kPlaces = 2048;
constinit ::std::atomic<uint32_t> places[kRows][kPlaces] = {};
constinit ::std::atomic<uint32_t> numThreads{0};

constinit thread_local uint64_t random = 0;  // 0 before the thread's first draw
constinit thread_local uint32_t row = 0;

void beginThread() {
  const int error = errno;
  const uint32_t number = numThreads.fetch_add(1, ::std::memory_order_relaxed);
  row = number % kRows;
  random = mix(seed() + (uint64_t{number} << 32)) | 1;
  // A process with thousands of threads does not begin anew with each.
  if (number >= kRows && random % 32 == 1) {
    for (auto& place : places[row]) {
      place.store(0, ::std::memory_order_relaxed);
    }
  }
  if (seed() != 0) {
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);  // else no sleep is shorter than 50 us
  }
  errno = error;
}

uint64_t draw() {
  if (random == 0) {
    beginThread();
  }
  random ^= random << 13;
  random ^= random >> 7;
  random ^= random << 17;
  return random >> 8;
}

void sleepFor(uint64_t microseconds) {
  const int error = errno;
  const timespec time{0, static_cast<long>(microseconds * 1'000)};
  nanosleep(&time, nullptr);
  errno = error;
}

void spin(uint64_t rounds) {
  for (; rounds != 0; --rounds) {
    detail::port::pause();
  }
}

void giveAway() {
  const int error = errno;
  sched_yield();
  errno = error;
}

// The seeds differ in how they wait. On a busy machine a thread that sleeps, or gives its processor away, may
// wait for many milliseconds: hence most only spin.
void delay() {
  const uint64_t kind = draw() % 64;
  const uint64_t numHeldBack = seed() % 3 == 0 ? 3 : 1;
  const uint64_t numSleeps = seed() % 2 == 0 ? 4 : 12;
  if (kind < numHeldBack) {
    holdBack();
  } else if (kind < numHeldBack + numSleeps) {
    sleepFor(draw() % 20);
  } else if (kind == 63) {
    giveAway();
  } else {
    spin(draw() % 16 == 0 ? draw() % 2'048 : draw() % 256);
  }
}

}  // namespace

void point() noexcept {
  if (random == 0) [[unlikely]] {
    beginThread();
  }
  // One place in each run, wherever the program is loaded.
  const uintptr_t address =
      reinterpret_cast<uintptr_t>(__builtin_return_address(0)) - reinterpret_cast<uintptr_t>(&point);
  ::std::atomic<uint32_t>& place = places[row][(address * 0x9e3779b97f4a7c15u) >> 53];
  const uint32_t state = place.load(::std::memory_order_relaxed);
  if ((state & 0xffff) != 0) [[likely]] {
    place.store(state - 1, ::std::memory_order_relaxed);
    return;
  }
  constexpr uint32_t kMostTimes = 15;
  uint32_t times = state >> 16;
  times = times < kMostTimes ? times + 1 : kMostTimes;
  const auto pause = static_cast<uint32_t>(draw() & ((uint32_t{1} << times) - 1));
  place.store((times << 16) | pause, ::std::memory_order_relaxed);
  if (seed() != 0) {
    delay();
  }
}

bool chance(uint64_t n) noexcept { return draw() % n == 0 && seed() != 0; }

uint64_t choose(uint64_t usual, uint64_t n) noexcept { return seed() != 0 ? draw() % n : usual; }

void holdBack() noexcept { sleepFor(draw() % 16 == 0 ? draw() % 2'000 : draw() % 200); }

}  // namespace weft::stress
