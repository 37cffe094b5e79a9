// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/port/processor_generic.h"

#if defined(__s390x__)
#define WEFT_HAS_PROCESSOR_HEADER

namespace weft::inline v0_1::detail::port {

using generic::addBySingleWriter;
using generic::Atomic;
using generic::fullFence;
using generic::kExceptionWords;
using generic::kTicksPerMicrosecond;  // the clock's instruction counts from 1900 on: too large for traces
using generic::pause;
using generic::prefetchForWrite;
using generic::ticks;

[[gnu::always_inline]] inline uintptr_t stackPointer() {
  uintptr_t here;
  asm volatile("lgr %0, %%r15" : "=r"(here));
  return here;
}

}  // namespace weft::inline v0_1::detail::port

#endif
