// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <utility>

#include "weft/fair/task.h"
#include "weft/fair/task_scheduler.h"
#include "weft/scheduler.h"

namespace weft::fair {

// Signals `task` once `source` lets go those that wait for it: an Event, a WaitGroup, a Future, or whatever else has wait(). A
// fiber waits meanwhile; the calling thread neither suspends nor blocks. An exception of wait() is not looked at.
//
//   weft::fair::signalAfter(loaded, scheduler, &task);
//   scheduler.postDelay(&task, std::chrono::seconds(1));
//
// The other way round nothing is needed: a step may signal an Event or count a WaitGroup down for the fibers that wait for it.
// Requires: a Scheduler is bound to the calling thread.
// Memory ordering: what is seen after source.wait() is seen by the step that receives the signal.
// Lifetime: `source` is copied or moved; scheduler and task exist until the signal.
template <class Source>
void signalAfter(Source source, TaskScheduler& scheduler, Task* task) {
  weft::schedule([taken = std::move(source), &scheduler, task]() mutable {
    taken.wait();
    scheduler.signal(task);
  });
}

}  // namespace weft::fair
