// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/port/processor_generic.h"

#if defined(__riscv) && __riscv_xlen == 64
#define WEFT_HAS_PROCESSOR_HEADER

namespace weft::inline v0_1::detail::port {

using generic::addBySingleWriter;
using generic::fullFence;
using generic::kExceptionWords;
using generic::prefetchForWrite;

#if defined(__clang__) || __GNUC__ >= 14
using generic::Atomic;
#else
// GCC before 14 gives a compare-exchange its acquire, but neither its release nor seq_cst: it writes `lr` and
// `sc.aq`, and no fence. So a fence comes before it, whose release holds for the store that follows.
template <class T>
struct Atomic : std::atomic<T> {
  using std::atomic<T>::atomic;
  using std::atomic<T>::operator=;

  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure) noexcept {
    fenceBefore(success);
    return std::atomic<T>::compare_exchange_weak(expected, desired, success, failure);
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) noexcept {
    fenceBefore(success);
    return std::atomic<T>::compare_exchange_strong(expected, desired, success, failure);
  }

 private:
  [[gnu::always_inline]] static void fenceBefore(std::memory_order success) noexcept {
    // (1) acquire: the compiler gives it.
    if (success != std::memory_order_relaxed && success != std::memory_order_acquire) {
      // (2) seq_cst: asked for by the caller, whose note names its partners. This compiler has one fence.
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
  }
};
#endif

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
