// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What it costs to wait for something that can only be asked whether it is done. The device is a fake: each
// request has a time from which on it is done, and a test reads the clock.
//
//   idle-N         processor time while N wait, and no request is done
//   late-T         how late who waits goes on after a request that takes T microseconds
//   late-T-busy    the same beside tasks, or threads, that compute on each worker all the time
//   rate-N         N wait, each for one request after the other, of 20 microseconds each
//
// A workload that ends in "-nap" is that of a thread that sleeps between its rounds of tests.

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../common/harness.h"

namespace poll_source {

// A request to the device. One thread starts it, others test it.
class Request {
 public:
  void start(int64_t ns) { due_.store(bench::nowNs() + ns, std::memory_order_relaxed); }
  void setDone() { due_.store(0, std::memory_order_relaxed); }
  bool isDone() const { return bench::nowNs() >= due_.load(std::memory_order_relaxed); }
  int64_t due() const { return due_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> due_{std::numeric_limits<int64_t>::max()};
};

// Returns: the number in a workload's name.
inline int numberOf(const bench::Run& run) {
  return std::atoi(run.workload().c_str() + run.workload().find('-') + 1);
}

inline bool isNamed(const bench::Run& run, const char* what) {
  return run.workload().find(what) != std::string::npos;
}

// Measures the processor time while all requests are waited for, which has begun, and then ends them. 100 %
// is one core.
inline void measureIdle(bench::Run& run, std::vector<Request>& requests) {
  const auto window = std::chrono::milliseconds(run.size(3000, 50));
  std::this_thread::sleep_for(window / 10);
  const double cpu = bench::processCpuSeconds();
  const int64_t begin = bench::nowNs();
  std::this_thread::sleep_for(window);
  const double seconds = static_cast<double>(bench::nowNs() - begin) * 1e-9;
  run.metric("cpu_percent", 100 * (bench::processCpuSeconds() - cpu) / seconds);
  for (Request& request : requests) {
    request.setDone();
  }
}

// `wait(request)` waits until the request is done.
template <class Wait>
void measureLateness(bench::Run& run, Wait&& wait) {
  const int64_t ns = int64_t{1000} * numberOf(run);
  const int samples = run.size(ns >= 10'000'000 ? 200 : 2000, 10);
  std::vector<double> times;
  for (int i = 0; i < samples; i++) {
    Request request;
    request.start(ns);
    wait(request);
    const int64_t late = bench::nowNs() - request.due();
    bench::check(late >= 0, "poll_source: the request is not done");
    times.push_back(static_cast<double>(late) * 1e-3);
  }
  run.metric("p50_us", bench::percentile(times, 0.5));
  run.metric("p99_us", bench::percentile(std::move(times), 0.99));
}

// `runAll(waiters, body)` calls body(wait) on as many fibers or threads as there are waiters, all at once.
template <class RunAll>
void measureRate(bench::Run& run, RunAll&& runAll) {
  constexpr int64_t kRequestNs = 20'000;
  const int waiters = numberOf(run);
  const int64_t each = std::max<int64_t>(run.size(waiters == 1 ? 20'000 : 200'000, 2 * waiters) / waiters, 1);
  std::atomic<int64_t> done{0};
  const auto body = [&](auto&& wait) {
    for (int64_t i = 0; i < each; i++) {
      Request request;
      request.start(kRequestNs);
      wait(request);
      bench::check(request.isDone(), "poll_source: the request is not done");
    }
    done.fetch_add(each);
  };
  int64_t rounds = 0;
  const double ns = run.medianNs([&] {
    runAll(waiters, body);
    rounds++;
  });
  bench::check(done.load() == rounds * each * waiters, "poll_source: the number of requests");
  run.metric("ns_per_request", ns / static_cast<double>(each * waiters));
}

}  // namespace poll_source
