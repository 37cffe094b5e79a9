// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/task_scope.h"

namespace weft::detail {

// What reports look at: defined by them.
struct OwnerAccess;

// Who asks, as one that may own a lock: the task, or something that is the thread's alone.
inline const void* currentOwner() noexcept {
  return currentTask != nullptr ? static_cast<const void*>(currentTask) : &currentTask;
}

// Whether `owner` is the caller, or waits for it where both run on one fiber: then a lock that it holds never
// comes free.
inline bool isOrWaitsForCaller(const void* owner) noexcept {
  return owner == currentOwner() || waitsForCaller(owner);
}

}  // namespace weft::detail
