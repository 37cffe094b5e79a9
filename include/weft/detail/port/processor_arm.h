// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/detail/port/processor_generic.h"

#if defined(__arm__)
#define WEFT_HAS_PROCESSOR_HEADER

namespace weft::inline v0_1::detail::port {

using generic::addBySingleWriter;
using generic::Atomic;
using generic::fullFence;
using generic::kTicksPerMicrosecond;  // not each processor has a counter that programs may read
using generic::prefetchForWrite;
using generic::ticks;

// The third leads to the exceptions for which destructors run (propagatingExceptions).
inline constexpr size_t kExceptionWords = 3;

[[gnu::always_inline]] inline void pause() { asm volatile("yield" ::: "memory"); }

[[gnu::always_inline]] inline uintptr_t stackPointer() {
  uintptr_t here;
  asm volatile("mov %0, sp" : "=r"(here));
  return here;
}

}  // namespace weft::inline v0_1::detail::port

#endif
