// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <pthread.h>

#include "os/detached_thread.h"
#include "os/stack_overflow.h"
#include "scheduler/worker/process_fork.h"
#include "weft/task.h"

namespace weft::inline v0_1::detail {

inline void* runTaskThread(void* task) {
  pthread_setname_np(pthread_self(), "weft:task");
  AlternateStack signalStack;
  TaskHandle::fromVoidPointer(task).run();
  assertReturnsInParent("a task on a thread of its own");
  return nullptr;
}

// Starts a thread that runs `task`, of toVoidPointer(). Returns: 0, or an error; the caller keeps the task.
inline int startTaskThread(void* task) {
  watchForks();
  return startDetachedThread(&runTaskThread, task);
}

}  // namespace weft::inline v0_1::detail
