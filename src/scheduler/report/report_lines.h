// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>

// The lines of the report on the fibers that wait.
namespace weft::inline v0_1::detail {

struct FiberControlBlock;

inline constexpr int kBoundThread = -1;

// Where a task is, as another thread has seen it.
struct TaskPlace {
  int workerId = kBoundThread;
  uint32_t fiberId = 0;
  bool isOnThread = true;      // on the thread's own stack
  const void* task = nullptr;  // its code; null where no task runs there

  bool operator==(const TaskPlace&) const = default;
};

struct TaskFinder {
  // Sets `place` to the place of the task whose TaskScope lies, or lay, at `scope`. Any thread.
  // Returns: whether it is a task of this scheduler.
  virtual bool findTask(const void* scope, TaskPlace& place) = 0;

 protected:
  ~TaskFinder() = default;
};

struct SilentWorker {
  TaskPlace place;
  std::chrono::nanoseconds since{};  // at least
  uint64_t numInIo = 0;              // fibers of it that wait for I/O, after which it does not look
};

// Prints one line: that the worker does not answer, and what it is doing.
void reportSilentWorker(const SilentWorker& worker);

// Prints one line: which fiber waits, what task runs on it, what it waits for, and which of `tasks` holds
// that. `workerId` is the id of its worker thread, or kBoundThread.
void reportBlockedFiber(const FiberControlBlock& fiber, int workerId, TaskFinder& tasks);

// Ends a list of such lines with their number.
void reportNumBlocked(int workerId, uint64_t count);

}  // namespace weft::inline v0_1::detail
