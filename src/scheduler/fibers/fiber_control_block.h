// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "os/osfiber.h"
#include "os/stack_pool.h"
#include "weft/detail/park/permit.h"
#include "weft/detail/queue/inbox.h"
#include "weft/detail/queue/timer_heap.h"
#include "weft/detail/wait/waiter.h"
#include "weft/fiber.h"
#include "weft/waithandler.h"

namespace weft::inline v0_1::detail {

class Reactor;
class Worker;
struct FiberLocalNode;

// A fiber's control block. Blocks lie in dense slabs apart from the stacks, so that waking very many fibers
// touches little memory. A member belongs to the thread of `worker` unless its comment says otherwise.
struct FiberControlBlock final : Fiber {
  FiberControlBlock(Worker& owner, uint32_t fiberId) : Fiber(fiberId), worker(&owner) { waiter.fiber = this; }

  Waiter waiter;  // guarded by the primitive that it is linked in
  Worker* const worker;
  InboxLink<FiberControlBlock> inboxNext;  // the inbox's
  FiberControlBlock* listNext = nullptr;   // in the ready list or the idle list
  TimePoint deadline{};
  Permit<> permit;                  // any thread
  bool isQueued = false;            // in the ready list
  bool isWoken = false;             // the wake() that block() waits for has come
  bool isWokenFromOutside = false;  // the waker's until its push: no worker thread of this scheduler
  bool isTimedOut : 1 = false;
  bool hasScheduled : 1 = false;  // since its task began
  bool isInIoOfSelect : 1 = false;
  bool hadScheduledBefore : 1 = false;  // while isInIoOfSelect
  OSFiber os;
  void* stackBase = nullptr;  // null while the fiber has no stack
  uint32_t stackId = 0;       // the pool's
  uint32_t timerIndex = kNotInHeap;
  const char* blockedOn = nullptr;  // what the fiber waits for, while it waits; for reports
  const void* blockedObject = nullptr;
  const void* task = nullptr;        // the code of the task that runs on it, or null
  FiberLocalNode* locals = nullptr;  // the task's values of FiberLocals

  // The tops of stacks are spread over so many bytes: the size in `os` is up to that much smaller.
  static constexpr size_t kSpread = 1024;
  Stack stack() const {
    const size_t size = (os.stackSize + kSpread - 1) / kSpread * kSpread;
    return {stackBase, static_cast<uint32_t>(size), stackId};
  }

  TaskScope* scope() { return this; }
  const TaskScope* scope() const { return this; }

  // The Permit's host.
  void wake() noexcept;
  void block();
  bool blockUntil(TimePoint deadline);
};

static_assert(sizeof(FiberControlBlock) <= 192, "a hundred thousand blocked fibers are to stay cheap");

// The waiting of a thread that runs no fibers, defined in thread_waiter.cpp.
Waiter& threadWaiter() noexcept;
bool blockThreadUntil(Waiter& self, TimePoint deadline);
bool parkThreadUntil(Waiter& self, TimePoint deadline);  // without the wait handler
void wakeThread(Waiter& waiter) noexcept;
// What the thread sleeps in instead of its parker's futex; null: it does not.
void setThreadReactor(Reactor* reactor) noexcept;

// While it exists, the thread's waits call no handler. For locks: the handler itself could need the lock.
class WithoutHandler {
 public:
  WithoutHandler() noexcept;
  ~WithoutHandler();
  WithoutHandler(const WithoutHandler&) = delete;
  WithoutHandler& operator=(const WithoutHandler&) = delete;

 private:
  const bool wasOn_;
};

// Returns: whether `waiter` belongs to the calling fiber, or to the calling thread outside of fibers.
bool isOwnWaiter(const Waiter& waiter) noexcept;

// Prefetches what `fiber` touches first: the newest lines of its stack, and the next block in its list.
inline void prefetchStack(const FiberControlBlock& fiber) {
  constexpr size_t kLines = 6;
  const auto* sp = static_cast<const char*>(fiber.os.sp);
  for (size_t i = 0; i < kLines; ++i) {
    __builtin_prefetch(sp + i * kCacheLine, 1);
  }
  __builtin_prefetch(fiber.listNext, 1);
}

// A list of fibers, first in, first out, linked through listNext.
class FiberList {
 public:
  bool isEmpty() const { return first_ == nullptr; }

  void pushBack(FiberControlBlock& fiber) {
    fiber.listNext = nullptr;
    (first_ != nullptr ? last_->listNext : first_) = &fiber;
    last_ = &fiber;
  }

  void pushFront(FiberControlBlock& fiber) {
    fiber.listNext = first_;
    if (first_ == nullptr) {
      last_ = &fiber;
    }
    first_ = &fiber;
  }

  FiberControlBlock* popFront() {
    FiberControlBlock* fiber = first_;
    if (fiber != nullptr) {
      first_ = fiber->listNext;
    }
    return fiber;
  }

  FiberControlBlock* front() const { return first_; }

 private:
  FiberControlBlock* first_ = nullptr;
  FiberControlBlock* last_ = nullptr;  // meaningful while there is a first
};

}  // namespace weft::inline v0_1::detail
