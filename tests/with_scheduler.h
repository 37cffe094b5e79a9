// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <csignal>
#include <cstddef>
#include <memory>
#include <string>
#include <system_error>

#include <weft/memory.h>
#include <weft/sanitizers.h>
#include <weft/scheduler.h>

#include "surroundings.h"

// What tests of things that run on a scheduler share.
namespace weft::tests {

inline constexpr bool kUnderTsan = WEFT_THREAD_SANITIZER_ENABLED != 0;
inline constexpr bool kUnderAsan = WEFT_ADDRESS_SANITIZER_ENABLED != 0;

// Whether threads wait at random places: stress/perturb.h.
#ifdef WEFT_STRESS
inline constexpr bool kUnderStress = true;
#else
inline constexpr bool kUnderStress = false;
#endif

// Whether an emulator runs the tests: cmake/cross.
#ifdef WEFT_TEST_IS_EMULATED
inline constexpr bool kIsEmulated = true;
#else
inline constexpr bool kIsEmulated = false;
#endif

// What a program prints that prints nothing, to the standard error stream: under stress, its seed.
inline constexpr const char* kSilence = kUnderStress ? "^(weft stress: [^\n]*\n)?$" : "^$";

#ifdef NDEBUG
inline constexpr bool kHasAssertions = false;
#else
inline constexpr bool kHasAssertions = true;
#endif

// Sanitizers make each step some ten times dearer, and so do a build for debuggers and an emulator: a number
// of rounds without them and with one of them.
template <class T>
constexpr T scaled(T full, T fewer) {
  return kUnderTsan || kUnderAsan || kHasAssertions || kIsEmulated ? fewer : full;
}

// The most fibers that ThreadSanitizer is asked to keep at the same time.
inline constexpr int kMaxTsanFibers = 8000;

// Fails when a byte of `allocator` is allocated still.
inline void expectNothingAllocated(TrackedAllocator& allocator) {
  const auto stats = allocator.stats();
  EXPECT_EQ(stats.numAllocations(), 0u) << "allocations were leaked";
  EXPECT_EQ(stats.bytesAllocated(), 0u) << "bytes were leaked";
}

// Small stacks, since many tests make many fibers; large enough for GoogleTest's assertions.
inline Scheduler::Config smallConfig(int numWorkers, Allocator* allocator = Allocator::Default) {
  return Scheduler::Config()
      .setAllocator(allocator)
      .setWorkerThreadCount(numWorkers)
      .setFiberStackSize(size_t{kUnderAsan ? 128 : 64} * 1024);
}

// A test without a scheduler of its own, with an allocator that must be empty at the end.
class WithAllocator : public ::testing::Test {
 protected:
  void TearDown() override { expectNothingAllocated(allocator_); }
  TrackedAllocator* allocator() { return &allocator_; }

 private:
  TrackedAllocator allocator_{Allocator::Default};
};

// Tests of messages that end the program, each in a process of its own, without the threads of this one.
class DeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// For EXPECT_EXIT: whether a process went on, or ended with a message.
inline bool endedInOrder(int status) {
  return (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
         (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

// A test that runs once for each number of worker threads, bound to a scheduler with that many. Fails when a
// byte of the scheduler's allocator is allocated still once the scheduler is gone.
class WithScheduler : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { start(smallConfig(GetParam(), &allocator_)); }

  // Makes the scheduler, for a SetUp() that wants another one.
  void start(const Scheduler::Config& config) {
    try {
      scheduler_ = std::make_unique<Scheduler>(config);
    } catch (const std::system_error& error) {
      if (mayStartThreads(GetParam())) {
        throw;
      }
      GTEST_SKIP() << "the system refuses " << GetParam() << " threads: " << error.what();
    }
    scheduler_->bind();
  }

  void TearDown() override {
    destroyScheduler();
    expectNothingAllocated(allocator_);
  }

  // Unbinds this thread and destroys the scheduler, early: what tasks were to do is done afterwards.
  void destroyScheduler() {
    if (scheduler_ != nullptr) {
      if (Scheduler::get() == scheduler_.get()) {
        Scheduler::unbind();
      }
      scheduler_.reset();
    }
  }

  int numWorkers() const { return GetParam(); }
  TrackedAllocator* allocator() { return &allocator_; }
  Scheduler& scheduler() { return *scheduler_; }

 private:
  TrackedAllocator allocator_{Allocator::Default};
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace weft::tests

// Runs the tests of `Suite`, which derives from WithScheduler, with each number of workers.
#define WEFT_INSTANTIATE_WITH_SCHEDULER(Suite)              \
  INSTANTIATE_TEST_SUITE_P(                                 \
      Workers, Suite, ::testing::Values(0, 1, 2, 4, 8, 64), \
      [](const ::testing::TestParamInfo<int>& numWorkers) { return std::to_string(numWorkers.param); })
