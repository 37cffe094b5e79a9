// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "os/single_writer_counter.h"
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

  FiberControlBlock& current() const { return *current_.get(); }
  FiberControlBlock& main() { return main_; }
  const FiberControlBlock& main() const { return main_; }
  void** exceptions() const { return cxaGlobals_; }
  bool isOnMain() const { return current_.get() == &main_; }
  // Any thread, hints: they do not publish what they return.
  const FiberControlBlock* look() const { return current_.look(); }
  const TaskScope* lookAtMainScope() const { return mainScope_.look(); }

  // Suspends the current fiber. Requires: `to` is another one.
  void switchTo(FiberControlBlock& to) {
    FiberControlBlock& from = *current_.get();
    TaskScope* const task = currentTask;
    current_.set(&to);
    currentFiber = &to;
    OSFiber::switchTo(from.os, to.os, cxaGlobals_);
    currentTask = task;
  }

 private:
  friend struct LayoutAccess;

  SingleWriterPointer<FiberControlBlock> current_;
  // The scope of what runs on the main fiber; null while no thread has entered.
  SingleWriterPointer<const TaskScope> mainScope_;
  void** cxaGlobals_ = nullptr;
  FiberControlBlock main_;
};

}  // namespace weft::inline v0_1::detail
