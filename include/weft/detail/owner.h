// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/fiber.h"

namespace weft::detail {

// Who asks, as one that may own a lock: the fiber, or something that is the thread's alone.
inline const void* currentOwner() noexcept {
  return currentFiber != nullptr ? static_cast<const void*>(currentFiber) : &currentFiber;
}

}  // namespace weft::detail
