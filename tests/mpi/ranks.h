// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <optional>
#include <thread>

#include <weft/mpi.h>
#include <weft/scheduler.h>

#include "with_scheduler.h"

namespace weft::mpi_test {

// Return: the number of this rank; how many ranks there are. Without an Environment.
inline int rank() {
  int found = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &found);
  return found;
}
inline int numRanks() {
  int found = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &found);
  return found;
}

// Which threads call MPI, as one_caller.cpp sees it.
class Calls {
 public:
  // MPI was initialised with `level`, by the caller.
  void begin(int level) {
    owner_ = std::this_thread::get_id();
    level_ = level;
  }
  // The caller calls MPI.
  void note() {
    if (level_ != MPI_THREAD_MULTIPLE && std::this_thread::get_id() != owner_) {
      ++numWrong_;
    }
  }
  // Returns: how many calls came from a thread that may not call MPI.
  int numWrong() const { return numWrong_; }

 private:
  std::thread::id owner_;
  int level_ = MPI_THREAD_MULTIPLE;
  std::atomic<int> numWrong_{0};
};
extern Calls calls;

// A scheduler with several numbers of workers, and MPI for it. All ranks begin and end a test together.
class MpiTest : public tests::WithScheduler {
 protected:
  void SetUp() override {
    // A function of MPICH's reductions has a frame of 128 KiB.
    start(tests::smallConfig(numWorkers(), allocator()).setFiberStackSize(size_t{256} * 1024));
    environment_.emplace();
    world().barrier();
  }
  void TearDown() override {
    world().barrier();
    environment_.reset();
    EXPECT_EQ(calls.numWrong(), 0);
    tests::WithScheduler::TearDown();
  }
  static const mpi::Communicator& world() { return mpi::world(); }

  const int rank = mpi_test::rank();
  const int size = mpi_test::numRanks();
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;

 private:
  std::optional<mpi::Environment> environment_;
};

}  // namespace weft::mpi_test
