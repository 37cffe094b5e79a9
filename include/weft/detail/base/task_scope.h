// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/detail/port/processor.h"
#include "weft/export.h"

// Tells one task from another, wherever it runs.
//
// A task that begins on a fiber has the scope in that fiber. A task that runs in place, on the fiber that
// waits for it, has a scope in the frame of that wait. All code of a thread outside of tasks has one scope,
// also between bind() and unbind(). So a task has its own locks, number, FiberLocals, Fiber with the permit,
// and C++ exceptions (exception_state.h), whether it was stolen or not.
//
// The address of a scope identifies the task to locks. Few tasks in place need more. So the rest is made at
// its first use: a scope whose number is 0 has nothing yet.
//
// The waits inside primitives use the fiber's one waiter: only the innermost task of a fiber can wait.
namespace weft::inline v0_1 {

class Fiber;

namespace detail {

struct FiberLocalNode;
struct InPlaceFiber;

// A task begins in place only if so many eighths of Config::fiberStackSize are free.
inline constexpr size_t kStackInPlace = 7;

using port::stackPointer;

struct TaskScope {
  // Constructors, since gcc 11 would not put members of Fiber into the tail padding of an aggregate.
  constexpr TaskScope() {}
  constexpr explicit TaskScope(uint32_t end) : inPlaceEnd(end) {}

  uint64_t number = 0;  // see currentTaskNumber()
  // The lower half of an address in the stack of this scope. No task begins in place if the stack pointer
  // lies below it. A half is enough: no two places of a stack are 2 GiB apart.
  uint32_t inPlaceEnd = 0;

  // Requires: this is the scope of the task that runs.
  [[gnu::always_inline]] bool leavesStackForTask() const {
    return static_cast<int32_t>(static_cast<uint32_t>(stackPointer()) - inPlaceEnd) >= 0;
  }
};

// The scope of the task, or of the bound thread's own code, that runs on this thread; null if nothing is
// bound. The scheduler and InPlaceScope write it. The variable's address may be kept across suspensions.
extern WEFT_EXPORT constinit thread_local TaskScope* currentTask WEFT_TLS;

// The scope of this thread's code outside of tasks. Its number is valid while a scheduler is bound.
extern WEFT_EXPORT constinit thread_local TaskScope threadScope WEFT_TLS;

// Requires: a scheduler is bound.
class InPlaceScope : public TaskScope {
 public:
  InPlaceScope() : TaskScope(currentTask->inPlaceEnd), outer_(currentTask) { currentTask = this; }
  ~InPlaceScope() { currentTask = outer_; }
  InPlaceScope(const InPlaceScope&) = delete;

  // Called after the end of each task and the destruction of its function.
  void endTask() {
    if (number != 0) [[unlikely]] {
      if (locals_ != nullptr || fiber_ != nullptr) {
        giveBack();
      }
      number = 0;
    }
  }

 private:
  friend struct InPlaceAccess;

  WEFT_EXPORT void giveBack();

  TaskScope* const outer_;  // of the task that waits for this one
  // Valid if the number is not 0.
  FiberLocalNode* locals_;
  InPlaceFiber* fiber_;  // or null
};

// Gives the task that runs in place here its number, which it returns.
WEFT_EXPORT uint64_t numberInPlace() noexcept;

// Returns: the Fiber of the code that runs here, if that is not a task that began on the current fiber.
WEFT_EXPORT Fiber* inPlaceFiber() noexcept;

// Returns: whether `task` waits for the calling task, which runs in place for it, perhaps through others.
WEFT_EXPORT bool waitsForCaller(const void* task) noexcept;

// The result of currentTaskNumber() if nothing is bound. A scope without a number yet has 0.
inline constexpr uint64_t kNoTask = ~uint64_t{0};

// Returns: the number of the task, or of the bound thread's own code, that runs here; unique in the process.
inline uint64_t currentTaskNumber() noexcept {
  TaskScope* task = currentTask;
  if (task == nullptr) {
    return kNoTask;
  }
  return task->number != 0 ? task->number : numberInPlace();
}

}  // namespace detail
}  // namespace weft::inline v0_1
