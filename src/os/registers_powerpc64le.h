// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "os/register_number.h"

#if defined(__powerpc64__)
#define WEFT_HAS_REGISTERS

#include <elf.h>
#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::inline v0_1::detail::processor {

inline constexpr size_t kCount = 66;
inline constexpr size_t kFramePointer = 31;
inline constexpr size_t kStackPointer = 1;
inline constexpr size_t kPc = 64;
inline constexpr uint8_t kLink = 65;  // where a call leaves its return address
// What weft_fiber_switch saves, from the stack pointer upwards. The link register lies in the caller's frame.
// Words that have no number here count as r0, whose value nobody needs after a call.
inline constexpr auto kSuspended = [] {
  std::array<uint8_t, 67> numbers{kStackPointer, 0, 0, 2};
  for (uint8_t number = 14; number <= 31; ++number) {
    numbers[size_t{number} - 10] = number;
  }
  numbers.back() = kPc;
  return numbers;
}();
inline constexpr size_t kSuspendedSize = 512;
inline constexpr size_t kBelowCfa = 0;  // from the caller's stack pointer to the canonical frame address
inline constexpr size_t kWatchAt = 32;  // from the stack pointer of weft_call_watched
// The members of the system's pt_regs: the pc, then msr, orig_gpr3 and ctr, then the link register.
inline constexpr uint8_t kInUserRegs[] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13,  14,        15,        16,        17,   18,
    19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, kPc, kNoNumber, kNoNumber, kNoNumber, kLink};
// The registers that a sample of the kernel is to have (enum perf_event_powerpc_regs), in its order.
inline constexpr uint64_t kSampled = 0x9ffffffff;
inline constexpr uint8_t kInSample[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,   9,    10, 11,
                                        12, 13, 14, 15, 16, 17, 18, 19, 20,  21,   22, 23,
                                        24, 25, 26, 27, 28, 29, 30, 31, kPc, kLink};
inline constexpr unsigned kElfMachine = EM_PPC64;  // of core files

// Returns: the bits of return addresses that may hold a signature; 0: none.
inline uint64_t signatureBits() { return 0; }

// Returns: a register of the code that a signal has interrupted.
inline uint64_t ofContext(const ucontext_t& context, size_t number) {
  constexpr size_t kNip = 32;
  constexpr size_t kLinkRegister = 36;
  switch (number) {
    case kPc:
      return context.uc_mcontext.gp_regs[kNip];
    case kLink:
      return context.uc_mcontext.gp_regs[kLinkRegister];
    default:
      return number < kNip ? context.uc_mcontext.gp_regs[number] : 0;
  }
}

}  // namespace weft::inline v0_1::detail::processor

#endif
