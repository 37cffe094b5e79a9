// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/worker/worker_hooks.h"

#include <utility>

namespace weft::inline v0_1::detail {

void WorkerHooks::set(const FiberHooks* hooks) {
  callLeft(false);
  hooks_ = hooks;
}

void WorkerHooks::callEntered(FiberControlBlock& fiber, bool isFirst) {
  callLeft(false);
  if (fiber.task == nullptr) {
    return;
  }
  run_ = {.code = fiber.task,
          .task = fiber.scope()->number,
          .fiber = fiber.id,
          .worker = worker_,
          .isFirst = isFirst,
          .isLast = false};
  hasEntered_ = true;
  if (hooks_->entered != nullptr) {
    hooks_->entered(run_);
  }
}

void WorkerHooks::callLeft(bool isLast) {
  if (std::exchange(hasEntered_, false)) {
    run_.isLast = isLast;
    if (hooks_->left != nullptr) {
      hooks_->left(run_);
    }
  }
}

void WorkerHooks::callAtSwitch(FiberControlBlock& from, FiberControlBlock& to) {
  // A hook that asks for a name goes to another stack, from the one that the thread is still on.
  currentFiber = &from;
  callLeft(false);
  callEntered(to, false);
  currentFiber = &to;
}

}  // namespace weft::inline v0_1::detail
