// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/task_node.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// A waiter among the listeners of a ticket or future, else tasks. It lies in the wait's frame.
struct alignas(16) WaitingListener : TaskNode {
  explicit WaitingListener(Waiter& self) : TaskNode{nullptr, nullptr, 0}, waiter(&self) {}

  static bool is(const TaskNode& listener) { return listener.invoke == nullptr; }

  Waiter* const waiter;
};

}  // namespace weft::inline v0_1::detail
