// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "scheduler/worker/worker.h"

// How a worker calls hooks: see setFiberHooks().
//
// The worker keeps the run with which it has called `entered`. So `left` follows each `entered` once, also if
// the hooks change meanwhile, or if a destructor of a FiberLocal waits after its task.
namespace weft::inline v0_1::detail {

void Worker::setHooks(const FiberHooks* hooks) {
  callLeft(false);
  hooks_ = hooks;
}

void Worker::callEntered(FiberControlBlock& fiber, bool isFirst) {
  callLeft(false);
  if (fiber.task == nullptr) {
    return;
  }
  run_ = {.code = fiber.task,
          .task = fiber.scope()->number,
          .fiber = fiber.id,
          .worker = publicId(),
          .isFirst = isFirst,
          .isLast = false};
  hasEntered_ = true;
  if (hooks_->entered != nullptr) {
    hooks_->entered(run_);
  }
}

void Worker::callLeft(bool isLast) {
  if (std::exchange(hasEntered_, false)) {
    run_.isLast = isLast;
    if (hooks_->left != nullptr) {
      hooks_->left(run_);
    }
  }
}

void Worker::callAtSwitch(FiberControlBlock& from, FiberControlBlock& to) {
  // A hook that asks for a name goes to another stack, from the one that the thread is still on.
  currentFiber = &from;
  callLeft(false);
  callEntered(to, false);
  currentFiber = &to;
}

}  // namespace weft::inline v0_1::detail
