// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "scheduler/fibers/fiber_control_block.h"
#include "weft/detail/base/task_node.h"

namespace weft::inline v0_1::detail {

// What a worker does next: it goes on with a fiber, or begins a task, or nothing where both are null.
struct Work {
  Work() = default;
  // Not explicit: a fiber, or a task, is work.
  Work(FiberControlBlock* ready) : fiber(ready) {}
  Work(TaskNode* queued) : task(queued) {}
  explicit operator bool() const { return fiber != nullptr || task != nullptr; }

  FiberControlBlock* fiber = nullptr;
  TaskNode* task = nullptr;
};

// How far a worker looks for work: each place includes those before it.
enum class SearchScope {
  Own,        // what this thread has at hand
  Injector,   // tasks that belong to no worker yet
  Everywhere  // the tasks of others too
};

}  // namespace weft::inline v0_1::detail
