// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/task_scope.h"
#include "weft/export.h"

namespace weft::inline v0_1::detail {

struct LayoutAccess;  // for reports

// Returns: the caller as a possible owner of a lock: its task; outside of tasks, its thread.
inline const void* currentOwner() noexcept { return currentTask != nullptr ? currentTask : &threadScope; }

// Returns: the number of the calling thread, which no other thread of the process has or had.
WEFT_EXPORT uint64_t threadNumber() noexcept;

// Returns: a number that tells the caller from earlier owners with the same address: tasks that ended on this
// fiber, or threads whose memory this thread reuses. Owners with different addresses may have equal numbers.
inline uint64_t currentOwnerNumber() noexcept {
  const void* owner = currentOwner();
  return owner == &threadScope ? detail::threadNumber() : detail::currentTaskNumber();
}

// Returns: whether `owner` is the caller, or waits for the caller on the caller's fiber. A lock that such an
// owner holds never comes free.
inline bool isOrWaitsForCaller(const void* owner) noexcept {
  return owner == currentOwner() || waitsForCaller(owner);
}

}  // namespace weft::inline v0_1::detail
