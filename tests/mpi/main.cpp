// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "mpi/ranks.h"

// Initialises MPI, and runs the tests in each rank. All but the first say nothing but what fails.
//
//   mpiexec -n 4 mpi_tests [--level=multiple|serialized|funneled]
namespace weft::mpi_test {
namespace {

int levelOf(std::string_view name) {
  return name == "funneled"     ? MPI_THREAD_FUNNELED
         : name == "serialized" ? MPI_THREAD_SERIALIZED
                                : MPI_THREAD_MULTIPLE;
}

class OnlyFailures : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& test) override { test_ = &test; }
  // GoogleTest holds the lock that UnitTest::current_test_info() takes.
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed()) {
      std::printf("rank %d, %s.%s: %s:%d: %s\n", rank(), test_ != nullptr ? test_->test_suite_name() : "",
                  test_ != nullptr ? test_->name() : "", result.file_name(), result.line_number(),
                  result.message());
      std::fflush(stdout);
    }
  }

 private:
  const testing::TestInfo* test_ = nullptr;
};

}  // namespace
}  // namespace weft::mpi_test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  int wanted = MPI_THREAD_MULTIPLE;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--level=", 8) == 0) {
      wanted = weft::mpi_test::levelOf(argv[i] + 8);
    }
  }
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  if (provided < wanted) {
    std::puts("MPI does not provide the level of threads that was asked for");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  weft::mpi_test::calls.begin(wanted);
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (weft::mpi_test::rank() != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new weft::mpi_test::OnlyFailures);
  }
  const int failed = RUN_ALL_TESTS();
  // The others must not wait for messages of a rank that has ended.
  if (failed != 0) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
