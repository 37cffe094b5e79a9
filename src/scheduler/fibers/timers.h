// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "scheduler/fibers/fiber_control_block.h"
#include "scheduler/policy/due_time.h"
#include "weft/detail/queue/timer_heap.h"
#include "weft/detail/wait/patience.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {

// The fibers of a worker that wait for a time. It also knows which of them are due.
class Timers {
 public:
  explicit Timers(Allocator* allocator) : heap_(allocator) {}

  // Returns: the time.
  TimePoint now() { return due_.now(); }

  // Adds a fiber that waits until fiber.deadline.
  // Requires: the deadline is after the last result of now(), which was called just before.
  void add(FiberControlBlock& fiber) {
    heap_.add(&fiber);
    if (heap_.earliest() == &fiber) {
      due_.expect(fiber.deadline);
    }
  }

  // Adds a fiber that waits for about kPatience. Most such waits end before the thread looks at the clock
  // next. So that they cost next to nothing, their time begins then: by date().
  void addUndated(FiberControlBlock& fiber) {
    if (numUndated_ == kMostUndated) {
      (void)date();
    }
    fiber.timerIndex = kUndated + numUndated_;
    undated_[numUndated_++] = &fiber;
  }
  // To be called before a sleep, and now and then by a thread that is busy.
  // Returns: whether there were any without a time.
  bool date() {
    if (numUndated_ == 0) {
      return false;
    }
    const TimePoint deadline = now() + kPatience;
    while (numUndated_ != 0) {
      FiberControlBlock& fiber = *undated_[--numUndated_];
      fiber.timerIndex = kNotInHeap;
      fiber.deadline = deadline;
      add(fiber);
    }
    return true;
  }

  // Removes `fiber`, unless its time has come: then this does nothing.
  void remove(FiberControlBlock& fiber) {
    const uint32_t index = fiber.timerIndex - kUndated;
    if (index >= kMostUndated) {
      heap_.remove(&fiber);
      return;
    }
    undated_[index] = undated_[--numUndated_];
    undated_[index]->timerIndex = fiber.timerIndex;
    fiber.timerIndex = kNotInHeap;
  }

  // Returns: false only if no deadline has come. This is far cheaper than reading the clock.
  bool mayHaveExpired() const { return !heap_.empty() && due_.mayHaveCome(); }

  // Removes the fibers whose time has come, and calls f(fiber) for each.
  // Returns: whether there were any.
  template <class F>
  bool expire(F f) {
    if (heap_.empty()) {
      return false;
    }
    bool any = false;
    const TimePoint time = due_.now();
    while (FiberControlBlock* fiber = heap_.popExpired(time)) {
      f(*fiber);
      any = true;
    }
    if (!heap_.empty()) {
      due_.expect(heap_.earliest()->deadline);
    }
    return any;
  }

  // Returns: whether no fiber waits for a time, be it known yet or not.
  bool isEmpty() const { return heap_.empty() && numUndated_ == 0; }
  // Any thread. Returns: how many fibers wait for a time that is known.
  uint32_t size() const { return heap_.size(); }
  // Returns: the first deadline, or kNever.
  TimePoint earliest() const { return heap_.empty() ? kNever : heap_.earliest()->deadline; }

  // The deadline of a fiber has passed; the fiber has run since.
  void beginDue() { ++numDue_; }
  void endDue() { --numDue_; }
  bool areDue() const { return numDue_ != 0; }
  // Returns: whether a timer is set, or a fiber whose timer was due is still in the list of ready fibers.
  // Until it has run, the fibers before it may run no tasks in place.
  bool areSetOrDue() const { return !heap_.empty() || areDue(); }

  // While this exists, its fiber only tries again once its time has come: see Worker::blockForLock().
  class LookingAgain {
   public:
    explicit LookingAgain(Timers& timers) : timers_(timers) { ++timers_.numLookingAgain_; }
    ~LookingAgain() { --timers_.numLookingAgain_; }
    LookingAgain(const LookingAgain&) = delete;
    LookingAgain& operator=(const LookingAgain&) = delete;

   private:
    Timers& timers_;
  };
  bool doAllLookAgain() const { return heap_.size() + numUndated_ == numLookingAgain_; }

 private:
  friend struct LayoutAccess;

  static constexpr uint32_t kMostUndated = 64;             // some more than dequeues between two turns
  static constexpr uint32_t kUndated = uint32_t{1} << 31;  // a timerIndex, and up

  TimerHeap<FiberControlBlock> heap_;
  DueTime due_;  // of the earliest deadline
  uint32_t numUndated_ = 0;
  FiberControlBlock* undated_[kMostUndated];
  uint32_t numLookingAgain_ = 0;  // of the fibers in both
  uint32_t numDue_ = 0;
};

}  // namespace weft::inline v0_1::detail
