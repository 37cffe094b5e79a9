// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "scheduler/fibers/fiber_control_block.h"
#include "weft/detail/base/task_scope.h"

namespace weft::inline v0_1::detail {

// The fiber that a worker's thread runs: the main one, on the thread's own stack, or another.
class FiberSwitch {
 public:
  explicit FiberSwitch(Worker& worker) : current_(&main_), main_(worker, 0) {}

  // Makes the thread's native stack the main fiber. `taskNumber`: the number of the code that runs there.
  void enterThread(uint64_t taskNumber);
  void leaveThread();

  FiberControlBlock& current() const { return *current_; }
  FiberControlBlock& main() { return main_; }
  const FiberControlBlock& main() const { return main_; }
  void** exceptions() const { return cxaGlobals_; }
  bool isOnMain() const { return current_ == &main_; }

  // What switches in place of OSFiber::switchTo(), and ends with a call of that. The current fiber is `to`.
  using Switch = void (*)(OSFiber& from, OSFiber& to, void** globals);
  void setSwitch(Switch function) { switch_ = function; }

  // Suspends the current fiber. Requires: `to` is another one.
  void switchTo(FiberControlBlock& to) {
    FiberControlBlock& from = *current_;
    TaskScope* const task = currentTask;
    current_ = &to;
    currentFiber = &to;
    switch_(from.os, to.os, cxaGlobals_);
    currentTask = task;
  }

 private:
  friend struct LayoutAccess;

  FiberControlBlock* current_;
  Switch switch_ = &OSFiber::switchTo;
  // The scope of what runs on the main fiber; null while no thread has entered. For who looks from outside.
  const TaskScope* mainScope_ = nullptr;
  void** cxaGlobals_ = nullptr;
  FiberControlBlock main_;
};

}  // namespace weft::inline v0_1::detail
