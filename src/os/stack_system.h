// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "os/stack_pool.h"

// How a StackPool deals with the system, with tools that watch memory, and with guards.
namespace weft::inline v0_1::detail {

bool runsOnValgrind() noexcept;

// These tell a leak checker where pointers may lie, and where they no longer may.
void registerRoots(const char* memory, size_t bytes) noexcept;
void unregisterRoots(const char* memory, size_t bytes) noexcept;

// These tell Valgrind of a stack, and that it is gone.
uint32_t valgrindRegister(const Stack& stack) noexcept;
void valgrindForget(uint32_t id) noexcept;

inline constexpr uint32_t kMaxGuardsAtOnce = 64;

// The result for guards that could not be marks in the page table.
struct OtherGuards {
  uint32_t numProtected = 0;
  uint32_t numUnguarded = 0;
};

// Makes guards of the `count` pages in `pieces`, if the system can. Requires: count <= kMaxGuardsAtOnce.
OtherGuards makeGuards(const iovec* pieces, uint32_t count) noexcept;

// Records that `count` guards without access no longer exist.
void forgetProtectedGuards(uint32_t count) noexcept;

}  // namespace weft::inline v0_1::detail
