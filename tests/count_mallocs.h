// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <weft/sanitizers.h>

// Counts what a program takes from the C library's allocator, operator new included. For one file of a
// program. A sanitizer has an allocator of its own: then nothing is counted.
namespace weft::tests {

inline constexpr bool kCountsMallocs = WEFT_ADDRESS_SANITIZER_ENABLED == 0 &&
                                       WEFT_THREAD_SANITIZER_ENABLED == 0 &&
                                       WEFT_MEMORY_SANITIZER_ENABLED == 0;

inline constinit std::atomic<uint64_t> mallocCount{0};

inline uint64_t numMallocs() { return mallocCount.load(); }

}  // namespace weft::tests

#if WEFT_ADDRESS_SANITIZER_ENABLED == 0 && WEFT_THREAD_SANITIZER_ENABLED == 0 && \
    WEFT_MEMORY_SANITIZER_ENABLED == 0

extern "C" {

void* __libc_malloc(size_t size) noexcept;
void* __libc_calloc(size_t count, size_t size) noexcept;
void* __libc_realloc(void* memory, size_t size) noexcept;
void* __libc_memalign(size_t alignment, size_t size) noexcept;

void* malloc(size_t size) noexcept {
  weft::tests::mallocCount.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) noexcept {
  weft::tests::mallocCount.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) noexcept {
  weft::tests::mallocCount.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(memory, size);
}
void* aligned_alloc(size_t alignment, size_t size) noexcept {
  weft::tests::mallocCount.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) noexcept {
  weft::tests::mallocCount.fetch_add(1, std::memory_order_relaxed);
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}

}  // extern "C"

#endif
