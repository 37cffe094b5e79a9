// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "weft/detail/base/outcome.h"
#include "weft/detail/base/task_node.h"
#include "weft/memory.h"
#include "weft/scheduler.h"

// What is said when something has gone wrong beyond mending.
namespace weft::detail {

struct FairTask;
struct FiberControlBlock;

// Runs and frees a task. An exception that escapes it ends the program with a message that names both.
void runOrDie(TaskNode* node);

// Returns: the type of `exception`, which is thrown for it, and what it says.
std::string describe(EscapedException& exception);

// Runs the "initializer" or "finalizer" of a worker's thread. An exception that escapes it ends the program
// with a message.
void runOrDie(const Scheduler::ThreadInitializer& function, const char* name, int workerId);

// Calls `function`, which is named `what`. An exception that escapes it ends the program with a message.
void runOrDie(const std::function<void()>& function, const char* what);

// Ask `allocator`, of the Config of `owner`, for memory, and give it back. An exception that escapes it, or
// null, ends the program with a message.
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
  const void* task = nullptr;  // its code; null where none runs there

  bool operator==(const TaskPlace&) const = default;
};

// A worker that was asked for a report, and has not looked since.
struct SilentWorker {
  TaskPlace place;
  std::chrono::nanoseconds since{};  // at least
};

// Prints one line: that the worker does not answer, and what it does.
void reportSilentWorker(const SilentWorker& worker);

// Prints one line: which fiber waits, what task runs on it, and what it waits for. `workerId`: of its worker
// thread, or kBoundThread.
void reportBlockedFiber(const FiberControlBlock& fiber, int workerId);

// Ends such a list with how many there were.
void reportNumBlocked(int workerId, uint64_t count);

// Returns: whether the process certainly has no thread but the caller.
bool isOnlyThreadOfProcess();

}  // namespace weft::detail
