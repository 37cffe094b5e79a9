// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "os/watched_call.h"
#include "weft/detail/base/outcome.h"
#include "weft/detail/base/task_node.h"
#include "weft/memory.h"
#include "weft/scheduler.h"

// The messages for errors that end the program, and the reports of blocked fibers.
namespace weft::inline v0_1::detail {

struct FairTask;
struct FiberControlBlock;

// Runs and frees a task. An exception that escapes it ends the program with a message that names both.
inline void runOrDie(TaskNode* node) { weft_run_task(node); }

// Throws `exception` to look at it.
// Returns: its type, and its message.
std::string describe(EscapedException& exception);

// Runs the "initializer" or "finalizer" of a worker's thread. An exception that escapes it ends the program
// with a message.
void runOrDie(const Scheduler::ThreadInitializer& function, const char* name, int workerId);

// Calls `function`, which is named `what`. An exception that escapes it ends the program with a message.
void runOrDie(const std::function<void()>& function, const char* what);

// These ask `allocator`, of the Config of `owner`, for memory, and give it back. An exception that escapes
// it, or null, ends the program with a message.
Allocation allocateOrDie(Allocator& allocator, const Allocation::Request& request, const char* owner);
void freeOrDie(Allocator& allocator, const Allocation& allocation, const char* owner) noexcept;

// Runs the step of a fair::Task. An exception that escapes it ends the program with a message.
void runStepOrDie(FairTask& task);

inline constexpr int kBoundThread = -1;

// Where a task is, as another thread has seen it.
struct TaskPlace {
  int workerId = kBoundThread;
  uint32_t fiberId = 0;
  bool isOnThread = true;      // on the thread's own stack
  const void* task = nullptr;  // its code; null where no task runs there

  bool operator==(const TaskPlace&) const = default;
};

// A worker that was asked for a report and has not answered since.
struct SilentWorker {
  TaskPlace place;
  std::chrono::nanoseconds since{};  // at least
  uint64_t numInIo = 0;              // fibers of it that wait for I/O, after which it does not look
};

// Prints one line: that the worker does not answer, and what it is doing.
void reportSilentWorker(const SilentWorker& worker);

// Prints one line: which fiber waits, what task runs on it, and what it waits for. `workerId` is the id of
// its worker thread, or kBoundThread.
void reportBlockedFiber(const FiberControlBlock& fiber, int workerId);

// Ends a list of such lines with their number.
void reportNumBlocked(int workerId, uint64_t count);

// Returns: true only if the calling thread is certainly the only thread of the process.
bool isOnlyThreadOfProcess();

}  // namespace weft::inline v0_1::detail
