// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "os/register_number.h"

#if defined(WEFT_UCONTEXT) && !defined(WEFT_HAS_REGISTERS)
#define WEFT_HAS_REGISTERS

#include <elf.h>
#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>

// Of a processor without a port nothing is known: there are no backtraces.
namespace weft::inline v0_1::detail::processor {

inline constexpr size_t kCount = 3;
inline constexpr size_t kFramePointer = 0;
inline constexpr size_t kStackPointer = 1;
inline constexpr size_t kPc = 2;
inline constexpr uint8_t kLink = kNoNumber;
inline constexpr uint8_t kSuspended[] = {kPc};
inline constexpr size_t kSuspendedSize = sizeof(uint64_t);
inline constexpr size_t kBelowCfa = 0;  // from the caller's stack pointer to the canonical frame address
inline constexpr std::array<uint8_t, 0> kInUserRegs{};
inline constexpr uint64_t kSampled = 0;
inline constexpr std::array<uint8_t, 0> kInSample{};
inline constexpr unsigned kElfMachine = EM_NONE;

// Returns: the bits of return addresses that may hold a signature; 0: none.
inline uint64_t signatureBits() { return 0; }

// Returns: a register of the code that a signal has interrupted.
inline uint64_t ofContext(const ucontext_t&, size_t) { return 0; }

}  // namespace weft::inline v0_1::detail::processor

#endif
