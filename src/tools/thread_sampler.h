// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "inspect/fiber_sampler.h"
#include "inspect/snapshot.h"
#include "inspect/unwinder.h"
#include "tools/stopped_thread.h"
#include "tools/target.h"

namespace weft::inline v0_1::detail::tools {

// Reads the stacks of threads that run. One that waits in a call of the system need not be stopped, if its
// stack can be followed from what the system tells.
class ThreadSampler {
 public:
  // Both outlive the sampler.
  ThreadSampler(const Target& target, inspect::Unwinder& unwinder);

  struct Sample {
    uint32_t fiber;  // its index in the snapshot
    bool isInCall;   // of the system
  };
  // Adds to the snapshot the fiber that the worker's thread is on, with its stack. Returns: nothing, if that
  // cannot be read. `snapshot`: that of `fibers`.
  std::optional<Sample> sample(inspect::FiberSampler& fibers, inspect::Snapshot& snapshot, uint32_t worker);

  // Has those threads go on that have stopped too late.
  void releaseOverdue() { stopper_.releaseOverdue(); }
  // Returns: whether the system, or a debugger, has refused to have a thread stopped.
  bool isRefused() const { return isRefused_; }

 private:
  static constexpr size_t kMostBytes = size_t{64} * 1024;  // of a stack
  static constexpr size_t kMostFrames = 128;

  uint32_t stopAndRead(inspect::FiberSampler& fibers, inspect::Snapshot& snapshot, uint32_t worker);
  void copyStack(const inspect::Fiber& fiber, int threadId, inspect::Address stackPointer);
  void copyPages(inspect::Address begin);
  bool unwind(inspect::Snapshot& snapshot, uint32_t fiber, inspect::Registers registers);

  const Target& target_;
  inspect::Unwinder& unwinder_;
  SystemCalls calls_;
  ThreadStopper stopper_;
  std::map<int, inspect::Address> tops_;  // of the threads' own stacks, as far as they were read
  std::vector<char> copy_;
  size_t copySize_ = 0;
  bool isRefused_ = false;
};

}  // namespace weft::inline v0_1::detail::tools
