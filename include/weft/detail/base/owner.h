// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/task_scope.h"

namespace weft::detail {

// The access of reports to owners; they define it.
struct OwnerAccess;

// Returns: the caller as a possible owner of a lock: the task, or the thread outside of tasks. To a lock the
// code between bind() and unbind() is the thread, as it is before and after.
inline const void* currentOwner() noexcept { return currentTask != nullptr ? currentTask : &threadScope; }

// Returns: whether `owner` is the caller, or waits for the caller where both run on one fiber. A lock that
// such an owner holds never comes free.
inline bool isOrWaitsForCaller(const void* owner) noexcept {
  return owner == currentOwner() || waitsForCaller(owner);
}

}  // namespace weft::detail
