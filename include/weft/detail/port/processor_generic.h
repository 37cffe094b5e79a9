// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

// What processor.h asks for, by the compiler and the standard library alone.
namespace weft::inline v0_1::detail::port::generic {

template <class T>
using Atomic = std::atomic<T>;

[[gnu::always_inline]] inline void prefetchForWrite(const void* line) { __builtin_prefetch(line, 1); }

// (1) seq_cst: asked for by the caller, whose note names its partners.
[[gnu::always_inline]] inline void fullFence() { std::atomic_thread_fence(std::memory_order_seq_cst); }

// The compiler must not take a loop of these away.
[[gnu::always_inline]] inline void pause() { asm volatile("" ::: "memory"); }

// The frame of a call lies below all that its caller has on the stack.
[[gnu::noinline]] inline uintptr_t stackPointer() {
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
}

[[gnu::always_inline]] inline uint64_t ticks() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}
inline constexpr float kTicksPerMicrosecond = 1000;

// A pointer, and an unsigned int with padding.
inline constexpr size_t kExceptionWords = 2;

template <class Atomic>
[[gnu::always_inline]] inline void addBySingleWriter(Atomic& value, int64_t number) {
  // relaxed, both: a statistic.
  value.store(value.load(std::memory_order_relaxed) + static_cast<uint64_t>(number),
              std::memory_order_relaxed);
}

}  // namespace weft::inline v0_1::detail::port::generic
