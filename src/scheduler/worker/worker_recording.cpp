// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>

#include "scheduler/fibers/block_of.h"
#include "scheduler/trace/recorder.h"
#include "scheduler/trace/task_names.h"
#include "scheduler/worker/worker.h"
#include "weft/detail/base/task_node.h"

// What a worker does while its events are recorded.
namespace weft::inline v0_1::detail {
namespace {

void forgetWake(const FiberControlBlock& fiber) {
  if (lateWatch.hasLimit(LateKind::Wake)) [[unlikely]] {
    lateWatch.forgetWake(&fiber);
  }
}

bool hasName(const TaskNode& node) { return node.flags >> kTaskNameShift != 0; }

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
inline void Worker::addResumed(const FiberControlBlock& fiber, TraceEvents& events) {
  addFiber(events, fiber);
  if (lateWatch.hasLimit(LateKind::Wake)) [[unlikely]] {
    const uint64_t ticks = lateWatch.takeWake(&fiber, events.now());
    if (fiber.isTimedOut || lateWatch.mayBeLate(LateKind::Wake, ticks)) {
      lookAtDelay(fiber, ticks, events);
    }
  }
  if (fiber.task != nullptr) {
    runs_.begin(events.now());
  }
}

void Worker::setRecorded(bool isWanted) {
  TraceThread* const thread = ownTraceThread != nullptr ? ownTraceThread : openTraceThread();
  if (thread == nullptr) {
    return;
  }
  isRecorded_ = isWanted;
  // relaxed: a hint for others.
  traceThread_.store(isWanted ? thread->number : 0, std::memory_order_relaxed);
  if (isWanted) {
    TraceEvents().add(TraceKind::ThreadBound, static_cast<uint64_t>(id_ + 1));
    recordResumed(fibers_.current());
  } else {
    TraceEvents().add(TraceKind::ThreadUnbound);
  }
}

// The recorder alone is told of this worker's tasks, and it has no time limits.
void Worker::runTaskRecorded(TaskNode* node) {
  Worker& self = *static_cast<FiberControlBlock*>(currentFiber)->worker;
  TraceThread* const thread = ownTraceThread;
  const bool isNext = thread != nullptr && thread->untilNext == self.localDeque().untilPoll + 1;
  if (isNext && !hasName(*node)) [[likely]] {
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
  if (hasName(node)) {
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

void Worker::recordSwitch(const FiberControlBlock& from, const FiberControlBlock& to) {
  TraceEvents events;
  if (runs_.end(from.task, events.now())) [[unlikely]] {
    lookAtRun(events);
  }
  addLeft(events, TraceKind::FiberLeft, from);
  if (from.blockedOn == nullptr || from.isQueued) {
    forgetWake(from);  // it has run since then
  }
  addResumed(to, events);
}

void Worker::lookAtRun(TraceEvents& events) { lateWatch.lookAtRun(runs_.run(), numberForTrace(), events); }

void Worker::lookAtDelay(const FiberControlBlock& fiber, uint64_t sinceWake, TraceEvents& events) {
  const bool isLate = lateWatch.mayBeLate(LateKind::Wake, sinceWake) &&
                      lateWatch.lookAtWake(sinceWake, fiber.task, runs_.run(), numberForTrace(), events);
  if (!isLate && fiber.isTimedOut) {
    lateWatch.lookAtTimer(fiber.deadline, fiber.task, runs_.run(), numberForTrace(), events);
  }
}

void Worker::recordIdleBegan(const FiberControlBlock& fiber) {
  TraceEvents events;
  if (runs_.end(fiber.task, events.now())) [[unlikely]] {
    lookAtRun(events);
  }
  addLeft(events, TraceKind::IdleBegan, fiber);
}

void Worker::recordResumed(const FiberControlBlock& fiber) {
  TraceEvents events;
  addResumed(fiber, events);
}

// Any thread. After the wake `fiber` and its worker may be gone.
void Worker::recordWake(const FiberControlBlock& fiber) const noexcept {
  // relaxed: the worker may begin or end to be recorded at any time.
  if (const uint64_t thread = traceThread_.load(std::memory_order_relaxed); thread != 0) {
    TraceEvents events;
    events.add(TraceKind::Woke, inspect::withFiber(thread, fiber.id));
    if (lateWatch.hasLimit(LateKind::Wake)) [[unlikely]] {
      lateWatch.noteWake(&fiber, events.now());
    }
  }
}

void Worker::recordTimer(const FiberControlBlock& fiber) {
  if (!fiber.isWoken) {
    forgetWake(fiber);  // of an earlier wait
  }
  constexpr int64_t kMostLate = ~uint32_t{0};
  const auto late =
      std::chrono::duration_cast<std::chrono::microseconds>(TimePoint::clock::now() - fiber.deadline);
  const auto microseconds = static_cast<uint64_t>(std::clamp<int64_t>(late.count(), 0, kMostLate));
  TraceEvents().add(TraceKind::TimerFired, inspect::withFiber(microseconds, fiber.id));
}

}  // namespace weft::inline v0_1::detail
