// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "os/register_number.h"

#if defined(__riscv) && __riscv_xlen == 64
#define WEFT_HAS_REGISTERS

#include <elf.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace weft::inline v0_1::detail::processor {

inline constexpr size_t kCount = 65;
inline constexpr size_t kFramePointer = 8;
inline constexpr size_t kStackPointer = 2;
inline constexpr size_t kPc = 64;
inline constexpr uint8_t kLink = 1;  // where a call leaves its return address
// What weft_fiber_switch saves, from the stack pointer upwards, before floating-point registers. It returns
// to what was in ra.
inline constexpr uint8_t kSuspended[] = {8, kPc, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27};
inline constexpr size_t kSuspendedSize = 208;
inline constexpr size_t kBelowCfa = 0;  // from the caller's stack pointer to the canonical frame address
inline constexpr size_t kWatchAt = 0;   // from the stack pointer of weft_call_watched
// The members of the system's user_regs_struct, whose first is the pc.
inline constexpr uint8_t kInUserRegs[] = {kPc, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                          16,  17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
// The registers that a sample of the kernel is to have (enum perf_event_riscv_regs), in its order.
inline constexpr uint64_t kSampled = 0xffffffff;
inline constexpr auto& kInSample = kInUserRegs;
inline constexpr unsigned kElfMachine = EM_RISCV;  // of core files

// Returns: the bits of return addresses that may hold a signature; 0: none.
inline uint64_t signatureBits() { return 0; }

// Returns: a register of the code that a signal has interrupted.
inline uint64_t ofContext(const ucontext_t& context, size_t number) {
  if (number == kPc) {  // which is in the place of the register that is always 0
    return context.uc_mcontext.__gregs[0];
  }
  return number >= 1 && number <= 31 ? context.uc_mcontext.__gregs[number] : 0;
}

}  // namespace weft::inline v0_1::detail::processor

#endif
