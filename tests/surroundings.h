// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/resource.h>

#include <latch>
#include <system_error>
#include <thread>
#include <vector>

// What a machine may lack that a test needs. Such a test is skipped, and says what is missing.
namespace weft::tests {

// Returns: whether the process may have so many descriptors.
inline bool mayHaveDescriptors(rlim_t count) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= count;
}

// Returns: whether the system lets the process have so many more threads at once.
inline bool mayStartThreads(int count) {
  std::latch end(1);
  std::vector<std::thread> threads;
  try {
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&end] { end.wait(); });
    }
  } catch (const std::system_error&) {
    // Ends those that have started.
  }
  end.count_down();
  for (std::thread& thread : threads) {
    thread.join();
  }
  return static_cast<int>(threads.size()) == count;
}

}  // namespace weft::tests
