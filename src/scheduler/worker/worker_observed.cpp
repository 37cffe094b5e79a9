// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "scheduler/fibers/block_of.h"
#include "scheduler/trace/recorder.h"
#include "scheduler/trace/wishes.h"
#include "scheduler/worker/worker.h"
#include "scheduler/worker/worker_group.h"

// Who is told of what a worker does. These want to know of it: the flight recorder (worker_recording.cpp),
// Scheduler::measure() (WorkerMeasures) and hooks (WorkerHooks).
//
// A worker that nobody observes asks nobody: it calls tasks and switches through two pointers. While it is
// observed, these point to functions that tell the observers first. Wakes take the slow way then, as those by
// other threads do, and tasks in place begin as where the waiting task handles an exception.
//
// Where a run begins, the recorder is told last, where it ends, first: so no observer's time counts for it.
namespace weft::inline v0_1::detail {
namespace {

// In place of the thread's exceptions: tasks in place then begin where they are observed.
constinit void* neverEmpty[sizeof(ExceptionState) / sizeof(void*)] = {neverEmpty};

}  // namespace

void Worker::followNow(uint64_t word) {
  // (1) acquire: sees what they point to, also of newer hooks than the word tells of; pairs with the exchange
  // in setFiberHooks().
  const FiberHooks* const hooks = wishes.hooks.load(std::memory_order_acquire);
  // relaxed: the word's load sees it, or a newer one.
  follow(word, group_.isMeasured.load(std::memory_order_relaxed), hooks);
}

void Worker::follow(uint64_t word, bool isMeasured, const FiberHooks* hooks) {
  followed_ = word;
  const bool isRecorded = (word & Wishes::kRecorded) != 0;
  if (isRecorded != isRecorded_) {
    setRecorded(isRecorded);
    if (isRecorded != isRecorded_) {
      followed_ ^= Wishes::kRecorded;  // it has got no memory, and asks again at its next poll
    }
  }
  if (isMeasured != measures_.isOn()) {
    measures_.setOn(isMeasured);
  }
  if (hooks != hooks_.get()) {
    hooks_.set(hooks);
  }
  setWakesTimed(measures_.isOn() || (isRecorded_ && lateWatch.hasWakeLimit()));
  const bool isObserved = isRecorded_ || measures_.isOn() || hooks_.get() != nullptr;
  const bool isOnlyRecorded =
      isRecorded_ && hooks_.get() == nullptr && !lateWatch.hasRunLimit() && !areWakesTimed();
  runTask_ = !isObserved ? &weft_run_task : isOnlyRecorded ? &runTaskRecorded : &runTaskObserved;
  fibers_.setSwitch(!isObserved ? &OSFiber::switchTo : isOnlyRecorded ? &switchRecorded : &switchObserved);
  localDeque().exceptions = isObserved ? neverEmpty : fibers_.exceptions();
  unobserved_ = isObserved ? nullptr : this;
  runs_.forget();
}

void Worker::runTaskObserved(TaskNode* node) {
  Worker& self = *current();                                             // a fiber stays on its worker
  const auto* const code = reinterpret_cast<const void*>(node->invoke);  // the node is gone at the end
  if (self.hooks_.get() != nullptr) {
    self.hooks_.callEntered(self.fibers_.current(), true);
  }
  if (self.measures_.isOn()) {
    self.measures_.noteTaskBegan(TimePoint::clock::now());
  }
  const bool isRecorded = self.isRecorded_;
  if (isRecorded) {
    self.runs_.begin(recordTaskBegan(*node));
  }
  weft_run_task(node);
  if (isRecorded) {
    TraceEvents events;
    self.recordRunEnded(code, events);
    events.add(TraceKind::TaskEnded);
  }
  if (self.measures_.isOn() || self.hooks_.hasEntered()) {
    self.noteTaskEnded();
  }
}

// Tells all but the recorder.
void Worker::noteTaskEnded() {
  if (measures_.isOn()) {
    measures_.noteRunEnded(TimePoint::clock::now());
  }
  hooks_.callLeft(true);
}

void Worker::switchObserved(OSFiber& from, OSFiber& to, void** globals) {
  FiberControlBlock& left = blockOf(from);
  FiberControlBlock& next = blockOf(to);
  Worker& self = *next.worker;
  if (self.hooks_.get() != nullptr) {
    self.hooks_.callAtSwitch(left, next);
  }
  self.noteLeft(left);
  const WakeTaken wake = self.takeWake(next);
  if (self.measures_.isOn()) {
    self.measures_.noteRunEnded(wake.now);
    self.measures_.noteResumed(next, wake.now, wake.sinceWake);
  }
  if (self.isRecorded_) {
    self.recordSwitch(left, next, wake.sinceWake);
  }
  OSFiber::switchTo(from, to, globals);
}

void Worker::noteIdleBegan() {
  followWishes();
  if (isObserved()) [[unlikely]] {
    if (isRecorded_) {
      recordIdleBegan(fibers_.current());
    }
    noteLeft(fibers_.current());
    if (measures_.isOn()) {
      measures_.noteRunEnded(TimePoint::clock::now());
    }
    hooks_.callLeft(false);
  }
}

void Worker::noteIdleEnded(FiberControlBlock* next) {
  followWishes();
  if (isRecorded_) [[unlikely]] {
    TraceEvents().add(TraceKind::IdleEnded);
  }
  goOnWith(next);
}

// The worker has slept on the stack of the current fiber, or could have. If that goes on, no switch tells of
// it. Otherwise a switch to `next` follows.
void Worker::goOnWith(FiberControlBlock* next) {
  FiberControlBlock& fiber = fibers_.current();
  if (!isObserved() || next != &fiber) [[likely]] {
    return;
  }
  if (hooks_.get() != nullptr && !hooks_.hasEntered()) {
    hooks_.callEntered(fiber, false);
  }
  const WakeTaken wake = takeWake(fiber);
  if (measures_.isOn() && !measures_.isInRun()) {
    measures_.noteResumed(fiber, wake.now, wake.sinceWake);
  }
  if (isRecorded_) {
    recordResumed(fiber, wake.sinceWake);
  }
}

// Any thread. The worker may begin or end to be observed at any time.
void Worker::noteWake(FiberControlBlock& fiber) const noexcept {
  recordWake(fiber);
  if (areWakesTimed()) {
    setWokenAt(fiber, TimePoint::clock::now());
  }
}

void Worker::noteTimer(FiberControlBlock& fiber) const {
  if (isObserved()) [[unlikely]] {
    if (isRecorded_) {
      recordTimer(fiber);
    }
    if (areWakesTimed() && !fiber.isWoken) {
      setWokenAt(fiber, TimePoint::clock::now());
    }
  }
}

// The thread leaves `fiber`, or searches for work. What was noted stays only if the fiber is ready. A wake
// that comes just now, of which isWoken does not tell yet, does not count.
void Worker::noteLeft(FiberControlBlock& fiber) const {
  if (areWakesTimed() && !fiber.isWoken && !fiber.isTimedOut) {
    setWokenAt(fiber, {});
  }
}

// `fiber` goes on.
Worker::WakeTaken Worker::takeWake(FiberControlBlock& fiber) const {
  // relaxed: see wokenAt().
  const TimePoint::rep time = areWakesTimed() ? wokenAt(fiber).load(std::memory_order_relaxed) : 0;
  WakeTaken wake;
  if (time != 0 || measures_.isOn()) {
    wake.now = TimePoint::clock::now();
  }
  if (time != 0) {
    setWokenAt(fiber, {});
    wake.sinceWake = std::max(wake.now.time_since_epoch() - Nanoseconds(time), Nanoseconds(1));
  }
  return wake;
}

void Worker::setWakesTimed(bool isWanted) {
  if (isWanted && !areWakesTimed()) {
    setWokenAt(fibers_.main(), {});
    pool_.fibers().forEach([](FiberControlBlock& fiber) { setWokenAt(fiber, {}); });
  }
  areWakesTimed_.store(isWanted, std::memory_order_relaxed);  // relaxed: see areWakesTimed()
}

}  // namespace weft::inline v0_1::detail
