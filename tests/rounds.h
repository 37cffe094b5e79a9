// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <semaphore.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include <weft/detail/base/spin_lock.h>
#include <weft/detail/base/sync.h>

#include "with_scheduler.h"

// What tests share that run the same race again and again.
namespace weft::tests {

// Counts the rounds of a race: as many as are asked for, or fewer where they take too long together.
//
// This loosens no check. What a test expects of its rounds must hold after any number of them, and a round
// that shows a fault fails the test whenever it comes. Further rounds only give the fault more chances. A
// machine that is crowded takes a hundred times as long for a round that goes to another thread and back, and
// would run into the time-out of ctest. It gives fewer chances instead, but never less than kFewest.
class Rounds {
 public:
  static constexpr int kFewest = 20;

  // `each` is what a round may take on the average: some ten times what it takes on a machine that has
  // nothing else to do.
  explicit Rounds(int most, std::chrono::microseconds each = kEach)
      : most_(most), end_(std::chrono::steady_clock::now() + most * each) {}

  // Returns: whether there is another round, and counts it.
  bool next() {
    if (count_ == most_ || (count_ >= kFewest && std::chrono::steady_clock::now() >= end_)) {
      return false;
    }
    ++count_;
    return true;
  }

  // Returns: how many have begun.
  int count() const { return count_; }

 private:
  static constexpr std::chrono::microseconds kEach{scaled(100, 1000)};

  int most_;
  int count_ = 0;
  std::chrono::steady_clock::time_point end_;
};

// For a loop that looks until another thread has done something: lets that thread have the processor. One
// that only yields uses up its own time slice, or lets every other program use up theirs, at each look.
class Patience {
 public:
  void wait() {
    if (numLooks_ < kLooks) {
      ++numLooks_;
      detail::StdSync::pause();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

 private:
  static constexpr int kLooks = 1000;
  int numLooks_ = 0;
};

// Tokens that threads give to a thread which waits outside of weft.
//
// Races need the taker in two states, between which take() alternates. A taker that looks and yields until
// the token is there has used up its time slice: whomever it wakes then may run before it. A taker that
// blocks has a fresh one. It costs less on a crowded machine, where each sched_yield() lets every other
// program use up its time slice.
class Tokens {
 public:
  Tokens() { sem_init(&semaphore_, 0, 0); }
  ~Tokens() { sem_destroy(&semaphore_); }
  Tokens(const Tokens&) = delete;
  Tokens& operator=(const Tokens&) = delete;

  void give() { sem_post(&semaphore_); }

  // On one thread at a time.
  void take() {
    mayBlock_ = !mayBlock_;
    for (uint32_t looks = 0; !mayBlock_ || looks < 1000; ++looks) {
      if (sem_trywait(&semaphore_) == 0) {
        return;
      }
      if (mayBlock_) {
        detail::StdSync::pause();
      } else {
        uint32_t round = looks;
        detail::relax(round);
      }
    }
    while (sem_wait(&semaphore_) != 0) {  // a signal has come
    }
  }

 private:
  sem_t semaphore_;
  bool mayBlock_ = false;
};

}  // namespace weft::tests
