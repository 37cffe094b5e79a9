// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Heat spreads on a plate whose rows two ranks share, as in examples/mpi/heat.cpp: in each step a rank needs
// a row of the other one. A step takes some milliseconds. The messages take kDelay, by delay.h, or as long as
// they do:
//   step_ms       of a step whose messages take kDelay
//   hidden        which share of the delay does not show: 1 - (step_ms - that without a delay) / kDelay
//   tenth_ms      of a step without a delay, and a tenth of the delay
//   most_ms       of a step without a delay, and nine tenths of the delay
//
// The fastest of many steps counts, since a machine that others use is slow at times. The number of workers
// is that of the threads of a rank that compute.
//
// A program starts its ranks by itself, by mpiexec(1).

#pragma once

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "../common/harness.h"
#include "delay.h"

namespace heat {

constexpr int kRanks = 2;
constexpr std::chrono::microseconds kDelay(500);

inline int rank() {
  int found = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &found);
  return found;
}

// The rows of a rank, which have the numbers from 0 here, and a row on either side: one of the edge, and one
// of the other rank, the neighbour.
class Strip {
 public:
  Strip(size_t width, int first, int count)
      : width_(width), count_(count), now_(width * static_cast<size_t>(count + 2)) {
    for (int y = -1; y <= count; ++y) {
      for (size_t x = 0; x < width; ++x) {
        row(y)[x] = static_cast<float>((x * 7 + static_cast<size_t>(first + y + 1) * 13) % 32) / 32;
      }
    }
    next_ = now_;
  }

  size_t width() const { return width_; }
  int count() const { return count_; }
  std::span<float> row(int y) { return std::span(now_).subspan(width_ * static_cast<size_t>(y + 1), width_); }
  // The row beside the neighbour, its row that is received, and the inner rows, which need none of its rows.
  int border() const { return rank() == 0 ? count_ - 1 : 0; }
  std::span<float> received() { return row(rank() == 0 ? count_ : -1); }
  int firstInner() const { return rank() == 0 ? 0 : 1; }
  int endInner() const { return rank() == 0 ? count_ - 1 : count_; }

  // Heat spreads less well where it is hot.
  void compute(int y) {
    const float* const above = row(y - 1).data();
    const float* const here = row(y).data();
    const float* const below = row(y + 1).data();
    float* const next = next_.data() + width_ * static_cast<size_t>(y + 1);
    for (size_t x = 1; x + 1 < width_; ++x) {
      const float rate = 0.2f / std::sqrt(1 + here[x] * here[x]);
      next[x] = here[x] + rate * (above[x] + below[x] + here[x - 1] + here[x + 1] - 4 * here[x]);
    }
  }
  void computeInner() {
    for (int y = firstInner(); y < endInner(); ++y) {
      compute(y);
    }
  }
  // The step ends: all rows are computed.
  void swap() { now_.swap(next_); }

 private:
  size_t width_;
  int count_;
  std::vector<float> now_;
  std::vector<float> next_;
};

// Posts the receive of the neighbour's row and the send of one's own.
inline std::array<MPI_Request, 2> post(Strip& strip) {
  const int width = static_cast<int>(strip.width());
  const int neighbour = 1 - rank();
  std::array<MPI_Request, 2> requests{};
  MPI_Irecv(strip.received().data(), width, MPI_FLOAT, neighbour, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(strip.row(strip.border()).data(), width, MPI_FLOAT, neighbour, 0, MPI_COMM_WORLD, &requests[1]);
  return requests;
}

// By MPI's blocking call.
inline void exchange(Strip& strip) {
  const int width = static_cast<int>(strip.width());
  const int neighbour = 1 - rank();
  MPI_Sendrecv(strip.row(strip.border()).data(), width, MPI_FLOAT, neighbour, 0, strip.received().data(),
               width, MPI_FLOAT, neighbour, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Ends the process unless messages take the delay, and steps compute what a plate of one process has.
template <class Step>
void checkSteps(const Step& step) {
  constexpr int kRows = 9;
  constexpr int kSteps = 5;
  constexpr size_t kWidth = 33;
  delay::set(kDelay);
  Strip strip(kWidth, kRows * rank(), kRows);
  Strip whole(kWidth, 0, kRows * kRanks);
  const int64_t began = bench::nowNs();
  for (int i = 0; i < kSteps; ++i) {
    step(strip);
    for (int y = 0; y < whole.count(); ++y) {
      whole.compute(y);
    }
    whole.swap();
  }
  bench::check(std::chrono::nanoseconds(bench::nowNs() - began) >= kSteps * kDelay, "the delay of messages");
  for (int y = 0; y < kRows; ++y) {
    bench::check(std::memcmp(strip.row(y).data(), whole.row(kRows * rank() + y).data(),
                             strip.row(y).size_bytes()) == 0,
                 "the plate");
  }
}

// Returns: the time of a step, of the slower rank, in milliseconds, with messages that take `least`.
template <class Step>
double stepMs(Strip& strip, std::chrono::microseconds least, const Step& step) {
  delay::set(least);
  MPI_Barrier(MPI_COMM_WORLD);
  const int64_t began = bench::nowNs();
  step(strip);
  double ms = static_cast<double>(bench::nowNs() - began) / 1e6;
  MPI_Allreduce(MPI_IN_PLACE, &ms, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return ms;
}

// `step(strip)` exchanges the rows, computes all of the strip's, and calls swap().
template <class Step>
void measure(bench::Run& run, const Step& step) {
  checkSteps(step);
  const int numRows = run.size(1280, 16);
  Strip strip(1024, numRows * rank(), numRows);
  double plain = stepMs(strip, {}, step);
  double delayed = stepMs(strip, kDelay, step);
  for (int i = 0; i < run.size(600, 1); ++i) {
    plain = std::min(plain, stepMs(strip, {}, step));
    delayed = std::min(delayed, stepMs(strip, kDelay, step));
  }
  const double delayMs = std::chrono::duration<double, std::milli>(kDelay).count();
  run.metric("step_ms", delayed);
  run.metric("hidden", 1 - (delayed - plain) / delayMs);
  run.metric("tenth_ms", plain + delayMs / 10);
  run.metric("most_ms", plain + delayMs * 9 / 10);
}

// Becomes mpiexec, which runs this program as ranks.
inline int startRanks(int argc, char** argv) {
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);  // in a container
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
  setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
  const std::string numRanks = std::to_string(kRanks);
  std::vector<const char*> command{WEFT_BENCH_MPIEXEC, "-n", numRanks.c_str(), argv[0], "--rank"};
  command.insert(command.end(), argv + 1, argv + argc);
  command.push_back(nullptr);
  execv(command[0], const_cast<char**>(command.data()));
  std::perror(command[0]);
  return 1;
}

// The whole of a program's main().
inline int runMain(int argc, char** argv, const char* library,
                   const std::vector<bench::Workload>& workloads) {
  const bool isRank = argc > 1 && std::strcmp(argv[1], "--rank") == 0;
  if (!isRank) {
    return bench::parse(argc, argv).list ? bench::runMain(argc, argv, "mpi", library, workloads)
                                         : startRanks(argc, argv);
  }
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  bench::check(level == MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE");
  if (rank() != 0) {
    bench::check(std::freopen("/dev/null", "w", stdout) != nullptr, "the output of the other rank");
  }
  const int status = bench::runMain(argc - 1, argv + 1, "mpi", library, workloads);
  MPI_Finalize();
  return status;
}

}  // namespace heat
