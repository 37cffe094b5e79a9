// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "os/register_number.h"

#if defined(__arm__)
#define WEFT_HAS_REGISTERS

#include <elf.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace weft::inline v0_1::detail::processor {

inline constexpr size_t kCount = 16;
inline constexpr size_t kFramePointer = 11;
inline constexpr size_t kStackPointer = 13;
inline constexpr size_t kPc = 15;
inline constexpr uint8_t kLink = 14;  // where a call leaves its return address
// What weft_fiber_switch saves, from the stack pointer upwards, before vector registers. It returns to what
// was in the link register. In the place of r0, which no caller needs, is another value.
inline constexpr uint8_t kSuspended[] = {0, 4, 5, 6, 7, 8, 9, 10, 11, kPc};
inline constexpr size_t kSuspendedSize = 104;
inline constexpr size_t kBelowCfa = 0;  // from the caller's stack pointer to the canonical frame address
inline constexpr size_t kWatchAt = 0;   // from the stack pointer of weft_call_watched
// The members of the system's user_regs, then cpsr and orig_r0.
inline constexpr uint8_t kInUserRegs[] = {0, 1,  2,  3,  4,  5,  6,  7,         8,
                                          9, 10, 11, 12, 13, 14, 15, kNoNumber, kNoNumber};
// The registers that a sample of the kernel is to have (enum perf_event_arm_regs), in its order.
inline constexpr uint64_t kSampled = 0xffff;
inline constexpr uint8_t kInSample[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
inline constexpr unsigned kElfMachine = EM_ARM;  // of core files

// Returns: the bits of return addresses that are no part of the address: the lowest says that code is Thumb.
inline uint64_t signatureBits() { return 1; }

// Returns: a register of the code that a signal has interrupted.
inline uint64_t ofContext(const ucontext_t& context, size_t number) {
  using Context = mcontext_t;
  constexpr unsigned long Context::* kOrder[] = {
      &Context::arm_r0, &Context::arm_r1, &Context::arm_r2,  &Context::arm_r3,
      &Context::arm_r4, &Context::arm_r5, &Context::arm_r6,  &Context::arm_r7,
      &Context::arm_r8, &Context::arm_r9, &Context::arm_r10, &Context::arm_fp,
      &Context::arm_ip, &Context::arm_sp, &Context::arm_lr,  &Context::arm_pc};
  return context.uc_mcontext.*kOrder[number];
}

}  // namespace weft::inline v0_1::detail::processor

#endif
