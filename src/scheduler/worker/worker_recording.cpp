// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <optional>

#include "scheduler/fibers/block_of.h"
#include "scheduler/trace/recorder.h"
#include "scheduler/trace/task_names.h"
#include "scheduler/worker/worker.h"
#include "weft/detail/base/task_node.h"

// What a worker does while its events are recorded.
namespace weft::inline v0_1::detail {
namespace {

// `kind`: how the thread leaves the fiber.
void addLeft(TraceEvents& events, TraceKind kind, const FiberControlBlock& fiber) {
  events.add(kind, fiber.blockedOn);
  if (fiber.blockedOn != nullptr && fiber.blockedObject != nullptr) {
    events.add(TraceKind::WaitsFor, fiber.blockedObject);
  }
}

void addFiber(TraceEvents& events, const FiberControlBlock& fiber) {
  events.add(TraceKind::FiberResumed, uint64_t{fiber.id});
  if (fiber.task != nullptr) {
    events.add(TraceKind::TaskResumed, fiber.task);
  }
}

}  // namespace

// The fiber goes on, or could.
inline void Worker::addResumed(const FiberControlBlock& fiber, Nanoseconds sinceWake, TraceEvents& events) {
  addFiber(events, fiber);
  if (lateWatch.hasWakeLimit() && (fiber.isTimedOut || lateWatch.mayBeLate(sinceWake))) [[unlikely]] {
    lookAtDelay(fiber, sinceWake, events);
  }
  if (fiber.task != nullptr) {
    runs_.begin(events.now());
  }
}

void Worker::setRecorded(bool isWanted) {
  TraceThread* const thread = traceThread();
  if (thread == nullptr) {
    return;
  }
  isRecorded_ = isWanted;
  // relaxed: a hint for others.
  traceThread_.store(isWanted ? thread->number : 0, std::memory_order_relaxed);
  if (isWanted) {
    TraceEvents().add(TraceKind::ThreadBound, static_cast<uint64_t>(id_ + 1));
    recordResumed(fibers_.current(), {});
  } else {
    TraceEvents().add(TraceKind::ThreadUnbound);
  }
}

// The recorder alone is told of this worker's tasks, and it has no time limits.
void Worker::runTaskRecorded(TaskNode* node) {
  Worker& self = *static_cast<FiberControlBlock*>(currentFiber)->worker;
  TraceThread* const thread = ownTraceThread;
  const bool isNext = thread != nullptr && thread->untilNext == self.localDeque().untilPoll + 1;
  if (isNext && !hasTaskName(*node)) [[likely]] {
    thread->addNext(reinterpret_cast<const void*>(node->invoke));
  } else {
    (void)recordTaskBegan(*node);
  }
  weft_run_task(node);
  // FiberLocals are destroyed before the next task begins, by code of the program.
  if (self.isOnlyRecorded() && thread != nullptr && self.fibers_.current().locals == nullptr) [[likely]] {
    thread->keep(TraceKind::TaskFollowed, ticks(), self.localDeque().untilPoll);
  } else {
    self.noteRecordedEnded();
  }
}

// A task ends on a worker that was recorded when that began.
void Worker::noteRecordedEnded() {
  TraceEvents().add(TraceKind::TaskEnded);
  noteTaskEnded();
}

// Returns: when it began, in ticks().
uint64_t Worker::recordTaskBegan(const TaskNode& node) {
  TraceEvents events;
  events.add(TraceKind::TaskBegan, reinterpret_cast<const void*>(node.invoke));
  if (hasTaskName(node)) {
    events.add(TraceKind::TaskNamed, taskNameOf(node));
  }
  return events.now();
}

void Worker::switchRecorded(OSFiber& from, OSFiber& to, void** globals) {
  const FiberControlBlock& next = blockOf(to);
  TraceEvents events;
  addLeft(events, TraceKind::FiberLeft, blockOf(from));
  addFiber(events, next);
  if (next.task == nullptr && next.id != 0) {
    events.keepReading(next.worker->localDeque().untilPoll + 1);  // it runs the task that was handed to it
  }
  OSFiber::switchTo(from, to, globals);
}

void Worker::recordSwitch(const FiberControlBlock& from, const FiberControlBlock& to, Nanoseconds sinceWake) {
  TraceEvents events;
  recordRunEnded(from.task, events);
  addLeft(events, TraceKind::FiberLeft, from);
  addResumed(to, sinceWake, events);
}

// What runs of that task in one go, if anything does, ends.
void Worker::recordRunEnded(const void* task, TraceEvents& events) {
  const std::optional<WorkerRun> run = runs_.end(task, events.now());
  if (run && lateWatch.mayBeLate(run->ticks())) [[unlikely]] {
    lateWatch.lookAtRun(*run, publicId(), events);
  }
}

// A timer is late since it was due, which is longer ago than when that was noticed.
void Worker::lookAtDelay(const FiberControlBlock& fiber, Nanoseconds sinceWake, TraceEvents& events) {
  const auto look = [&](LateKind kind, Nanoseconds delay) {
    return lateWatch.lookAtDelay(kind, delay, fiber.task, runs_, publicId(), events);
  };
  if (!fiber.isTimedOut || !look(LateKind::Timer, TimePoint::clock::now() - fiber.deadline)) {
    look(LateKind::Wake, sinceWake);
  }
}

void Worker::recordIdleBegan(const FiberControlBlock& fiber) {
  TraceEvents events;
  recordRunEnded(fiber.task, events);
  addLeft(events, TraceKind::IdleBegan, fiber);
}

void Worker::recordResumed(const FiberControlBlock& fiber, Nanoseconds sinceWake) {
  TraceEvents events;
  addResumed(fiber, sinceWake, events);
}

// Any thread. After the wake `fiber` and its worker may be gone.
void Worker::recordWake(const FiberControlBlock& fiber) const noexcept {
  // relaxed: the worker may begin or end to be recorded at any time.
  if (const uint64_t thread = traceThread_.load(std::memory_order_relaxed); thread != 0) {
    TraceEvents().add(TraceKind::Woke, inspect::withFiber(thread, fiber.id));
  }
}

void Worker::recordTimer(const FiberControlBlock& fiber) {
  constexpr int64_t kMostLate = ~uint32_t{0};
  const auto late =
      std::chrono::duration_cast<std::chrono::microseconds>(TimePoint::clock::now() - fiber.deadline);
  const auto microseconds = static_cast<uint64_t>(std::clamp<int64_t>(late.count(), 0, kMostLate));
  TraceEvents().add(TraceKind::TimerFired, inspect::withFiber(microseconds, fiber.id));
}

}  // namespace weft::inline v0_1::detail
