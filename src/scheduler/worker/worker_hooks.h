// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "scheduler/fibers/fiber_control_block.h"
#include "weft/fiberhooks.h"

namespace weft::inline v0_1::detail {

// How a worker calls hooks: see setFiberHooks().
//
// It keeps the run with which it has called `entered`. So `left` follows each `entered` once, also if the
// hooks change meanwhile, or if a destructor of a FiberLocal waits after its task.
class WorkerHooks {
 public:
  // `worker`: Scheduler::workerId() of its tasks.
  explicit WorkerHooks(int worker) : worker_(worker) {}

  // Those that are called, or null.
  const FiberHooks* get() const { return hooks_; }
  void set(const FiberHooks* hooks);

  // While hooks are set: `fiber` goes on, and runs a task or does not. `isFirst`: the task begins.
  void callEntered(FiberControlBlock& fiber, bool isFirst);
  // Does nothing if `left` was called since `entered` was. `isLast`: the task has ended.
  void callLeft(bool isLast);
  // While hooks are set: `from` waits, and `to` goes on, but the thread is still on the stack of `from`.
  void callAtSwitch(FiberControlBlock& from, FiberControlBlock& to);
  // Whether `entered` was called, and `left` was not.
  bool hasEntered() const { return hasEntered_; }

 private:
  const int worker_;
  bool hasEntered_ = false;
  const FiberHooks* hooks_ = nullptr;
  FiberHooks::Run run_;  // with which they were called last
};

}  // namespace weft::inline v0_1::detail
