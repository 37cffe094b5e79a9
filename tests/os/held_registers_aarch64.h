// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace weft::tests {

// x19 to x29, d8 to d15
inline constexpr HeldRegister kHeld[] = {{19, 2},  {20, 3},  {21, 4},  {22, 5},  {23, 6},  {24, 7},  {25, 8},
                                         {26, 9},  {27, 10}, {28, 11}, {29, 0},  {72, 12}, {73, 13}, {74, 14},
                                         {75, 15}, {76, 16}, {77, 17}, {78, 18}, {79, 19}};

inline constexpr int kReturnAddressAt = 1;       // in words, as HeldRegister::savedAt
inline constexpr uintptr_t kBytesOfFrame = 160;  // the frame of a suspended fiber, with its return address
inline constexpr uintptr_t kMostBytesBelowTop = 192;  // that weft_fiber_prepare writes
inline constexpr uintptr_t kMisalignmentAtEntry = 0;

// Returns: the address that a saved return address stands for, which may be signed.
inline uintptr_t codeAddress(uintptr_t saved) {
  register uintptr_t x30 asm("x30") = saved;
  asm volatile("hint 7" : "+r"(x30));  // xpaclri
  return x30;
}

// A frame begins with a record: the address of the caller's, and the return address.
inline uintptr_t returnAddressOf(const uintptr_t* frame) { return frame[1]; }
inline const uintptr_t* callerOf(const uintptr_t* frame) {
  return reinterpret_cast<const uintptr_t*>(frame[0]);
}

inline FloatingPointWords floatingPointWords() {
  FloatingPointWords result;
  asm volatile("mrs %0, fpcr" : "=r"(result.words[0]));
  asm volatile("mrs %0, fpsr" : "=r"(result.words[1]));
  return result;
}

}  // namespace weft::tests

// Linux has no flag with which a program steps through itself here, so that `steps` has no effect.
asm(R"(
  .text
  .weak weft_test_hold
  .hidden weft_test_hold
  .type weft_test_hold, %function
weft_test_hold:
  .cfi_startproc
  hint 34  // bti c
  stp x29, x30, [sp, -176]!
  .cfi_def_cfa_offset 176
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  stp x19, x20, [sp, 16]
  .cfi_rel_offset x19, 16
  .cfi_rel_offset x20, 24
  stp x21, x22, [sp, 32]
  .cfi_rel_offset x21, 32
  .cfi_rel_offset x22, 40
  stp x23, x24, [sp, 48]
  .cfi_rel_offset x23, 48
  .cfi_rel_offset x24, 56
  stp x25, x26, [sp, 64]
  .cfi_rel_offset x25, 64
  .cfi_rel_offset x26, 72
  stp x27, x28, [sp, 80]
  .cfi_rel_offset x27, 80
  .cfi_rel_offset x28, 88
  stp d8, d9, [sp, 96]
  .cfi_rel_offset d8, 96
  .cfi_rel_offset d9, 104
  stp d10, d11, [sp, 112]
  .cfi_rel_offset d10, 112
  .cfi_rel_offset d11, 120
  stp d12, d13, [sp, 128]
  .cfi_rel_offset d12, 128
  .cfi_rel_offset d13, 136
  stp d14, d15, [sp, 144]
  .cfi_rel_offset d14, 144
  .cfi_rel_offset d15, 152
  str x3, [sp, 160]
  add x19, x3, 0
  add x20, x3, 1
  add x21, x3, 2
  add x22, x3, 3
  add x23, x3, 4
  add x24, x3, 5
  add x25, x3, 6
  add x26, x3, 7
  add x27, x3, 8
  add x28, x3, 9
  add x29, x3, 10
  add x9, x3, 11
  fmov d8, x9
  add x9, x3, 12
  fmov d9, x9
  add x9, x3, 13
  fmov d10, x9
  add x9, x3, 14
  fmov d11, x9
  add x9, x3, 15
  fmov d12, x9
  add x9, x3, 16
  fmov d13, x9
  add x9, x3, 17
  fmov d14, x9
  add x9, x3, 18
  fmov d15, x9
  blr x4
  ldr x3, [sp, 160]
  mov x0, 0
  sub x9, x19, 0
  eor x9, x9, x3
  orr x0, x0, x9
  sub x9, x20, 1
  eor x9, x9, x3
  orr x0, x0, x9
  sub x9, x21, 2
  eor x9, x9, x3
  orr x0, x0, x9
  sub x9, x22, 3
  eor x9, x9, x3
  orr x0, x0, x9
  sub x9, x23, 4
  eor x9, x9, x3
  orr x0, x0, x9
  sub x9, x24, 5
  eor x9, x9, x3
  orr x0, x0, x9
  sub x9, x25, 6
  eor x9, x9, x3
  orr x0, x0, x9
  sub x9, x26, 7
  eor x9, x9, x3
  orr x0, x0, x9
  sub x9, x27, 8
  eor x9, x9, x3
  orr x0, x0, x9
  sub x9, x28, 9
  eor x9, x9, x3
  orr x0, x0, x9
  sub x9, x29, 10
  eor x9, x9, x3
  orr x0, x0, x9
  fmov x9, d8
  sub x9, x9, 11
  eor x9, x9, x3
  orr x0, x0, x9
  fmov x9, d9
  sub x9, x9, 12
  eor x9, x9, x3
  orr x0, x0, x9
  fmov x9, d10
  sub x9, x9, 13
  eor x9, x9, x3
  orr x0, x0, x9
  fmov x9, d11
  sub x9, x9, 14
  eor x9, x9, x3
  orr x0, x0, x9
  fmov x9, d12
  sub x9, x9, 15
  eor x9, x9, x3
  orr x0, x0, x9
  fmov x9, d13
  sub x9, x9, 16
  eor x9, x9, x3
  orr x0, x0, x9
  fmov x9, d14
  sub x9, x9, 17
  eor x9, x9, x3
  orr x0, x0, x9
  fmov x9, d15
  sub x9, x9, 18
  eor x9, x9, x3
  orr x0, x0, x9
  cmp x0, 0
  cset w0, eq
  ldp d14, d15, [sp, 144]
  .cfi_restore d14
  .cfi_restore d15
  ldp d12, d13, [sp, 128]
  .cfi_restore d12
  .cfi_restore d13
  ldp d10, d11, [sp, 112]
  .cfi_restore d10
  .cfi_restore d11
  ldp d8, d9, [sp, 96]
  .cfi_restore d8
  .cfi_restore d9
  ldp x27, x28, [sp, 80]
  .cfi_restore x27
  .cfi_restore x28
  ldp x25, x26, [sp, 64]
  .cfi_restore x25
  .cfi_restore x26
  ldp x23, x24, [sp, 48]
  .cfi_restore x23
  .cfi_restore x24
  ldp x21, x22, [sp, 32]
  .cfi_restore x21
  .cfi_restore x22
  ldp x19, x20, [sp, 16]
  .cfi_restore x19
  .cfi_restore x20
  ldp x29, x30, [sp], 176
  .cfi_restore x29
  .cfi_restore x30
  .cfi_def_cfa_offset 0
  ret
  .cfi_endproc
  .size weft_test_hold, . - weft_test_hold

  .weak weft_test_entry
  .hidden weft_test_entry
  .type weft_test_entry, %function
weft_test_entry:
  .cfi_startproc
  hint 34  // bti c
  mov x9, sp
  str x9, [x0]
  ldr x16, [x0, 8]
  br x16
  .cfi_endproc
  .size weft_test_entry, . - weft_test_entry
)");
