// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Two ranks that answer each other, with messages of eight bytes and nothing else to do:
//   answers-N   N pairs at a time: the time of a message, from one rank to the other
//   idle-N      processor time of a rank while N wait, and no message comes

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "problem.h"

namespace messages {

struct Message {
  int64_t number = 0;
};

// Returns: the number in a workload's name.
inline int numberOf(const bench::Run& run) {
  return std::atoi(run.workload().c_str() + run.workload().find('-') + 1);
}

// answer(pairs, rounds): each of so many pairs sends from rank 0 to rank 1 and back so often, and checks what
// comes. The fastest of some runs counts. (Both ranks must make as many.)
template <class Answer>
void measureAnswers(bench::Run& run, const Answer& answer) {
  const int pairs = numberOf(run);
  const int rounds = std::max(run.size(50'000, 50) / pairs, 1);
  delay::set({});
  double fastest = 0;
  for (int i = 0; i < run.size(20, 2); ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const int64_t began = bench::nowNs();
    answer(pairs, rounds);
    const auto ns = static_cast<double>(bench::nowNs() - began);
    fastest = i == 0 ? ns : std::min(fastest, ns);
  }
  run.metric("ns_per_message", fastest / (2.0 * pairs * rounds));
}

// Measures the processor time of this rank while what has begun waits. 100 % is one core.
inline void measureIdle(bench::Run& run) {
  const auto window = std::chrono::milliseconds(run.size(3000, 50));
  std::this_thread::sleep_for(window / 10);
  const double cpu = bench::processCpuSeconds();
  const int64_t begin = bench::nowNs();
  std::this_thread::sleep_for(window);
  const double seconds = static_cast<double>(bench::nowNs() - begin) * 1e-9;
  run.metric("cpu_percent", 100 * (bench::processCpuSeconds() - cpu) / seconds);
}

}  // namespace messages
