// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include <unwind.h>

// Only in ARM's code has each frame a record.
#define WEFT_TEST_FRAME_CHAIN [[gnu::target("arm")]]
#define WEFT_TEST_ENDS_OF_WALKS

// libgcc has it, and no header declares it.
extern "C" const uint32_t* __gnu_Unwind_Find_exidx(uintptr_t address, int* numEntries);

namespace weft::tests {

// r4 to r11, s16 to s31, which are the halves of d8 to d15
inline constexpr HeldRegister kHeld[] = {{4, 1},   {5, 2},   {6, 3},   {7, 4},   {8, 5},   {9, 6},
                                         {10, 7},  {11, 8},  {-1, 10}, {-1, 11}, {-1, 12}, {-1, 13},
                                         {-1, 14}, {-1, 15}, {-1, 16}, {-1, 17}, {-1, 18}, {-1, 19},
                                         {-1, 20}, {-1, 21}, {-1, 22}, {-1, 23}, {-1, 24}, {-1, 25}};

inline constexpr int kReturnAddressAt = 9;       // in words, as HeldRegister::savedAt
inline constexpr int kOutermostAt = 1;           // the base's entry, since walks do not name the base
inline constexpr uintptr_t kBytesOfFrame = 104;  // the frame of a suspended fiber, with its return address
inline constexpr uintptr_t kMostBytesBelowTop = 135;  // that weft_fiber_prepare writes
inline constexpr uintptr_t kMisalignmentAtEntry = 0;
inline constexpr _Unwind_Reason_Code kEndOfWalk = _URC_FAILURE;

// Returns: the address that a saved return address stands for. The lowest bit says that the code is Thumb.
inline uintptr_t codeAddress(uintptr_t saved) { return saved & ~uintptr_t{1}; }

// A frame pointer has the address of the return address, below which is the caller's frame pointer.
inline uintptr_t returnAddressOf(const uintptr_t* frame) { return frame[0]; }
inline const uintptr_t* callerOf(const uintptr_t* frame) {
  return reinterpret_cast<const uintptr_t*>(frame[-1]);
}

[[gnu::target("arm"), gnu::always_inline]] inline const uintptr_t* ownFrame() {
  return static_cast<const uintptr_t*>(__builtin_frame_address(0));
}

// Returns: the function with the call before `address`, or the first of several with equal call frame
// information. A table has two words for each, of which the first is its distance from there, in 31 bits.
inline void* functionOf(uintptr_t address) {
  int numEntries = 0;
  const uint32_t* entry = __gnu_Unwind_Find_exidx(address - 1, &numEntries);
  uintptr_t found = 0;
  for (; numEntries > 0; entry += 2, --numEntries) {
    const auto distance = static_cast<int32_t>(*entry << 1) >> 1;
    const uintptr_t function = reinterpret_cast<uintptr_t>(entry) + static_cast<uintptr_t>(distance);
    if (function >= address) {
      break;
    }
    found = function;
  }
  return reinterpret_cast<void*>(found);
}

inline FloatingPointWords floatingPointWords() {
  uint32_t fpscr;
  asm volatile("vmrs %0, fpscr" : "=r"(fpscr));
  return {{fpscr, 0}};
}

}  // namespace weft::tests

// Linux has no flag with which a program steps through itself here, so that `steps` has no effect.
// `magic` is in r3. The function to call is at the stack pointer. They have a section of their own, since
// within one the assembler takes addresses without a look at `.weak`.
asm(R"(
  .pushsection .text.weft_test, "ax", %progbits
  .syntax unified
  .arm
  .p2align 2
  .weak weft_test_hold
  .hidden weft_test_hold
  .type weft_test_hold, %function
weft_test_hold:
  .fnstart
  ldr ip, [sp]
  vpush {d8-d15}
  .vsave {d8-d15}
  push {r3-r11, lr}
  .save {r3-r11, lr}
  .irp i, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  add r4, r3, #\i-8
  vmov s\i, r4
  .endr
  .irp i, 4, 5, 6, 7, 8, 9, 10, 11
  add r\i, r3, #\i-4
  .endr
  blx ip
  ldr r3, [sp]
  mov r0, #0
  .irp i, 4, 5, 6, 7, 8, 9, 10, 11
  add r1, r3, #\i-4
  eor r1, r1, r\i
  orr r0, r0, r1
  .endr
  .irp i, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  add r1, r3, #\i-8
  vmov r2, s\i
  eor r1, r1, r2
  orr r0, r0, r1
  .endr
  clz r0, r0
  lsr r0, r0, #5
  pop {r3-r11, lr}
  vpop {d8-d15}
  bx lr
  .fnend
  .size weft_test_hold, . - weft_test_hold

  .weak weft_test_entry
  .hidden weft_test_entry
  .type weft_test_entry, %function
weft_test_entry:
  .fnstart
  str sp, [r0]
  ldr ip, [r0, #4]
  bx ip
  .fnend
  .size weft_test_entry, . - weft_test_entry
  .popsection
)");
