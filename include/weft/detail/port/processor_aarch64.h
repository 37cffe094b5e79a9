// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/port/processor_generic.h"

#if defined(__aarch64__)
#define WEFT_HAS_PROCESSOR_HEADER

namespace weft::inline v0_1::detail::port {

using generic::addBySingleWriter;
using generic::Atomic;
using generic::fullFence;
using generic::kExceptionWords;
using generic::prefetchForWrite;

[[gnu::always_inline]] inline void pause() { asm volatile("yield" ::: "memory"); }

[[gnu::always_inline]] inline uintptr_t stackPointer() {
  uintptr_t here;
  asm volatile("mov %0, sp" : "=r"(here));
  return here;
}

// The counter of the generic timer, which Linux lets programs read.
[[gnu::always_inline]] inline uint64_t ticks() {
  uint64_t now;
  asm volatile("mrs %0, cntvct_el0" : "=r"(now));
  return now;
}
inline constexpr float kTicksPerMicrosecond = 25;  // 24 to 1000

}  // namespace weft::inline v0_1::detail::port

#endif
