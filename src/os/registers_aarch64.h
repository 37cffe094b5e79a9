// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "os/register_number.h"

#if defined(__aarch64__)
#define WEFT_HAS_REGISTERS

#include <elf.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace weft::inline v0_1::detail::processor {

inline constexpr size_t kCount = 33;
inline constexpr size_t kFramePointer = 29;
inline constexpr size_t kStackPointer = 31;
inline constexpr size_t kPc = 32;
inline constexpr uint8_t kLink = 30;  // where a call leaves its return address
// What weft_fiber_switch saves, from the stack pointer upwards, before vector registers. It returns to what
// was in the link register.
inline constexpr uint8_t kSuspended[] = {29, kPc, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28};
inline constexpr size_t kSuspendedSize = 160;
inline constexpr size_t kBelowCfa = 0;  // from the caller's stack pointer to the canonical frame address
inline constexpr size_t kWatchAt = 0;   // from the stack pointer of weft_call_watched
// The members of the system's user_regs_struct.
inline constexpr uint8_t kInUserRegs[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,   9,        10, 11,
                                          12, 13, 14, 15, 16, 17, 18, 19, 20,  21,       22, 23,
                                          24, 25, 26, 27, 28, 29, 30, 31, kPc, kNoNumber};
// The registers that a sample of the kernel is to have (enum perf_event_arm_regs), in its order.
inline constexpr uint64_t kSampled = 0x1ffffffff;
inline constexpr uint8_t kInSample[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                        17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, kPc};
inline constexpr unsigned kElfMachine = EM_AARCH64;  // of core files

// Returns: the bits of return addresses that may hold a signature, in processes of this system; 0: none.
inline uint64_t signatureBits() {
  // Bit 55 tells the program's addresses from the kernel's, and is kept.
  constexpr uint64_t kAll = ~(uint64_t{1} << 55);
  register uint64_t address asm("x30") = kAll;
  asm("hint 7" : "+r"(address));  // xpaclri, which does nothing where the processor signs no addresses
  return kAll & ~address;
}

// Returns: a register of the code that a signal has interrupted.
inline uint64_t ofContext(const ucontext_t& context, size_t number) {
  switch (number) {
    case kPc:
      return context.uc_mcontext.pc;
    case kStackPointer:
      return context.uc_mcontext.sp;
    default:
      return context.uc_mcontext.regs[number];
  }
}

}  // namespace weft::inline v0_1::detail::processor

#endif
