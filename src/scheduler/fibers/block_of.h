// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

#include "scheduler/fibers/fiber_control_block.h"

namespace weft::inline v0_1::detail {

// The compilers that weft is compiled with know the offsets of all members.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
// Returns: the control block that `fiber` is a member of.
inline FiberControlBlock& blockOf(OSFiber& fiber) {
  return *reinterpret_cast<FiberControlBlock*>(reinterpret_cast<char*>(&fiber) -
                                               offsetof(FiberControlBlock, os));
}
#pragma GCC diagnostic pop

}  // namespace weft::inline v0_1::detail
