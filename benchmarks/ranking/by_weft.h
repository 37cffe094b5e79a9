// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The fork functions and the threads of weft.

#pragma once

#include <weft/weft.h>

#include <cstddef>
#include <utility>

namespace ranking {

// Threads that run tasks. The main thread waits for them.
class Runtime {
 public:
  explicit Runtime(size_t threads)
      : scheduler_(weft::Scheduler::Config().setWorkerThreadCount(static_cast<int>(threads))) {}

  // Returns: a future of what a task that calls `f` returns.
  template <class F>
  auto start(F&& f) {
    return weft::async(scheduler_, std::forward<F>(f));
  }

  template <class F>
  auto run(F&& f) {
    return start(std::forward<F>(f)).get();
  }

 private:
  weft::Scheduler scheduler_;
};

using Group = weft::TaskGroup;

// Calls its arguments at the same time. Returns: the tuple of what they return.
template <class... F>
auto fork(F&&... f) {
  return weft::join(std::forward<F>(f)...);
}

}  // namespace ranking
