// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/port/processor_generic.h"

#if defined(__riscv) && __riscv_xlen == 64
#define WEFT_HAS_PROCESSOR_HEADER

namespace weft::inline v0_1::detail::port {

using generic::addBySingleWriter;
using generic::fullFence;
using generic::prefetchForWrite;

// The instruction `pause`, by its number for assemblers that do not know it. Processors without it take it
// for a fence that orders nothing.
[[gnu::always_inline]] inline void pause() { asm volatile(".4byte 0x0100000f" ::: "memory"); }

[[gnu::always_inline]] inline uintptr_t stackPointer() {
  uintptr_t here;
  asm volatile("mv %0, sp" : "=r"(here));
  return here;
}

[[gnu::always_inline]] inline uint64_t ticks() {
  uint64_t now;
  asm volatile("rdtime %0" : "=r"(now));
  return now;
}
inline constexpr float kTicksPerMicrosecond = 10;  // 1 to 50

}  // namespace weft::inline v0_1::detail::port

#endif
