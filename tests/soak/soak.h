// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <utility>

#include <weft/weft.h>

// Operations that use all of weft at the same time, for as long as one likes. Each gives a number, which a
// plain loop gives too.
namespace weft::soak {

constexpr uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The sum of what `count` values that begin at `key` become.
template <class F>
uint64_t sumOf(int count, uint64_t key, const F& become) {
  uint64_t sum = 0;
  for (int i = 0; i < count; ++i) {
    sum += become(mix(key + static_cast<uint64_t>(i)));
  }
  return sum;
}
inline uint64_t sumOf(int count, uint64_t key) {
  return sumOf(count, key, [](uint64_t value) { return value; });
}

// Two that are made alike give the same numbers.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  // Returns: a number in [low, high].
  int between(int low, int high) {
    return low + static_cast<int>(next() % static_cast<uint64_t>(high - low + 1));
  }

 private:
  uint64_t state_;
};

// What the operations share.
struct Ground {
  Scheduler& scheduler;
  fair::TaskScheduler& fairScheduler;

  // Schedules a task where the caller is bound, or else on the shared scheduler.
  template <class F>
  void spawn(F&& function) const {
    if (Scheduler::get() != nullptr) {
      schedule(std::forward<F>(function));
    } else {
      scheduler.enqueue(Task(std::forward<F>(function)));
    }
  }

  // Calls function() on a thread of its own, to which nothing is bound, and waits.
  template <class F>
  void callOnThread(const F& function) const {
    const Event ended;
    std::thread thread([&] {
      function();
      ended.signal();
    });
    ended.wait();
    thread.join();
  }

  // Runs function(i) for each i below `count` as a task, and waits.
  template <class F>
  void callTasks(int count, const F& function) const {
    const WaitGroup left(static_cast<unsigned>(count));
    for (int i = 0; i < count; ++i) {
      spawn([&function, i, left] {
        function(i);
        left.done();
      });
    }
    left.wait();
  }
};

// Both are given equal random numbers.
struct Operation {
  const char* name;
  uint64_t (*run)(const Ground& ground, Random random);
  uint64_t (*expected)(Random random);
};

std::span<const Operation> waitingOperations();
std::span<const Operation> structureOperations();
std::span<const Operation> schedulerOperations();

// Ends the program with the message unless `condition` holds.
[[gnu::format(printf, 2, 3)]] void require(bool condition, const char* format, ...);

}  // namespace weft::soak
