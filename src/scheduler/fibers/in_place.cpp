// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/fibers/in_place.h"

#include <atomic>
#include <utility>

#include "scheduler/core/scheduler_core.h"
#include "scheduler/worker/worker.h"
#include "weft/detail/base/exception_state.h"
#include "weft/detail/base/owner.h"
#include "weft/fiberlocal.h"

namespace weft::inline v0_1::detail {

constinit thread_local TaskScope* currentTask = nullptr;
constinit thread_local TaskScope threadScope;

bool Worker::takeToRunInPlace(TaskNode* node) {
  return hasStackForTask() && lane().mayRunInPlace() && tasks_.takeIfNewest(node);
}

bool Worker::hasStackForTask() const { return isRunningTask() && currentTask->leavesStackForTask(); }

// In a thread's stack of more than 1 GiB only the topmost part counts, since addresses are compared by their
// lower halves. In one that the system does not tell no task begins: see FiberSwitch::enterThread().
void Worker::findRoomInThreadStack() {
  constexpr size_t kCounted = size_t{1} << 30;
  if (const ThreadStack stack = threadStack(); stack.base != nullptr) {
    const size_t ignored = stack.size > kCounted ? stack.size - kCounted : 0;
    threadScope.inPlaceEnd =
        endOfTasksInPlace(reinterpret_cast<uintptr_t>(stack.base) + ignored, core_.config.fiberStackSize);
  }
}

uint32_t endOfTasksInPlace(uintptr_t bottom, size_t fiberStackSize) {
  return static_cast<uint32_t>(bottom + fiberStackSize / 8 * kStackInPlace);
}

void Worker::runInPlace(TaskNode* node) {
  if (!ExceptionState::isEmpty(lane().exceptions)) [[unlikely]] {
    runInPlaceAside(node);
    return;
  }
  FiberControlBlock& fiber = fibers_.current();
  const void* outer = fiber.task.get();
  fiber.task.set(reinterpret_cast<const void*>(node->invoke));
  {
    InPlaceScope scope;
    node->invoke(node, TaskOp::Run);
    scope.endTask();
  }
  fiber.task.set(outer);
  lane().counters.countEnded();
}

// For a waiter that handles or throws an exception, which is none of the task's.
[[gnu::cold, gnu::noinline]] void Worker::runInPlaceAside(TaskNode* node) {
  const ExceptionsAside aside(lane().exceptions);
  runInPlace(node);
}

InPlaceFibers::~InPlaceFibers() {
  while (spares_ != nullptr) {
    allocator_->destroy(std::exchange(spares_, spares_->nextSpare));
  }
}

InPlaceFiber& InPlaceFibers::take(FiberControlBlock& host) {
  InPlaceFiber* fiber = spares_;
  if (fiber != nullptr) {
    spares_ = fiber->nextSpare;
  } else {
    fiber = allocator_->create<InPlaceFiber>(numMade_++);
  }
  fiber->host = &host;
  fiber->permit.reset();
  return *fiber;
}

void InPlaceFibers::giveBack(InPlaceFiber& fiber) { fiber.nextSpare = std::exchange(spares_, &fiber); }

// What only this file does with a scope.
struct InPlaceAccess {
  static InPlaceScope& current() { return static_cast<InPlaceScope&>(*currentTask); }

  // The innermost scope, which has no number yet.
  static InPlaceScope& begin() {
    InPlaceScope& scope = current();
    scope.number = static_cast<FiberControlBlock*>(currentFiber)->worker->newTaskNumber();
    scope.locals_ = nullptr;
    scope.fiber_ = nullptr;
    return scope;
  }

  // The innermost scope, which has a number afterwards.
  static InPlaceScope& begun() { return current().number != 0 ? current() : begin(); }

  static InPlaceFiber*& fiber(InPlaceScope& scope) { return scope.fiber_; }
  static FiberLocalNode*& locals(InPlaceScope& scope) { return scope.locals_; }
  static const TaskScope* outer(const TaskScope& scope) {
    return static_cast<const InPlaceScope&>(scope).outer_;
  }
};

bool isInPlace(const TaskScope& task) noexcept {
  return &task != static_cast<FiberControlBlock*>(currentFiber)->scope() && &task != &threadScope;
}

uint64_t numberInPlace() noexcept { return InPlaceAccess::begin().number; }

uint64_t threadNumber() noexcept {
  static constinit std::atomic<uint64_t> newest{0};
  static constinit thread_local uint64_t number = 0;
  if (number == 0) {
    number = newest.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: it orders nothing
  }
  return number;
}

FiberLocalNode*& inPlaceLocals() noexcept { return InPlaceAccess::locals(InPlaceAccess::begun()); }

Fiber* inPlaceFiber() noexcept {
  if (currentFiber == nullptr) [[unlikely]] {
    return nullptr;  // in a child of fork()
  }
  if (!isInPlace(*currentTask)) {
    return currentFiber;
  }
  InPlaceFiber*& fiber = InPlaceAccess::fiber(InPlaceAccess::begun());
  if (fiber == nullptr) {
    fiber = &Worker::current()->inPlaceFibers().take(*static_cast<FiberControlBlock*>(currentFiber));
  }
  return fiber;
}

void InPlaceScope::giveBack() {
  destroyFiberLocals(locals_);
  if (fiber_ != nullptr) {
    Worker::current()->inPlaceFibers().giveBack(*fiber_);
  }
}

bool waitsForCaller(const void* task) noexcept {
  if (currentTask == nullptr) {
    return false;
  }
  for (const TaskScope* inner = currentTask; isInPlace(*inner);) {
    inner = InPlaceAccess::outer(*inner);
    if (inner == task) {
      return true;
    }
  }
  return false;
}

}  // namespace weft::inline v0_1::detail
