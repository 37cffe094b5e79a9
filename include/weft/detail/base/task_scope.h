// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/export.h"

// Tells one task from another, wherever it runs.
//
// A task that begins on a fiber has the scope that is part of that fiber. A task that is run in place, on the
// fiber that waits for it, has a scope in the frame of that wait. What a thread runs outside of tasks has one
// scope for as long as the thread lives, also between bind() and unbind(). So a task's possessions are the
// same whether a thief has taken the task or not: the locks that it holds, its number, its values of
// FiberLocals, and the Fiber with its permit. Its C++ exceptions are its own as well (exception_state.h).
//
// Few tasks in place ask for any of these except the locks, which know a task by the address of its scope.
// The rest is made when it is first asked for: a scope whose number is 0 has nothing yet, and nothing to give
// back.
//
// The waits inside primitives are those of the fiber, by its one waiter: only the innermost task of a fiber
// can wait.
namespace weft::inline v0_1 {

class Fiber;

namespace detail {

struct FiberLocalNode;
struct InPlaceFiber;

// A task that is run in place finds at least so many eighths of Config::fiberStackSize free. So only a waiter
// that uses less than one eighth runs tasks in place.
inline constexpr size_t kStackInPlace = 7;

// Returns: the stack pointer of the calling function. It lies below the function's own arrays.
[[gnu::always_inline]] inline uintptr_t stackPointer() {
  uintptr_t here;
  asm volatile("mov %%rsp, %0" : "=r"(here));
  return here;
}

struct TaskScope {
  // Without constructors gcc 11, unlike later ones, would use the padding at the end of a scope for no member
  // of a Fiber.
  constexpr TaskScope() {}
  constexpr explicit TaskScope(uint32_t end) : inPlaceEnd(end) {}

  uint64_t number = 0;  // see currentTaskNumber()
  // The lower half of an address in the stack that this scope belongs to. Where the stack pointer lies below
  // it, no task begins in place. A half is enough, since no two places of a stack lie 2 GiB apart.
  uint32_t inPlaceEnd = 0;

  // Returns: whether a task may begin in place here: see kStackInPlace.
  // Requires: this is the scope of the task that runs.
  [[gnu::always_inline]] bool leavesStackForTask() const {
    return static_cast<int32_t>(static_cast<uint32_t>(stackPointer()) - inPlaceEnd) >= 0;
  }
};

// The scope of the task, or of the code of a binding, that runs on this thread; null where nothing is bound.
// The scheduler and InPlaceScope write it. As for currentFiber, the address of this variable may be kept
// across suspensions.
extern WEFT_EXPORT constinit thread_local TaskScope* currentTask
#if defined(__ELF__)
    [[gnu::tls_model("initial-exec")]]
#endif
    ;

// The scope of what this thread runs outside of tasks. Its number is that of the present binding; nobody
// looks at the number while nothing is bound.
extern WEFT_EXPORT constinit thread_local TaskScope threadScope
#if defined(__ELF__)
    [[gnu::tls_model("initial-exec")]]
#endif
    ;

// The scope of tasks that are run in place, one after the other.
// Requires: a scheduler is bound.
class InPlaceScope : public TaskScope {
 public:
  InPlaceScope() : TaskScope(currentTask->inPlaceEnd), outer_(currentTask) { currentTask = this; }
  ~InPlaceScope() { currentTask = outer_; }
  InPlaceScope(const InPlaceScope&) = delete;
  InPlaceScope& operator=(const InPlaceScope&) = delete;

  // Called when each task, and its function, has ended.
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

  // Destroys the task's FiberLocals, and lets go of its Fiber.
  WEFT_EXPORT void giveBack();

  TaskScope* const outer_;  // of the task that waits for this one
  // The following are valid where there is a number.
  FiberLocalNode* locals_;
  InPlaceFiber* fiber_;  // or null
};

// Gives the task that is run in place here its number.
// Returns: the number.
WEFT_EXPORT uint64_t numberInPlace() noexcept;

// Returns: the Fiber of what runs here, where that is not a task that began on the current fiber.
WEFT_EXPORT Fiber* inPlaceFiber() noexcept;

// Returns: whether `task` waits for the calling task: either the caller is run in place for `task`, or `task`
// waits for a task that is run in place for it and that waits for the caller in turn, and so on.
WEFT_EXPORT bool waitsForCaller(const void* task) noexcept;

// The result of currentTaskNumber() where nothing is bound. It differs from the number of a scope that has no
// number yet.
inline constexpr uint64_t kNoTask = ~uint64_t{0};

// Returns: the number of the task or the code of a binding that runs here. No other in the process has it.
inline uint64_t currentTaskNumber() noexcept {
  TaskScope* task = currentTask;
  if (task == nullptr) {
    return kNoTask;
  }
  return task->number != 0 ? task->number : numberInPlace();
}

}  // namespace detail
}  // namespace weft::inline v0_1
