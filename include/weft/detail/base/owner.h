// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/task_scope.h"
#include "weft/export.h"

namespace weft::inline v0_1::detail {

// The access of reports to owners; they define it.
struct OwnerAccess;

// Returns: the caller as a possible owner of a lock: the task, or the thread outside of tasks. To a lock the
// code between bind() and unbind() is the thread, as it is before and after.
inline const void* currentOwner() noexcept { return currentTask != nullptr ? currentTask : &threadScope; }

// Returns: the number of the calling thread. No other thread in the process has had it.
WEFT_EXPORT uint64_t threadNumber() noexcept;

// Returns: a number that tells the caller from owners before it that had the same address: a task that ended
// on the same fiber, or a thread that ended and whose memory this thread has got. Owners with different
// addresses may have the same number.
inline uint64_t currentOwnerNumber() noexcept {
  const void* owner = currentOwner();
  return owner == &threadScope ? detail::threadNumber() : detail::currentTaskNumber();
}

// Returns: whether `owner` is the caller, or waits for the caller where both run on one fiber. A lock that
// such an owner holds never comes free.
inline bool isOrWaitsForCaller(const void* owner) noexcept {
  return owner == currentOwner() || waitsForCaller(owner);
}

}  // namespace weft::inline v0_1::detail
