// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Requests, one after the other, as a renderer or a server makes them: a host thread asks for a burst of
// small tasks, waits until all have run, and does something else for a while. With two hand-offs a thread
// lies between the host and the tasks, as the thread of a device's queue does.
//
// A workload is named gap-G/burst-BxL/hops-H: microseconds between requests, tasks in one, microseconds that
// a task computes, hand-offs. The processor time is that of all threads, less what the host spends in gaps.
//
// Where the name ends in /native, the thread in between waits for the host, and the host for that thread, by
// a mutex and a std::condition_variable, as a program does that knows nothing of the library. A request then
// takes a few microseconds, unless threads that search keep the processors from those that are to run. The
// share of slow blocks shows how often that lasts: blocks of 200 requests that take more than three times as
// long as the median one.

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "../common/harness.h"
#include "../common/work.h"

namespace request {

struct Shape {
  int gapUs = 0;
  int burst = 1;
  int taskUs = 1;
  int hops = 1;
  bool isNative = false;

  static Shape of(const bench::Run& run) {
    Shape shape;
    const bool isRead = std::sscanf(run.workload().c_str(), "gap-%d/burst-%dx%d/hops-%d", &shape.gapUs,
                                    &shape.burst, &shape.taskUs, &shape.hops) == 4;
    bench::check(isRead, "name of the workload");
    shape.isNative = run.workload().ends_with("/native");
    return shape;
  }
};

// One thread waits for what another tells it.
class Gate {
 public:
  void signal() {
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      isOpen_ = true;
    }
    opened_.notify_one();
  }

  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    opened_.wait(lock, [this] { return isOpen_; });
    isOpen_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool isOpen_ = false;
};

// The host is busy in short gaps, and sleeps in long ones.
inline void pass(int gapUs) {
  constexpr int kShort = 200;
  if (gapUs < kShort) {
    const int64_t end = bench::nowNs() + 1000 * gapUs;
    while (bench::nowNs() < end) {
    }
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(gapUs));
  }
}

// Returns: how many of a hundred blocks of requests, which took `times`, are slow.
inline double percentSlow(const std::vector<double>& times) {
  constexpr size_t kBlock = 200;
  std::vector<double> blocks;
  for (size_t i = 0; i + kBlock <= times.size(); i += kBlock) {
    blocks.push_back(std::accumulate(&times[i], &times[i] + kBlock, 0.0));
  }
  const double slow = blocks.empty() ? 0 : 3 * bench::median(blocks);
  const auto numSlow = std::count_if(blocks.begin(), blocks.end(), [=](double us) { return us > slow; });
  return blocks.empty() ? 0 : 100.0 * static_cast<double>(numSlow) / static_cast<double>(blocks.size());
}

// `ask()` has the burst run, and returns when it has.
template <class F>
void measure(bench::Run& run, const Shape& shape, F&& ask) {
  const int usual = shape.isNative ? 60000 : 4000;
  const int count = run.size(shape.gapUs < 200 ? usual : 400000 / shape.gapUs, 20);
  std::vector<double> times;
  double cpu = 0;
  double inGaps = 0;
  for (int i = -count / 4; i < count; i++) {
    if (i == 0) {
      times.clear();
      inGaps = 0;
      cpu = bench::processCpuSeconds();
    }
    const double before = bench::threadCpuSeconds();
    pass(shape.gapUs);
    inGaps += bench::threadCpuSeconds() - before;
    const int64_t begin = bench::nowNs();
    ask();
    times.push_back(1e-3 * static_cast<double>(bench::nowNs() - begin));
  }
  cpu = bench::processCpuSeconds() - cpu - inGaps;
  run.metric("p50_us", bench::percentile(times, 0.5));
  run.metric("p99_us", bench::percentile(times, 0.99));
  run.metric("cpu_us", 1e6 * cpu / count);
  if (shape.isNative) {
    run.metric("slow_percent", percentSlow(times));
  }
}

// Measures `runBurst()`, called by the host itself or by a thread between that and the tasks. `begin()` and
// `end()` are called on the thread that calls it.
template <class SomeGate = Gate, class Begin, class End, class F>
void measureHops(bench::Run& run, const Shape& shape, Begin&& begin, End&& end, F&& runBurst) {
  if (shape.hops == 1) {
    begin();
    measure(run, shape, runBurst);
    end();
    return;
  }
  SomeGate asked, done;
  std::atomic<bool> isOver{false};
  std::thread queue([&] {
    begin();
    for (asked.wait(); !isOver.load(); asked.wait()) {
      runBurst();
      done.signal();
    }
    end();
  });
  measure(run, shape, [&] {
    asked.signal();
    done.wait();
  });
  isOver.store(true);
  asked.signal();
  queue.join();
}

// All workloads, each run by `run`.
inline std::vector<bench::Workload> workloads(void (*run)(bench::Run&)) {
  static std::vector<std::string> names;
  struct Kind {
    const char* name;
    std::vector<int> workers;
  };
  const Kind kinds[] = {{"burst-16x5/hops-2", {2}},
                        {"burst-16x2/hops-1", {2, 4}},
                        {"burst-2x10/hops-2", {2}},
                        {"burst-1x20/hops-1", {1, 2}}};
  std::vector<bench::Workload> all;
  names.reserve(64);
  for (const Kind& kind : kinds) {
    for (const int gap : {0, 10, 20, 50, 100, 200, 500, 1000}) {
      names.push_back("gap-" + std::to_string(gap) + "/" + kind.name);
      all.push_back({names.back().c_str(), kind.workers, run});
    }
  }
  for (const int burst : {2, 4, 8, 16}) {
    names.push_back("gap-0/burst-" + std::to_string(burst) + "x0/hops-2/native");
    all.push_back({names.back().c_str(), {2}, run});
  }
  return all;
}

}  // namespace request
