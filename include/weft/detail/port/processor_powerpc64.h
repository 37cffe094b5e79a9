// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/port/processor_generic.h"

#if defined(__powerpc64__)
#define WEFT_HAS_PROCESSOR_HEADER

namespace weft::inline v0_1::detail::port {

using generic::addBySingleWriter;
using generic::Atomic;
using generic::fullFence;
using generic::kExceptionWords;
using generic::prefetchForWrite;

// The hint that lets the processor's other threads go first.
[[gnu::always_inline]] inline void pause() { asm volatile("or 27, 27, 27" ::: "memory"); }

[[gnu::always_inline]] inline uintptr_t stackPointer() {
  uintptr_t here;
  asm volatile("mr %0, 1" : "=r"(here));
  return here;
}

// The time base, whose rate is the architecture's.
[[gnu::always_inline]] inline uint64_t ticks() { return __builtin_ppc_get_timebase(); }
inline constexpr float kTicksPerMicrosecond = 512;

}  // namespace weft::inline v0_1::detail::port

#endif
