// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "os/stack_pool.h"

// What a StackPool has to do with the system, with the tools that watch memory, and with guards.
namespace weft::detail {

bool runsOnValgrind() noexcept;

// Tell a leak checker where pointers may lie, and where no more.
void registerRoots(const char* memory, size_t bytes) noexcept;
void unregisterRoots(const char* memory, size_t bytes) noexcept;

// Tell Valgrind of a stack, and that it is gone.
uint32_t valgrindRegister(const Stack& stack) noexcept;
void valgrindForget(uint32_t id) noexcept;

inline constexpr uint32_t kMaxGuardsAtOnce = 64;

// What became of guards that could not be marks in the page table.
struct OtherGuards {
  uint32_t numProtected = 0;
  uint32_t numUnguarded = 0;
};

// Makes the `count` pages that `pieces` lists guards, as far as the system allows. Requires: count <=
// kMaxGuardsAtOnce.
OtherGuards makeGuards(const iovec* pieces, uint32_t count) noexcept;

// Says that so many guards without access are no more.
void forgetProtectedGuards(uint32_t count) noexcept;

}  // namespace weft::detail
