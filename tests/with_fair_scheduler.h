// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <weft/fair/task_scheduler.h>
#include <weft/memory.h>

#include "with_scheduler.h"

// What the tests of weft::fair share.
namespace weft::tests {

// A test that runs once for each number of threads, and fails on a leaked byte of the allocator.
class WithFairThreads : public ::testing::TestWithParam<int> {
 protected:
  void TearDown() override { expectNothingAllocated(allocator_); }
  fair::TaskScheduler::Config config() { return fair::TaskScheduler::Config().setAllocator(&allocator_); }
  int numThreads() const { return GetParam(); }
  TrackedAllocator& allocator() { return allocator_; }

 private:
  TrackedAllocator allocator_{Allocator::Default};
};

template <class Predicate>
void awaitOnThread(Predicate pred) {
  while (!pred()) {
    std::this_thread::yield();
  }
}

// `posted` are the indexes of tasks, in the order in which their steps started; they were posted in the order
// of the indexes. When a step starts, the only ones before it that have not started are those that other
// threads have just taken.
inline void expectStartedInOrder(const std::vector<size_t>& posted, int numThreads) {
  size_t low = 0;  // all before have started
  std::set<size_t> ahead;
  for (size_t i : posted) {
    const auto numAhead = static_cast<size_t>(std::distance(ahead.begin(), ahead.lower_bound(i)));
    ASSERT_LT(i - low - numAhead, static_cast<size_t>(numThreads)) << "task " << i << " started too early";
    ahead.insert(i);
    while (ahead.erase(low) != 0) {
      ++low;
    }
  }
}

}  // namespace weft::tests

// Runs the tests of `Suite`, which derives from WithFairThreads, with each number of threads.
#define WEFT_INSTANTIATE_WITH_FAIR_THREADS(Suite)        \
  INSTANTIATE_TEST_SUITE_P(                              \
      Threads, Suite, ::testing::Values(1, 2, 4, 8, 64), \
      [](const ::testing::TestParamInfo<int>& numThreads) { return std::to_string(numThreads.param); })
