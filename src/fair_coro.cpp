// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "weft/fair/coro.h"

namespace weft::fair {

CoroTask::CoroTask(Coro<> body)
    : Task(this, &CoroTask::step), outermost_(std::exchange(body.frame_, nullptr)) {
  WEFT_ASSERT(outermost_ != nullptr && outermost_->stack == nullptr,
              "a fair::CoroTask needs a body that was neither moved from nor awaited.");
  stack_.task = this;
  stack_.innermost = outermost_;
  outermost_->stack = &stack_;
}

// From the innermost to the outermost, as if each returned; none then finds the one that it awaits, so that
// destroying does not recurse.
CoroTask::~CoroTask() {
  detail::CoroFrame* frame = stack_.innermost != nullptr ? stack_.innermost : outermost_;
  while (frame != nullptr) {
    detail::CoroFrame* const caller = frame->caller;
    if (frame->holder != nullptr) {
      *frame->holder = nullptr;
    }
    frame->handle.destroy();
    frame = caller;
  }
}

void CoroTask::step() {
  // What it waits for is a signal, and it was only woken up.
  if (stack_.isForSignal && !isSignaled() && TimePoint::clock::now() < stack_.deadline) {
    TaskScheduler::current()->postDeadline(this, stack_.deadline);
    return;
  }
  stack_.isForSignal = false;
  while (stack_.innermost != nullptr) {
    stack_.innermost->handle.resume();
    if (TaskScheduler* next = std::exchange(stack_.scheduler, nullptr)) {
      next->postDeadline(this, stack_.deadline);
      return;
    }
  }
  outermost_->rethrow();
}

}  // namespace weft::fair
