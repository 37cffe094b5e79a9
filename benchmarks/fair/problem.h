// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What does it cost to run a small piece of work that comes back again and again? By workload:
//
//   nano-1, nano-10   10 M tasks that run once, 5 M that run ten times, posted by one outside thread; a step
//                     adds to its task's counter and to a shared one
//   micro             1 M tasks that run once, for some 1.4 us
//   micro-1           500,000 tasks that run once, for 400 multiplications in a row, about 0.5 us
//   heavy-20          30,000 tasks that run twenty times, for 3,000 multiplications, about 4 us
//   yield-one         one task that posts itself 500,000 times
//   yield-thousand    a thousand tasks that each post themselves 1,000 times
//
// and, where the library has wakeups, signals and deadlines:
//
//   heavy             100,000 tasks, ten steps of 7 us each, with wakeups, signals and delays in between
//   pingpong          two tasks that signal each other
//   fanout            1,000 children, the last of which signals their parent
//   far-deadlines     500,000 tasks that wait for a far deadline and are woken in the reverse order
//   lateness-idle     of 100,000 random deadlines, with nothing else to do
//   lateness-load     the same beside steps of 10 us on all threads
//   timer-batch       of a timer of 10 ms beside a batch of steps that takes longer
//   parked            memory of a task that waits
//   idle              processor time of a scheduler without work
//   queue-busy        one producer and as many consumers as there are workers, a million items
//   queue-sleep       the same with consumers that sleep when it is empty
//   front             as many senders as there are workers to one receiver
//   signal            a round trip between two threads
//
// A Lib has a Task, `setBody(task, f)` where f takes a Task*, and post(task).

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "../common/harness.h"

namespace fair {

// Keeps the thread busy for `ns` nanoseconds, by looking at the clock.
inline void work(int64_t ns) {
  for (const int64_t end = bench::nowNs() + ns; bench::nowNs() < end;) {
  }
}

// Keeps the processor busy for `count` multiplications, each of which needs the one before. Time that the
// thread does not run is not work, as it is in work(): so more threads than processors do no less of it.
inline void multiply(int64_t count) {
  uint64_t product = 1;
  for (int64_t i = 0; i < count; i++) {
    product *= 0x9e3779b97f4a7c15;
    asm volatile("" : "+r"(product));
  }
}

// Counts steps, and lets one thread wait for the last.
class Steps {
 public:
  explicit Steps(int64_t total) : total_(total) {}
  void count() {
    if (count_.fetch_add(1, std::memory_order_relaxed) + 1 == total_) {
      finished_.store(true, std::memory_order_release);
      finished_.notify_one();
    }
  }
  void wait() { finished_.wait(false, std::memory_order_acquire); }
  int64_t numCounted() const { return count_.load(std::memory_order_relaxed); }

 private:
  const int64_t total_;
  std::atomic<int64_t> count_{0};
  std::atomic<bool> finished_{false};
};

template <class Lib>
struct Counted {
  typename Lib::Task task;
  int64_t own = 0;
  int left = 0;
};

// `tasks` tasks run `runs` times each. Each step calls `body`.
template <class Lib, class Body>
void measureSteps(bench::Run& run, int64_t tasks, int runs, Body body) {
  Lib lib(run.workers());
  std::unique_ptr<Steps> steps;
  std::vector<Counted<Lib>> all(static_cast<size_t>(tasks));
  for (Counted<Lib>& each : all) {
    Lib::setBody(each.task, [&lib, &steps, &each, body](typename Lib::Task* self) {
      each.own++;
      body();
      // Nothing of a task may be touched once it is posted again.
      Steps& counted = *steps;
      if (--each.left > 0) {
        lib.post(self);
      }
      counted.count();
    });
  }
  int64_t rounds = 0;
  const double total = run.medianNs([&] {
    rounds++;
    steps = std::make_unique<Steps>(tasks * runs);
    for (Counted<Lib>& each : all) {
      each.left = runs;
      lib.post(&each.task);
    }
    steps->wait();
    lib.waitEmpty();
    bench::check(steps->numCounted() == tasks * runs, "fair: steps");
  });
  for (Counted<Lib>& each : all) {
    bench::check(each.own == rounds * runs, "fair: each task's steps");
  }
  run.metric("ns_per_step", total / static_cast<double>(tasks * runs));
  run.metric("million_per_s", 1e3 * static_cast<double>(tasks * runs) / total);
}

template <class Lib>
void nanoOnce(bench::Run& run) {
  measureSteps<Lib>(run, run.size<int64_t>(10'000'000, 5'000), 1, [] {});
}
template <class Lib>
void nanoTen(bench::Run& run) {
  measureSteps<Lib>(run, run.size<int64_t>(5'000'000, 1'000), 10, [] {});
}
template <class Lib>
void micro(bench::Run& run) {
  measureSteps<Lib>(run, run.size<int64_t>(1'000'000, 1'000), 1, [] { work(1'400); });
}
template <class Lib>
void microOnce(bench::Run& run) {
  measureSteps<Lib>(run, run.size<int64_t>(500'000, 1'000), 1, [] { multiply(400); });
}
template <class Lib>
void heavyTwenty(bench::Run& run) {
  measureSteps<Lib>(run, run.size<int64_t>(30'000, 50), 20, [] { multiply(3'000); });
}
template <class Lib>
void yieldOne(bench::Run& run) {
  measureSteps<Lib>(run, 1, run.size(500'000, 1'000), [] {});
}
template <class Lib>
void yieldThousand(bench::Run& run) {
  measureSteps<Lib>(run, 1'000, run.size(1'000, 5), [] {});
}

// Reports what was late by how much, and that nothing was early.
inline void reportLateness(bench::Run& run, const std::vector<double>& ns) {
  run.metric("p50_us", bench::percentile(ns, 0.5) / 1e3);
  run.metric("p99_us", bench::percentile(ns, 0.99) / 1e3);
  run.metric("max_us", bench::percentile(ns, 1) / 1e3);
  bench::check(bench::percentile(ns, 0) >= 0, "fair: a deadline was early");
}

}  // namespace fair
