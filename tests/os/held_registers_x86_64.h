// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace weft::tests {

// rbx rbp r12 r13 r14 r15
inline constexpr HeldRegister kHeld[] = {{3, 4}, {6, 5}, {12, 3}, {13, 2}, {14, 1}, {15, 0}};

inline constexpr int kReturnAddressAt = 6;      // in words, as HeldRegister::savedAt
inline constexpr uintptr_t kBytesOfFrame = 56;  // the frame of a suspended fiber, with its return address
inline constexpr uintptr_t kMostBytesBelowTop = 128;  // that weft_fiber_prepare writes
inline constexpr uintptr_t kMisalignmentAtEntry = 8;  // the return address

// Returns: the address that a saved return address stands for.
inline uintptr_t codeAddress(uintptr_t saved) { return saved; }

// A frame begins with a record: the address of the caller's, and the return address.
inline uintptr_t returnAddressOf(const uintptr_t* frame) { return frame[1]; }
inline const uintptr_t* callerOf(const uintptr_t* frame) {
  return reinterpret_cast<const uintptr_t*>(frame[0]);
}

inline FloatingPointWords floatingPointWords() {
  uint32_t mxcsr;
  uint16_t x87;
  asm volatile("stmxcsr %0" : "=m"(mxcsr));
  asm volatile("fnstcw %0" : "=m"(x87));
  return {{mxcsr, x87}};
}

}  // namespace weft::tests

asm(R"(
  .text
  .weak weft_test_hold
  .hidden weft_test_hold
  .type weft_test_hold, @function
weft_test_hold:
  .cfi_startproc
  push %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset rbx, 0
  push %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset rbp, 0
  push %r12
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r12, 0
  push %r13
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r13, 0
  push %r14
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r14, 0
  push %r15
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r15, 0
  sub $24, %rsp
  .cfi_adjust_cfa_offset 24
  mov %rcx, (%rsp)
  mov %r9, 8(%rsp)
  mov %rcx, %rbx
  lea 1(%rcx), %rbp
  lea 2(%rcx), %r12
  lea 3(%rcx), %r13
  lea 4(%rcx), %r14
  lea 5(%rcx), %r15
  testb $1, 8(%rsp)
  jz 1f
  mov $1, %eax
  int3
1:
  call *%r8
  testb $1, 8(%rsp)
  jz 2f
  xor %eax, %eax
  int3
2:
  mov (%rsp), %rcx
  sub %rcx, %rbx
  sub $1, %rbp
  sub %rcx, %rbp
  or %rbp, %rbx
  sub $2, %r12
  sub %rcx, %r12
  or %r12, %rbx
  sub $3, %r13
  sub %rcx, %r13
  or %r13, %rbx
  sub $4, %r14
  sub %rcx, %r14
  or %r14, %rbx
  sub $5, %r15
  sub %rcx, %r15
  or %r15, %rbx
  sete %al
  add $24, %rsp
  .cfi_adjust_cfa_offset -24
  pop %r15
  .cfi_adjust_cfa_offset -8
  .cfi_restore r15
  pop %r14
  .cfi_adjust_cfa_offset -8
  .cfi_restore r14
  pop %r13
  .cfi_adjust_cfa_offset -8
  .cfi_restore r13
  pop %r12
  .cfi_adjust_cfa_offset -8
  .cfi_restore r12
  pop %rbp
  .cfi_adjust_cfa_offset -8
  .cfi_restore rbp
  pop %rbx
  .cfi_adjust_cfa_offset -8
  .cfi_restore rbx
  ret
  .cfi_endproc
  .size weft_test_hold, . - weft_test_hold

  .weak weft_test_entry
  .hidden weft_test_entry
  .type weft_test_entry, @function
weft_test_entry:
  .cfi_startproc
  mov %rsp, (%rdi)
  jmp *8(%rdi)
  .cfi_endproc
  .size weft_test_entry, . - weft_test_entry
)");
