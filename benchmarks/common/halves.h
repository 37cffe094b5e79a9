// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What two workers can reach at all on this machine: two threads on two processors, which are awake when the
// work comes and share it by halves. Two processors of a virtual machine may be less than two.

#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

// The processors that this process may use.
inline std::vector<int> usableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE; i++) {
    if (CPU_ISSET(i, &set)) {
      processors.push_back(i);
    }
  }
  return processors;
}

inline void pinTo(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

class Halves {
 public:
  // Requires: there are two processors.
  explicit Halves(std::function<void(int)> half)
      : half_(std::move(half)), processors_(usableProcessors()), other_([this] { runOther(); }) {
    pinTo(processors_[0]);
  }
  ~Halves() {
    isOver_ = true;
    begun_.fetch_add(1, std::memory_order_release);
    other_.join();
  }
  Halves(const Halves&) = delete;
  Halves& operator=(const Halves&) = delete;

  // Calls half(0) on this thread and half(1) on the other one.
  void operator()() {
    const int round = begun_.fetch_add(1, std::memory_order_release) + 1;
    half_(0);
    while (ended_.load(std::memory_order_acquire) != round) {
    }
  }

 private:
  void runOther() {
    pinTo(processors_[1]);
    for (int round = 1;; round++) {
      while (begun_.load(std::memory_order_acquire) != round) {
      }
      if (isOver_) {
        return;
      }
      half_(1);
      ended_.store(round, std::memory_order_release);
    }
  }

  const std::function<void(int)> half_;
  const std::vector<int> processors_;
  bool isOver_ = false;
  alignas(64) std::atomic<int> begun_{0};
  alignas(64) std::atomic<int> ended_{0};
  std::thread other_;
};

}  // namespace bench
