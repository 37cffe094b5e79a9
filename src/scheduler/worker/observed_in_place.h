// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "scheduler/trace/recorder.h"
#include "scheduler/worker/worker.h"
#include "weft/detail/base/task_node.h"

namespace weft::inline v0_1::detail {

// Tells the recorder and Scheduler::measure() of a task in place on the calling thread, from the task's
// beginning to its end. To hooks, it belongs to the run of the task that waits for it.
class ObservedInPlace {
 public:
  explicit ObservedInPlace(const TaskNode& node) {
    record(TraceKind::InPlaceBegan, reinterpret_cast<const void*>(node.invoke));
    Worker::countInPlace();
  }
  ~ObservedInPlace() { record(TraceKind::InPlaceEnded); }
  ObservedInPlace(const ObservedInPlace&) = delete;
  ObservedInPlace& operator=(const ObservedInPlace&) = delete;
};

}  // namespace weft::inline v0_1::detail
