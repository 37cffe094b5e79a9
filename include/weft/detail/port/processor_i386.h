// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/port/processor_generic.h"

#if defined(__i386__)
#define WEFT_HAS_PROCESSOR_HEADER

namespace weft::inline v0_1::detail::port {

using generic::addBySingleWriter;
using generic::Atomic;
using generic::kExceptionWords;
using generic::prefetchForWrite;

// As on x86-64, a locked add is faster than `mfence`. Older processors have no such instruction.
[[gnu::always_inline]] inline void fullFence() {
  asm volatile("lock addl $0, -64(%%esp)" ::: "memory", "cc");
}

[[gnu::always_inline]] inline void pause() { __builtin_ia32_pause(); }

[[gnu::always_inline]] inline uintptr_t stackPointer() {
  uintptr_t here;
  asm volatile("mov %%esp, %0" : "=r"(here));
  return here;
}

[[gnu::always_inline]] inline uint64_t ticks() { return __builtin_ia32_rdtsc(); }
inline constexpr float kTicksPerMicrosecond = 2500;

}  // namespace weft::inline v0_1::detail::port

#endif
