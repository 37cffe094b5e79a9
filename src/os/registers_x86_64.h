// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "os/register_number.h"

#if defined(__x86_64__)
#define WEFT_HAS_REGISTERS

#include <elf.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace weft::inline v0_1::detail::processor {

inline constexpr size_t kCount = 17;
inline constexpr size_t kFramePointer = 6;
inline constexpr size_t kStackPointer = 7;
inline constexpr size_t kPc = 16;
inline constexpr uint8_t kLink = kNoNumber;  // a call leaves its return address on the stack
// What weft_fiber_switch saves, from the stack pointer upwards.
inline constexpr uint8_t kSuspended[] = {15, 14, 13, 12, 3, 6, kPc};
inline constexpr size_t kSuspendedSize = 56;
inline constexpr size_t kBelowCfa = 0;  // from the caller's stack pointer to the canonical frame address
inline constexpr size_t kWatchAt = 0;   // from the stack pointer of weft_call_watched
// The members of the system's user_regs_struct.
inline constexpr uint8_t kInUserRegs[] = {15, 14, 13, 12, 6, 3,         11,  10,        9,         8,
                                          0,  2,  1,  4,  5, kNoNumber, kPc, kNoNumber, kNoNumber, 7};
// The registers that a sample of the kernel is to have (enum perf_event_x86_regs), in its order.
inline constexpr uint64_t kSampled = 0xff01ff;
inline constexpr uint8_t kInSample[] = {0, 3, 2, 1, 4, 5, 6, 7, kPc, 8, 9, 10, 11, 12, 13, 14, 15};
inline constexpr unsigned kElfMachine = EM_X86_64;  // of core files

// Returns: the bits of return addresses that may hold a signature; 0: none.
inline uint64_t signatureBits() { return 0; }

// Returns: a register of the code that a signal has interrupted.
inline uint64_t ofContext(const ucontext_t& context, size_t number) {
  constexpr int kOrder[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
                            REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  return static_cast<uint64_t>(context.uc_mcontext.gregs[kOrder[number]]);
}

}  // namespace weft::inline v0_1::detail::processor

#endif
