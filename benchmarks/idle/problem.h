// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// How much processor time does a program take that has nothing to do, and one that schedules an empty task
// 100 or 1,000 times a second? Both workers have run tasks before. The time is that of all threads, the
// pacing thread's included; 100 % is one core.

#pragma once

#include <time.h>

#include <cstdint>

#include "../common/harness.h"

namespace idle {

inline int64_t windowNs(const bench::Run& run) { return run.size<int64_t>(3000000000, 100000000); }

inline void sleepUntil(int64_t steadyNs) {
  timespec t{static_cast<time_t>(steadyNs / 1000000000), static_cast<long>(steadyNs % 1000000000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) != 0) {
  }
}

inline int rateOf(const bench::Run& run) {
  if (run.workload() == "idle") {
    return 0;
  }
  return run.workload() == "rate-100" ? 100 : 1000;
}

// Measures `kick()`, which schedules one empty task, at the workload's rate. Returns: the number of calls.
template <class F>
int64_t measure(bench::Run& run, F&& kick) {
  int rate = rateOf(run);
  sleepUntil(bench::nowNs() + windowNs(run) / 10);
  double cpu = bench::processCpuSeconds();
  int64_t begin = bench::nowNs();
  int64_t end = begin + windowNs(run);
  int64_t kicks = 0;
  if (rate == 0) {
    sleepUntil(end);
  } else {
    for (int64_t next = begin; next < end; next += 1000000000 / rate) {
      sleepUntil(next);
      kick();
      kicks++;
    }
  }
  double seconds = static_cast<double>(bench::nowNs() - begin) * 1e-9;
  cpu = bench::processCpuSeconds() - cpu;
  run.metric("cpu_percent", 100 * cpu / seconds);
  if (kicks > 0) {
    run.metric("us_per_task", 1e6 * cpu / static_cast<double>(kicks));
  }
  return kicks;
}

}  // namespace idle
