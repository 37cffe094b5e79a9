// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <bit>
#include <cstdint>

namespace weft::tests {

// r14 to r31, f14 to f31, v20 to v31. The unwinder's functions do not read vector registers.
inline constexpr HeldRegister kHeld[] = {
    {14, 4},  {15, 5},  {16, 6},  {17, 7},  {18, 8},  {19, 9},  {20, 10}, {21, 11}, {22, 12}, {23, 13},
    {24, 14}, {25, 15}, {26, 16}, {27, 17}, {28, 18}, {29, 19}, {30, 20}, {31, 21}, {46, 22}, {47, 23},
    {48, 24}, {49, 25}, {50, 26}, {51, 27}, {52, 28}, {53, 29}, {54, 30}, {55, 31}, {56, 32}, {57, 33},
    {58, 34}, {59, 35}, {60, 36}, {61, 37}, {62, 38}, {63, 39}, {-1, 40}, {-1, 42}, {-1, 44}, {-1, 46},
    {-1, 48}, {-1, 50}, {-1, 52}, {-1, 54}, {-1, 56}, {-1, 58}, {-1, 60}, {-1, 62}};

inline constexpr int kReturnAddressAt = 66;           // in words, as HeldRegister::savedAt
inline constexpr uintptr_t kBytesOfFrame = 512;       // the frame of a suspended fiber
inline constexpr uintptr_t kMostBytesBelowTop = 560;  // that weft_fiber_prepare writes
inline constexpr uintptr_t kMisalignmentAtEntry = 0;

// Returns: the address that a saved return address stands for.
inline uintptr_t codeAddress(uintptr_t saved) { return saved; }

// A frame begins with the address of the caller's, which has the return address. The outermost has no more.
inline uintptr_t returnAddressOf(const uintptr_t* frame) {
  return reinterpret_cast<const uintptr_t*>(frame[0])[2];
}
inline const uintptr_t* callerOf(const uintptr_t* frame) {
  const auto* const caller = reinterpret_cast<const uintptr_t*>(frame[0]);
  return caller[0] != 0 ? caller : nullptr;
}

inline FloatingPointWords floatingPointWords() {
  double fpscr;
  asm volatile("mffs %0" : "=d"(fpscr));
  return {{std::bit_cast<uint64_t>(fpscr), 0}};
}

}  // namespace weft::tests

// It holds cr2 to cr4, too. Linux has no flag with which a program steps through itself here, so that `steps`
// has no effect.
asm(R"(
  .text
  .weak weft_test_hold
  .hidden weft_test_hold
  .type weft_test_hold, @function
weft_test_hold:
  .cfi_startproc
  mflr 0
  std 0, 16(1)
  .cfi_offset 65, 16
  mfcr 0
  stw 0, 8(1)
.irp n, 70, 71, 72
  .cfi_offset \n, 8
.endr
  stdu 1, -528(1)
  .cfi_def_cfa_offset 528
  std 2, 24(1)
  std 6, 512(1)
.irp n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  std \n, 32 + 8 * (\n - 14)(1)
  .cfi_rel_offset \n, 32 + 8 * (\n - 14)
  stfd \n, 176 + 8 * (\n - 14)(1)
  .cfi_rel_offset 32 + \n, 176 + 8 * (\n - 14)
.endr
.irp n, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  li 9, 320 + 16 * (\n - 20)
  stvx \n, 9, 1
  .cfi_rel_offset 77 + \n, 320 + 16 * (\n - 20)
.endr
.irp n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  addi \n, 6, \n - 14
  addi 9, 6, \n + 4
  mtvsrd \n, 9
.endr
.irp n, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  addi 9, 6, \n + 16
  mtvsrd 32 + \n, 9
  xxpermdi 32 + \n, 32 + \n, 32 + \n, 0
.endr
  mtcrf 0x38, 6
  mr 12, 7
  mtctr 12
  bctrl
  ld 2, 24(1)
  ld 6, 512(1)
  mfcr 9
  xor 9, 9, 6
  rlwinm 3, 9, 0, 8, 19
.irp n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  addi 9, 6, \n - 14
  xor 9, 9, \n
  or 3, 3, 9
  addi 9, 6, \n + 4
  mfvsrd 10, \n
  xor 9, 9, 10
  or 3, 3, 9
.endr
.irp n, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  addi 9, 6, \n + 16
  mfvsrd 10, 32 + \n
  xor 10, 10, 9
  or 3, 3, 10
  xxpermdi 32 + \n, 32 + \n, 32 + \n, 2
  mfvsrd 10, 32 + \n
  xor 10, 10, 9
  or 3, 3, 10
.endr
  cntlzd 3, 3
  srdi 3, 3, 6
.irp n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  ld \n, 32 + 8 * (\n - 14)(1)
  .cfi_restore \n
  lfd \n, 176 + 8 * (\n - 14)(1)
  .cfi_restore 32 + \n
.endr
.irp n, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  li 9, 320 + 16 * (\n - 20)
  lvx \n, 9, 1
  .cfi_restore 77 + \n
.endr
  addi 1, 1, 528
  .cfi_def_cfa_offset 0
  lwz 0, 8(1)
  mtcrf 0x38, 0
.irp n, 70, 71, 72
  .cfi_restore \n
.endr
  ld 0, 16(1)
  mtlr 0
  .cfi_restore 65
  blr
  .cfi_endproc
  .size weft_test_hold, . - weft_test_hold

  .weak weft_test_entry
  .hidden weft_test_entry
  .type weft_test_entry, @function
weft_test_entry:
  .cfi_startproc
  std 1, 0(3)
  ld 12, 8(3)
  mtctr 12
  bctr
  .cfi_endproc
  .size weft_test_entry, . - weft_test_entry
)");
