// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/port/processor_generic.h"

#if defined(__x86_64__)
#define WEFT_HAS_PROCESSOR_HEADER

namespace weft::inline v0_1::detail::port {

using generic::Atomic;
using generic::kExceptionWords;

// __builtin_prefetch prefetches for reading, unless the compiler targets a processor with prefetchw.
[[gnu::always_inline]] inline void prefetchForWrite(const void* line) {
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
}

// A locked add to the stack: the `mfence` that compilers emit takes about twice as long.
[[gnu::always_inline]] inline void fullFence() {
  asm volatile("lock addl $0, -64(%%rsp)" ::: "memory", "cc");
}

[[gnu::always_inline]] inline void pause() { __builtin_ia32_pause(); }

[[gnu::always_inline]] inline uintptr_t stackPointer() {
  uintptr_t here;
  asm volatile("mov %%rsp, %0" : "=r"(here));
  return here;
}

[[gnu::always_inline]] inline uint64_t ticks() { return __builtin_ia32_rdtsc(); }
inline constexpr float kTicksPerMicrosecond = 2500;

// Compilers make three instructions of a relaxed load and a relaxed store.
template <class Atomic>
[[gnu::always_inline]] inline void addBySingleWriter(Atomic& value, int64_t number) {
  asm("addq %1, %0" : "+m"(value) : "er"(number) : "cc");
}

}  // namespace weft::inline v0_1::detail::port

#endif
