// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// From schedule() on a thread outside the scheduler until the task runs, all workers parked: p50, p90 and
// p99. The scheduling thread then watches for the start without sleeping. And how late a wait of 100
// microseconds ends that only its timer ends. And the first beside one thread per processor that computes:
// p99.99 too.
//
// A thread that is woken on the processor of its waker starts ten times sooner than one on a processor that
// sleeps, and the system chooses. So the first is measured with the woken threads on other processors.

#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "../common/harness.h"
#include "../common/hogs.h"

namespace latency {

// `wake(started)` must lead to `started` being set to the time, by another thread.
inline void report(bench::Run& run, const std::vector<double>& times) {
  run.metric("p50_ns", bench::percentile(times, 0.5));
  run.metric("p90_ns", bench::percentile(times, 0.9));
  run.metric("p99_ns", bench::percentile(times, 0.99));
}

// Returns: the times of `samples` wakes in nanoseconds. Calls rest() before each, and watch() until the start
// is seen.
template <class F, class Rest, class Watch>
std::vector<double> timesOf(int samples, F& wake, Rest&& rest, Watch&& watch) {
  std::vector<double> times;
  for (int i = 0; i < samples; i++) {
    rest();
    std::atomic<int64_t> started{0};
    const int64_t begin = bench::nowNs();
    wake(started);
    int64_t now = 0;
    while ((now = started.load(std::memory_order_acquire)) == 0) {
      watch();
    }
    bench::check(now >= begin, "latency");
    times.push_back(static_cast<double>(now - begin));
  }
  return times;
}

// Keeps the threads that are started while it lives off the first processor of this process, unless it is the
// only one. The thread that made it moves there by moveToFirst(), and back to all when the object ends.
class Apart {
 public:
  Apart() {
    sched_getaffinity(0, sizeof all_, &all_);
    int first = 0;
    while (!CPU_ISSET(first, &all_)) {
      first++;
    }
    CPU_ZERO(&first_);
    CPU_SET(first, &first_);
    cpu_set_t others = all_;
    CPU_CLR(first, &others);
    if (CPU_COUNT(&others) == 0) {
      others = first_;
    }
    sched_setaffinity(0, sizeof others, &others);
  }
  ~Apart() { sched_setaffinity(0, sizeof all_, &all_); }
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;

  void moveToFirst() { sched_setaffinity(0, sizeof first_, &first_); }

 private:
  cpu_set_t all_;
  cpu_set_t first_;
};

template <class F>
void measure(bench::Run& run, Apart& apart, F&& wake) {
  const auto rest = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  timesOf(10, wake, rest, [] { std::this_thread::yield(); });  // until then all threads have been started
  apart.moveToFirst();
  report(run, timesOf(run.size(1500, 20), wake, rest, [] {}));
}

// The same beside one thread per processor that computes. The scheduling thread gives its processor away
// while it watches.
template <class F>
void measureBesideHogs(bench::Run& run, F&& wake) {
  const bench::Hogs hogs;
  const auto times = timesOf(run.size(20000, 20), wake, [] {}, [] { std::this_thread::yield(); });
  report(run, times);
  run.metric("p99.99_ns", bench::percentile(times, 0.9999));
}

// `wait(duration)` must return after the duration.
template <class F>
void measureLateness(bench::Run& run, F&& wait) {
  constexpr std::chrono::microseconds kWait(100);
  int samples = run.size(1500, 20);
  std::vector<double> times;
  for (int i = 0; i < samples; i++) {
    int64_t begin = bench::nowNs();
    wait(kWait);
    int64_t late = bench::nowNs() - begin - std::chrono::nanoseconds(kWait).count();
    bench::check(late >= 0, "latency");
    times.push_back(static_cast<double>(late));
  }
  report(run, times);
}

}  // namespace latency
