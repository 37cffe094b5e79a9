// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace weft::tests {

// s0 to s11, fs0 to fs11
inline constexpr HeldRegister kHeld[] = {{8, 0},   {9, 2},   {18, 3},  {19, 4},  {20, 5},  {21, 6},
                                         {22, 7},  {23, 8},  {24, 9},  {25, 10}, {26, 11}, {27, 12},
                                         {40, 13}, {41, 14}, {50, 15}, {51, 16}, {52, 17}, {53, 18},
                                         {54, 19}, {55, 20}, {56, 21}, {57, 22}, {58, 23}, {59, 24}};

inline constexpr int kReturnAddressAt = 1;       // in words, as HeldRegister::savedAt
inline constexpr uintptr_t kBytesOfFrame = 208;  // the frame of a suspended fiber, with its return address
inline constexpr uintptr_t kMostBytesBelowTop = 240;  // that weft_fiber_prepare writes
inline constexpr uintptr_t kMisalignmentAtEntry = 0;

// Returns: the address that a saved return address stands for.
inline uintptr_t codeAddress(uintptr_t saved) { return saved; }

// A frame pointer has the address behind the frame's record.
inline uintptr_t returnAddressOf(const uintptr_t* frame) { return frame[-1]; }
inline const uintptr_t* callerOf(const uintptr_t* frame) {
  return reinterpret_cast<const uintptr_t*>(frame[-2]);
}

inline FloatingPointWords floatingPointWords() {
  FloatingPointWords result = {};
  asm volatile("frcsr %0" : "=r"(result.words[0]));
  return result;
}

}  // namespace weft::tests

// Linux has no flag with which a program steps through itself here, so that `steps` has no effect.
asm(R"(
  .text
  .weak weft_test_hold
  .hidden weft_test_hold
  .type weft_test_hold, @function
weft_test_hold:
  .cfi_startproc
  addi sp, sp, -208
  .cfi_def_cfa_offset 208
  sd ra, 0(sp)
  .cfi_rel_offset ra, 0
  .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
  sd s\i, 8+8*\i(sp)
  .cfi_rel_offset s\i, 8+8*\i
  fsd fs\i, 104+8*\i(sp)
  .cfi_rel_offset fs\i, 104+8*\i
  .endr
  sd a3, 200(sp)
  .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
  addi s\i, a3, \i
  addi t0, a3, 12+\i
  fmv.d.x fs\i, t0
  .endr
  jalr a4
  ld a3, 200(sp)
  li a0, 0
  .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
  addi t0, a3, \i
  xor t0, t0, s\i
  or a0, a0, t0
  addi t0, a3, 12+\i
  fmv.x.d t1, fs\i
  xor t0, t0, t1
  or a0, a0, t0
  .endr
  seqz a0, a0
  .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
  ld s\i, 8+8*\i(sp)
  .cfi_restore s\i
  fld fs\i, 104+8*\i(sp)
  .cfi_restore fs\i
  .endr
  ld ra, 0(sp)
  .cfi_restore ra
  addi sp, sp, 208
  .cfi_def_cfa_offset 0
  ret
  .cfi_endproc
  .size weft_test_hold, . - weft_test_hold

  .weak weft_test_entry
  .hidden weft_test_entry
  .type weft_test_entry, @function
weft_test_entry:
  .cfi_startproc
  sd sp, 0(a0)
  ld t1, 8(a0)
  jr t1
  .cfi_endproc
  .size weft_test_entry, . - weft_test_entry
)");
