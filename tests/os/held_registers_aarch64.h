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
  str x3, [sp, 16]
.irp n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28
  str x\n, [sp, 24 + 8 * (\n - 19)]
  .cfi_rel_offset x\n, 24 + 8 * (\n - 19)
  add x\n, x3, \n - 19
.endr
  add x29, x3, 10
.irp n, 8, 9, 10, 11, 12, 13, 14, 15
  str d\n, [sp, 104 + 8 * (\n - 8)]
  .cfi_rel_offset d\n, 104 + 8 * (\n - 8)
  add x9, x3, \n + 3
  fmov d\n, x9
.endr
  blr x4
  ldr x3, [sp, 16]
  sub x9, x29, 10
  eor x0, x9, x3
.irp n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28
  sub x9, x\n, \n - 19
  eor x9, x9, x3
  orr x0, x0, x9
  ldr x\n, [sp, 24 + 8 * (\n - 19)]
  .cfi_restore x\n
.endr
.irp n, 8, 9, 10, 11, 12, 13, 14, 15
  fmov x9, d\n
  sub x9, x9, \n + 3
  eor x9, x9, x3
  orr x0, x0, x9
  ldr d\n, [sp, 104 + 8 * (\n - 8)]
  .cfi_restore d\n
.endr
  cmp x0, 0
  cset w0, eq
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
