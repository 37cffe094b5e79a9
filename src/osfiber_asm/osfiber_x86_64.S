// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// x86-64, System V calling convention. README.md beside this file says what a backend must do.
//
// A suspended stack, from its stack pointer upwards: r15 r14 r13 r12 rbx rbp, return address.
// mxcsr and the x87 control word are left alone, as the contract says.

#if defined(__x86_64__) && defined(__ELF__) && !defined(WEFT_UCONTEXT)

// __CET__: bit 0 indirect branch tracking, bit 1 shadow stacks.
#if defined(__CET__) && (__CET__ & 1)
#define ENTRY_MARK endbr64
#else
#define ENTRY_MARK
#endif

// Makes the frame of a suspended fiber below the return address, with its call frame information.
.macro SAVE_REGISTERS
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset rbp, 0
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset rbx, 0
  pushq %r12
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r12, 0
  pushq %r13
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r13, 0
  pushq %r14
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r14, 0
  pushq %r15
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r15, 0
.endm

  .text

// void weft_fiber_switch(void** saveSp: rdi, void* targetSp: rsi)
//
// The frame has the same shape on both stacks, so that the CFI stays true across the change of rsp. `ret`
// pairs with the call through which the resumed fiber was suspended: as both come from one place, it is
// predicted.
  .p2align 6
  .globl weft_fiber_switch
  .hidden weft_fiber_switch
  .type weft_fiber_switch, @function
weft_fiber_switch:
  .cfi_startproc
  ENTRY_MARK
  SAVE_REGISTERS
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  .cfi_adjust_cfa_offset -8
  .cfi_restore r15
  popq %r14
  .cfi_adjust_cfa_offset -8
  .cfi_restore r14
  popq %r13
  .cfi_adjust_cfa_offset -8
  .cfi_restore r13
  popq %r12
  .cfi_adjust_cfa_offset -8
  .cfi_restore r12
  popq %rbx
  .cfi_adjust_cfa_offset -8
  .cfi_restore rbx
  popq %rbp
  .cfi_adjust_cfa_offset -8
  .cfi_restore rbp
  ret
  .cfi_endproc
  .size weft_fiber_switch, . - weft_fiber_switch

// void weft_fiber_call(void** saveSp: rdi, void (*function)(void*): rsi, void* argument: rdx)
//
// The frame is that of weft_fiber_switch, and stays on the stack during the call.
  .p2align 4
  .globl weft_fiber_call
  .hidden weft_fiber_call
  .type weft_fiber_call, @function
weft_fiber_call:
  .cfi_startproc
  ENTRY_MARK
  SAVE_REGISTERS
  movq %rsp, (%rdi)
  movq %rdx, %rdi
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  callq *%rsi
  addq $40, %rsp
  .cfi_adjust_cfa_offset -40
  .cfi_restore r15
  .cfi_restore r14
  .cfi_restore r13
  .cfi_restore r12
  popq %rbx
  .cfi_adjust_cfa_offset -8
  .cfi_restore rbx
  popq %rbp
  .cfi_adjust_cfa_offset -8
  .cfi_restore rbp
  ret
  .cfi_endproc
  .size weft_fiber_call, . - weft_fiber_call

// The base of each fiber: entry in r12, its argument in r13, rsp aligned to 16. Reached by the `ret` above.
// Unwinders look a return address up one byte before it, hence the nop that belongs to this function and
// never runs.
  .p2align 4
  .type weft_fiber_base, @function
weft_fiber_base:
  .cfi_startproc
  .cfi_undefined rip
  nop
.Lstart:
  movq %r13, %rdi
  callq *%r12
  ud2
  .cfi_endproc
  .size weft_fiber_base, . - weft_fiber_base

// void* weft_fiber_prepare(void* stackTop: rdi, void (*entry)(void*): rsi, void* arg: rdx)
//
// The zeros are the caller's rbp, where walks along frame pointers end, and two words above the base's frame.
  .p2align 4
  .globl weft_fiber_prepare
  .hidden weft_fiber_prepare
  .type weft_fiber_prepare, @function
weft_fiber_prepare:
  .cfi_startproc
  ENTRY_MARK
  andq $-16, %rdi
  leaq -72(%rdi), %rax
  xorl %ecx, %ecx
  movq %rcx, 0(%rax)
  movq %rcx, 8(%rax)
  movq %rdx, 16(%rax)
  movq %rsi, 24(%rax)
  movq %rcx, 32(%rax)
  movq %rcx, 40(%rax)
  leaq .Lstart(%rip), %rdx
  movq %rdx, 48(%rax)
  movq %rcx, 56(%rax)
  movq %rcx, 64(%rax)
  ret
  .cfi_endproc
  .size weft_fiber_prepare, . - weft_fiber_prepare

// void weft_call_watched(void* argument: rdi, void (*function)(void*): rsi, const Watch* watch: rdx)
//
// The personality routine finds the Watch on top of the frame.
  .p2align 4
  .globl weft_call_watched
  .hidden weft_call_watched
  .type weft_call_watched, @function
weft_call_watched:
  .cfi_startproc
  .cfi_personality 0x1b, weft_watch_personality
  ENTRY_MARK
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  callq *%rsi
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  .size weft_call_watched, . - weft_call_watched

// void weft_run_task(TaskNode* node: rdi)
//
// Calls node->invoke(node, TaskOp::Run), whose Watch its personality routine knows: no instruction more than
// a plain call.
  .p2align 4
  .globl weft_run_task
  .hidden weft_run_task
  .type weft_run_task, @function
weft_run_task:
  .cfi_startproc
  .cfi_personality 0x1b, weft_task_personality
  ENTRY_MARK
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  xorl %esi, %esi
  callq *(%rdi)
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  .size weft_run_task, . - weft_run_task

#endif

#include "notes.inc"
