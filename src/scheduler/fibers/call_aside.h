// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "os/aside.h"
#include "scheduler/fibers/fiber_control_block.h"

namespace weft::inline v0_1::detail {

// Calls `function(argument)` on a stack of its own, as the other callAside() does. Any thread, any fiber.
inline void callAside(void (*function)(void*), void* argument) {
  const auto* fiber = static_cast<const FiberControlBlock*>(currentFiber);
  callAside(fiber != nullptr ? &fiber->os : nullptr, function, argument);
}

}  // namespace weft::inline v0_1::detail
