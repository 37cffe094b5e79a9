// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "inspect/fiber_sampler.h"
#include "inspect/snapshot.h"
#include "inspect/unwinder.h"
#include "tools/processor_samples.h"
#include "tools/system_call.h"
#include "tools/target.h"

namespace weft::inline v0_1::detail::tools {

// Tells what the threads of a process do. Stops none of them: a call of the system that is interrupted may
// fail.
class ThreadSampler {
 public:
  // Both outlive the sampler. `period`: between two samples of a thread that computes, of its time.
  ThreadSampler(Target& target, inspect::Unwinder& unwinder, std::chrono::nanoseconds period);

  struct Sample {
    uint32_t fiber;  // its index in the snapshot
    bool isInCall;   // of the system
  };
  // Called before each look at all workers, to forget the threads that were in none at the last look.
  void beginLook();

  // Adds to the snapshot the fiber that the worker's thread is on. Its stack is there if the thread waits in
  // a call of the system. Returns: nothing, if there is no fiber, or if forEachComputed() tells of it.
  // `snapshot`: that of `fibers`.
  std::optional<Sample> sample(inspect::FiberSampler& fibers, inspect::Snapshot& snapshot, uint32_t worker);

  // Calls take(fiber's index) for what the worker's thread has computed since the last call, once for each
  // period. These fibers are added to the snapshot, and have the task that they ran then. Where the outermost
  // calls cannot be found, the task is the one that the thread runs now.
  void forEachComputed(inspect::FiberSampler& fibers, inspect::Snapshot& snapshot, uint32_t worker,
                       const std::function<void(uint32_t fiber)>& take);

  // Returns: the errno value of why the system does not tell of code that computes; 0: it does.
  int error() const { return error_; }

 private:
  static constexpr size_t kMostBytes = size_t{64} * 1024;  // of a stack
  static constexpr size_t kMostFrames = 128;               // that a sample keeps, of
  static constexpr size_t kMostCalls = 4096;               // those that it follows

  struct Thread {
    Thread(int processId, int threadId, std::chrono::nanoseconds period)
        : samples(threadId, period), call(processId, threadId) {}
    ProcessorSamples samples;
    SystemCallReader call;
    inspect::Address stackTop = 0;  // of its own stack, as far as that was read
    uint64_t lastLook = 0;
  };

  Thread& threadOf(int threadId);
  void copyStack(const inspect::Fiber& fiber, Thread& thread, inspect::Address stackPointer);
  void copyPages(inspect::Address begin);
  bool copyOuter(const inspect::StackCopy& inner, const inspect::Fiber& fiber);
  void followComputed(inspect::FiberSampler& fibers, inspect::Snapshot& snapshot, uint32_t index,
                      const inspect::Registers& registers, const inspect::StackCopy& stack);
  void followCall(inspect::Snapshot& snapshot, inspect::Fiber& fiber, const inspect::Registers& registers);
  bool follow(inspect::Snapshot& snapshot, inspect::Fiber& fiber, inspect::Registers registers,
              const inspect::StackCopy& stack);
  bool isInSearch();
  inspect::Address taskOfCalls();

  Target& target_;
  inspect::Unwinder& unwinder_;
  const std::chrono::nanoseconds period_;
  std::map<int, Thread> threads_;  // by their numbers
  uint64_t numLooks_ = 0;
  std::vector<char> copy_;  // of a stack
  size_t copySize_ = 0;
  std::vector<inspect::Address> calls_;  // that were followed last
  int error_ = 0;
};

}  // namespace weft::inline v0_1::detail::tools
