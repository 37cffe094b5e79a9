// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

// Compilers keep no chain of frames unless they are asked to, and disagree on the address of a frame.
#define WEFT_TEST_FRAME_CHAIN [[gnu::target("backchain")]]
extern "C" [[gnu::visibility("hidden")]] const uintptr_t* weft_test_own_frame();

namespace weft::tests {

// r6 to r13, f8 to f15
inline constexpr HeldRegister kHeld[] = {{6, 6},   {7, 7},   {8, 8},   {9, 9},   {10, 10}, {11, 11},
                                         {12, 12}, {13, 13}, {24, 16}, {28, 17}, {25, 18}, {29, 19},
                                         {26, 2},  {30, 3},  {27, 4},  {31, 5}};

inline constexpr int kReturnAddressAt = 14;      // in words, as HeldRegister::savedAt
inline constexpr uintptr_t kBytesOfFrame = 160;  // the frame of a suspended fiber, with its return address
inline constexpr uintptr_t kMostBytesBelowTop = 176;  // that weft_fiber_prepare writes
inline constexpr uintptr_t kMisalignmentAtEntry = 0;

// Returns: the address that a saved return address stands for.
inline uintptr_t codeAddress(uintptr_t saved) { return saved; }

// Returns: the address of the calling function's frame.
inline constexpr auto& ownFrame = weft_test_own_frame;

// A frame begins with the address of the caller's, in which the return address is saved. The frame at a
// fiber's base has a null, and no return address.
inline uintptr_t returnAddressOf(const uintptr_t* frame) {
  return reinterpret_cast<const uintptr_t*>(frame[0])[14];
}
inline const uintptr_t* callerOf(const uintptr_t* frame) {
  const auto* const caller = reinterpret_cast<const uintptr_t*>(frame[0]);
  return caller[0] == 0 ? nullptr : caller;
}

inline FloatingPointWords floatingPointWords() {
  FloatingPointWords result = {};
  asm volatile("efpc %0" : "=d"(result.words[0]));
  return result;
}

}  // namespace weft::tests

// Linux has no flag with which a program steps through itself here, so that `steps` has no effect.
// The numbers of floating-point registers in call frame information are those of kHeld.
asm(R"(
  .text
  .weak weft_test_hold
  .hidden weft_test_hold
  .type weft_test_hold, @function
weft_test_hold:
  .cfi_startproc
  stmg %r6, %r15, 48(%r15)
  .irp i, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  .cfi_rel_offset %r\i, 8*\i
  .endr
  aghi %r15, -240
  .cfi_adjust_cfa_offset 240
  .irp i, 8, 9, 10, 11, 12, 13, 14, 15
  std %f\i, 96+8*\i(%r15)
  .endr
  .irp i, 8, 10, 12, 14
  .cfi_rel_offset 20+\i/2, 96+8*\i
  .cfi_rel_offset 24+\i/2, 96+8*\i+8
  .endr
  stg %r5, 224(%r15)
  lgr %r1, %r6
  .irp i, 6, 7, 8, 9, 10, 11, 12, 13
  la %r\i, \i-6(%r5)
  .endr
  .irp i, 8, 9, 10, 11, 12, 13, 14, 15
  la %r0, \i(%r5)
  stg %r0, 232(%r15)
  ld %f\i, 232(%r15)
  .endr
  basr %r14, %r1
  lg %r5, 224(%r15)
  lghi %r2, 0
  .irp i, 6, 7, 8, 9, 10, 11, 12, 13
  la %r1, \i-6(%r5)
  xgr %r1, %r\i
  ogr %r2, %r1
  .endr
  .irp i, 8, 9, 10, 11, 12, 13, 14, 15
  std %f\i, 232(%r15)
  la %r1, \i(%r5)
  xg %r1, 232(%r15)
  ogr %r2, %r1
  ld %f\i, 96+8*\i(%r15)
  .cfi_restore 16+\i
  .endr
  lmg %r6, %r15, 288(%r15)
  .irp i, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  .cfi_restore %r\i
  .endr
  .cfi_adjust_cfa_offset -240
  ltgr %r2, %r2
  lghi %r2, 1
  ber %r14
  lghi %r2, 0
  br %r14
  .cfi_endproc
  .size weft_test_hold, . - weft_test_hold

  .weak weft_test_entry
  .hidden weft_test_entry
  .type weft_test_entry, @function
weft_test_entry:
  .cfi_startproc
  stg %r15, 0(%r2)
  lg %r1, 8(%r2)
  br %r1
  .cfi_endproc
  .size weft_test_entry, . - weft_test_entry

  .weak weft_test_own_frame
  .hidden weft_test_own_frame
  .type weft_test_own_frame, @function
weft_test_own_frame:
  .cfi_startproc
  lgr %r2, %r15
  br %r14
  .cfi_endproc
  .size weft_test_own_frame, . - weft_test_own_frame
)");
