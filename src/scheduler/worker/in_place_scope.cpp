// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/fibers/in_place.h"
#include "scheduler/worker/worker.h"
#include "weft/detail/base/owner.h"
#include "weft/detail/base/task_scope.h"
#include "weft/fiberlocal.h"

// What belongs to a task that is run in place: the worker gives it a number, and a Fiber, when it asks.
namespace weft::inline v0_1::detail {

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
