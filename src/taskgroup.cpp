// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/taskgroup.h"

#include <exception>
#include <mutex>
#include <utility>

#include "waiter_inl.h"
#include "weft/debug.h"

namespace weft {

void TaskGroup::waitForOthers() {
  detail::Waiter& self = detail::inlined::currentWaiter();
  detail::noteForks(self);
  waiter_ = &self;
  const int64_t given = kNobodyWaits - std::exchange(numOwn_, 0);
  // (3) acq_rel: releases the waiter to whoever ends the last task, and acquires what those have done that have ended; pairs with
  // (2).
  if (others_.fetch_sub(given, std::memory_order_acq_rel) != given) {
    detail::inlined::block(self, "TaskGroup", this);
  }
  // relaxed: no task is left.
  others_.store(kNobodyWaits, std::memory_order_relaxed);
}

void TaskGroup::cancel() {
  std::stop_source source(std::nostopstate);
  {
    std::scoped_lock guard(lock_);
    // relaxed: a hint to tasks that are about to begin; token() reads it under the lock.
    isCanceled_.store(true, std::memory_order_relaxed);
    source = source_;
  }
  // Not under the lock: this calls functions.
  source.request_stop();
}

std::stop_token TaskGroup::token() {
  std::scoped_lock guard(lock_);
  if (!source_.stop_possible()) {
    source_ = std::stop_source();
    if (isCanceled()) {
      source_.request_stop();
    }
  }
  return source_.get_token();
}

void TaskGroup::fail(detail::EscapedException&& escaped) {
  // relaxed: the end of the task publishes the exception to whoever waits for it.
  if (!hasFailed_.exchange(true, std::memory_order_relaxed)) {
    exception_ = std::move(escaped);
  }
  cancel();
}

void TaskGroup::reportUnlessThrowing() {
  WEFT_ASSERT(
      std::uncaught_exceptions() > 0,
      "a TaskGroup was destroyed whose task had let an exception escape, and nobody had called wait(), which throws it. Call "
      "wait() before the group ends.");
}

}  // namespace weft
