// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>

#include "scheduler/fibers/block_of.h"
#include "scheduler/trace/recorder.h"
#include "scheduler/trace/task_names.h"
#include "scheduler/worker/worker.h"

// What a worker does while its events are recorded.
namespace weft::inline v0_1::detail {
namespace {

// In place of the thread's exceptions: tasks in place then begin where they are recorded.
constinit void* neverEmpty[sizeof(ExceptionState) / sizeof(void*)] = {neverEmpty};

// The fiber goes on at `now`, or could.
void lookAtWake(const FiberControlBlock& fiber, uint64_t now) {
  if (lateWatch.hasLimit(LateKind::Wake)) [[unlikely]] {
    const uint64_t ticks = lateWatch.sinceWake(&fiber, now);
    if (lateWatch.mayBeLate(LateKind::Wake, ticks)) {
      lateWatch.look(LateKind::Wake, ticks, fiber.task);
    }
  }
}

void forgetWake(const FiberControlBlock& fiber) {
  if (lateWatch.hasLimit(LateKind::Wake)) [[unlikely]] {
    lateWatch.forgetWake(&fiber);
  }
}

// `kind`: how the thread leaves the fiber.
void addLeft(TraceEvents& events, TraceKind kind, const FiberControlBlock& fiber) {
  events.add(kind, fiber.blockedOn);
  if (fiber.blockedOn != nullptr && fiber.blockedObject != nullptr) {
    events.add(TraceKind::WaitsFor, fiber.blockedObject);
  }
}

void addResumed(TraceEvents& events, const FiberControlBlock& fiber) {
  events.add(TraceKind::FiberResumed, uint64_t{fiber.id});
  if (fiber.task != nullptr) {
    events.add(TraceKind::TaskResumed, fiber.task);
  }
}

}  // namespace

void Worker::setRecorded(bool isWanted) {
  TraceThread* const thread = ownTraceThread != nullptr ? ownTraceThread : openTraceThread();
  if (thread == nullptr) {
    return;
  }
  localDeque().exceptions = isWanted ? neverEmpty : fibers_.exceptions();
  unrecorded_ = isWanted ? nullptr : this;
  // relaxed: a hint for others.
  traceThread_.store(isWanted ? thread->number : 0, std::memory_order_relaxed);
  TraceEvents events;
  if (isWanted) {
    events.add(TraceKind::ThreadBound, static_cast<uint64_t>(id_ + 1));
    addResumed(events, fibers_.current());
  } else {
    events.add(TraceKind::ThreadUnbound);
  }
}

void Worker::runTaskRecorded(TaskNode* node) {
  const auto* const code = reinterpret_cast<const void*>(node->invoke);  // the node is gone at the end
  TraceEvents began;
  began.add(TraceKind::TaskBegan, code);
  if (const char* const name = taskNameOf(*node)) {
    began.add(TraceKind::TaskNamed, name);
  }
  weft_run_task(node);
  recordTaskEnded(TraceKind::TaskEnded, began.now(), code);
}

void Worker::switchRecorded(OSFiber& from, OSFiber& to, void** globals) {
  {
    TraceEvents events;
    const FiberControlBlock& left = blockOf(from);
    const FiberControlBlock& resumed = blockOf(to);
    addLeft(events, TraceKind::FiberLeft, left);
    addResumed(events, resumed);
    if (left.blockedOn == nullptr || left.isQueued) {
      forgetWake(left);  // it has run since then
    }
    lookAtWake(resumed, events.now());
    forgetWake(resumed);
  }
  OSFiber::switchTo(from, to, globals);
}

// Any thread. After the wake `fiber` and its worker may be gone.
void Worker::recordWake(const FiberControlBlock& fiber) const noexcept {
  // relaxed: the worker may begin or end to be recorded at any time.
  if (const uint64_t thread = traceThread_.load(std::memory_order_relaxed); thread != 0) {
    TraceEvents events;
    events.add(TraceKind::Woke, thread << 32 | fiber.id);
    if (lateWatch.hasLimit(LateKind::Wake)) [[unlikely]] {
      lateWatch.noteWake(&fiber, events.now());
    }
  }
}

void Worker::recordTimer(const FiberControlBlock& fiber) const {
  if (isRecorded()) [[unlikely]] {
    forgetWake(fiber);
    constexpr int64_t kMostLate = ~uint32_t{0};
    const auto late =
        std::chrono::duration_cast<std::chrono::microseconds>(TimePoint::clock::now() - fiber.deadline);
    const auto microseconds = static_cast<uint64_t>(std::clamp<int64_t>(late.count(), 0, kMostLate));
    TraceEvents().add(TraceKind::TimerFired, microseconds << 32 | fiber.id);
  }
}

// If `next` is the current fiber, no switch tells.
void Worker::goOnWith(const FiberControlBlock* next) {
  if (next != &fibers_.current()) {
    return;
  }
  if (isRecorded()) [[unlikely]] {
    TraceEvents events;
    addResumed(events, *next);
  }
  beginRun(fibers_.current(), false);
}

void Worker::recordIdle(TraceKind kind) {
  followWishes();
  if (kind == TraceKind::IdleBegan) {
    endRun(false);
  }
  if (isRecorded()) [[unlikely]] {
    TraceEvents events;
    if (kind == TraceKind::IdleBegan) {
      addLeft(events, kind, fibers_.current());
    } else {
      events.add(kind);
      // A fiber on whose stack the worker has slept may go on without a switch.
      lookAtWake(fibers_.current(), events.now());
    }
  }
}

}  // namespace weft::inline v0_1::detail
