// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "os/register_number.h"

#if defined(__s390x__)
#define WEFT_HAS_REGISTERS

#include <elf.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace weft::inline v0_1::detail::processor {

inline constexpr size_t kCount = 66;
inline constexpr size_t kFramePointer = 11;
inline constexpr size_t kStackPointer = 15;
inline constexpr size_t kPc = 65;
inline constexpr uint8_t kLink = 14;  // where a call leaves its return address
// What weft_fiber_switch saves, from the stack pointer upwards. In the places of r0 to r5, which no caller
// needs, are other values.
inline constexpr uint8_t kSuspended[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, kPc};
inline constexpr size_t kSuspendedSize = 0;  // the registers lie in the caller's frame
// From the caller's stack pointer to the canonical frame address: where a callee may save registers.
inline constexpr size_t kBelowCfa = 160;
// From what the unwinder takes for the stack pointer of weft_call_watched: behind the 160 bytes of its
// callees.
inline constexpr size_t kWatchAt = 0;
// The members of the system's user_regs_struct, which begin with the program status word: mask, address.
inline constexpr uint8_t kInUserRegs[] = {kNoNumber, kPc, 0, 1,  2,  3,  4,  5,  6,
                                          7,         8,   9, 10, 11, 12, 13, 14, 15};
// The registers that a sample of the kernel is to have (enum perf_event_s390_regs), in its order.
inline constexpr uint64_t kSampled = 0x20000ffff;
inline constexpr uint8_t kInSample[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, kPc};
inline constexpr unsigned kElfMachine = EM_S390;  // of core files

// Returns: the bits of return addresses that may hold a signature; 0: none.
inline uint64_t signatureBits() { return 0; }

// Returns: a register of the code that a signal has interrupted.
inline uint64_t ofContext(const ucontext_t& context, size_t number) {
  if (number == kPc) {
    return context.uc_mcontext.psw.addr;
  }
  return number <= kStackPointer ? context.uc_mcontext.gregs[number] : 0;
}

}  // namespace weft::inline v0_1::detail::processor

#endif
