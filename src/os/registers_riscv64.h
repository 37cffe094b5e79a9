// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#if defined(__riscv) && __riscv_xlen == 64

#include <elf.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace weft::inline v0_1::detail::processor_registers {

inline constexpr uint8_t kNoNumber = 0xff;

inline constexpr size_t kCount = 32;
inline constexpr size_t kFramePointer = 8;
inline constexpr size_t kStackPointer = 2;
inline constexpr size_t kPc = 1;  // ra, which is the pc of the next frame
// What weft_fiber_switch saves, from the stack pointer upwards, before floating-point registers.
inline constexpr uint8_t kSuspended[] = {8, kPc, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27};
inline constexpr size_t kSuspendedSize = 208;
// The members of the system's user_regs_struct. The pc, which is the first, takes the place of ra.
inline constexpr uint8_t kInUserRegs[] = {kPc, kNoNumber, 2,  3,  4,  5,  6,  7,  8,  9,  10,
                                          11,  12,        13, 14, 15, 16, 17, 18, 19, 20, 21,
                                          22,  23,        24, 25, 26, 27, 28, 29, 30, 31};
// The registers that a sample of the kernel is to have (enum perf_event_riscv_regs), in its order. ra is left
// out.
inline constexpr uint64_t kSampled = 0xfffffffd;
inline constexpr uint8_t kInSample[] = {kPc, 2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                        17,  18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
inline constexpr unsigned kElfMachine = EM_RISCV;  // of core files

// Returns: a register of the code that a signal has interrupted.
inline uint64_t ofContext(const ucontext_t& context, size_t number) {
  // The pc is in the place of the register that is always 0.
  const size_t place = number == kPc ? 0 : number;
  return number == 0 ? 0 : context.uc_mcontext.__gregs[place];
}

}  // namespace weft::inline v0_1::detail::processor_registers

#endif
