// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// AArch64, the base of its procedure call standard (AAPCS64), in ELF. README.md beside this file says what a
// backend must do.
//
// A suspended stack, from its stack pointer upwards: x29 x30 x19 ... x28 d8 ... d15. The first two are a
// frame record, so that a walk along frame pointers can begin at the saved stack pointer.
// fpcr and fpsr are left alone, as the contract says.

#if defined(__aarch64__) && defined(__ELF__) && !defined(__ILP32__) && !defined(WEFT_UCONTEXT)

// The instructions for branch targets and signed return addresses are hints: a processor without the feature
// does nothing, and assemblers need no option. An instruction that signs marks the target of a call, too.
//
// __ARM_FEATURE_PAC_DEFAULT: bit 0 key A, bit 1 key B.
#if defined(__ARM_FEATURE_BTI_DEFAULT)
#define ENTRY_MARK hint 34         // bti c
#else
#define ENTRY_MARK
#endif

#if defined(__ARM_FEATURE_PAC_DEFAULT) && (__ARM_FEATURE_PAC_DEFAULT & 2)
#define USE_KEY .cfi_b_key_frame
#define MARK_AND_SIGN hint 27      // pacibsp
#define AUTHENTICATE hint 31       // autibsp
#define SIGN_BASE hint 10          // pacib1716: x17, for the stack pointer in x16
#define CHANGE_SIGNED .cfi_negate_ra_state
#elif defined(__ARM_FEATURE_PAC_DEFAULT)
#define USE_KEY
#define MARK_AND_SIGN hint 25      // paciasp
#define AUTHENTICATE hint 29       // autiasp
#define SIGN_BASE hint 8           // pacia1716: x17, for the stack pointer in x16
#define CHANGE_SIGNED .cfi_negate_ra_state
#else
#define USE_KEY
#if defined(__ARM_FEATURE_BTI_DEFAULT)
#define MARK_AND_SIGN hint 34      // bti c
#else
#define MARK_AND_SIGN
#endif
#define AUTHENTICATE
#define SIGN_BASE
#define CHANGE_SIGNED
#endif

// Begins a function that keeps its return address on the stack. The modifier of the signature is the stack
// pointer at the function's entry, as unwinders expect.
.macro BEGIN
  USE_KEY
  MARK_AND_SIGN
  CHANGE_SIGNED
.endm

.macro RETURN
  AUTHENTICATE
  CHANGE_SIGNED
  ret
.endm

.macro SAVE first, second, offset
  stp \first, \second, [sp, #\offset]
  .cfi_rel_offset \first, \offset
  .cfi_rel_offset \second, \offset + 8
.endm

.macro RESTORE first, second, offset
  ldp \first, \second, [sp, #\offset]
  .cfi_restore \first
  .cfi_restore \second
.endm

// Makes the frame of a suspended fiber, with its call frame information.
.macro SAVE_REGISTERS
  stp x29, x30, [sp, #-160]!
  .cfi_def_cfa_offset 160
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  SAVE x19, x20, 16
  SAVE x21, x22, 32
  SAVE x23, x24, 48
  SAVE x25, x26, 64
  SAVE x27, x28, 80
  SAVE d8, d9, 96
  SAVE d10, d11, 112
  SAVE d12, d13, 128
  SAVE d14, d15, 144
.endm

.macro LEAVE_FRAME size
  ldp x29, x30, [sp], #\size
  .cfi_restore x29
  .cfi_restore x30
  .cfi_def_cfa_offset 0
.endm

  .text

// void weft_fiber_switch(void** saveSp: x0, void* targetSp: x1)
//
// The frame has the same shape on both stacks, so that the CFI stays true across the change of sp. `ret`
// pairs with the call through which the resumed fiber was suspended: as both come from one place, it is
// predicted.
  .p2align 6
  .globl weft_fiber_switch
  .hidden weft_fiber_switch
  .type weft_fiber_switch, %function
weft_fiber_switch:
  .cfi_startproc
  BEGIN
  SAVE_REGISTERS
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  RESTORE d14, d15, 144
  RESTORE d12, d13, 128
  RESTORE d10, d11, 112
  RESTORE d8, d9, 96
  RESTORE x27, x28, 80
  RESTORE x25, x26, 64
  RESTORE x23, x24, 48
  RESTORE x21, x22, 32
  RESTORE x19, x20, 16
  LEAVE_FRAME 160
  RETURN
  .cfi_endproc
  .size weft_fiber_switch, . - weft_fiber_switch

// void weft_fiber_call(void** saveSp: x0, void (*function)(void*): x1, void* argument: x2)
//
// The frame is that of weft_fiber_switch, and stays on the stack during the call.
  .p2align 4
  .globl weft_fiber_call
  .hidden weft_fiber_call
  .type weft_fiber_call, %function
weft_fiber_call:
  .cfi_startproc
  BEGIN
  SAVE_REGISTERS
  mov x29, sp
  str x29, [x0]
  mov x0, x2
  blr x1
  LEAVE_FRAME 160
.irp register, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, d8, d9, d10, d11, d12, d13, d14, d15
  .cfi_restore \register
.endr
  RETURN
  .cfi_endproc
  .size weft_fiber_call, . - weft_fiber_call

// The base of each fiber: entry in x19, its argument in x20, 0 in x29, sp aligned to 16. Reached by the `ret`
// above, which needs no mark at its target. Unwinders look a return address up one byte before it, hence the
// nop that belongs to this function and never runs.
  .p2align 4
  .type weft_fiber_base, %function
weft_fiber_base:
  .cfi_startproc
  .cfi_undefined x30
  nop
.Lstart:
  mov x0, x20
  blr x19
  brk #1000
  .cfi_endproc
  .size weft_fiber_base, . - weft_fiber_base

// void* weft_fiber_prepare(void* stackTop: x0, void (*entry)(void*): x1, void* arg: x2)
//
// Signs the base's address for the stack pointer with which weft_fiber_switch will authenticate it. A null is
// the caller's x29, where walks along frame pointers end. The two words above the frame keep the base's stack
// pointer within the stack.
  .p2align 4
  .globl weft_fiber_prepare
  .hidden weft_fiber_prepare
  .type weft_fiber_prepare, %function
weft_fiber_prepare:
  .cfi_startproc
  ENTRY_MARK
  and x0, x0, #-16
  sub x16, x0, #16
  stp xzr, xzr, [x16]
  adr x17, .Lstart
  SIGN_BASE
  sub x0, x0, #176
  stp xzr, x17, [x0]
  stp x1, x2, [x0, #16]
.irp offset, 32, 48, 64, 80, 96, 112, 128, 144
  stp xzr, xzr, [x0, #\offset]
.endr
  ret
  .cfi_endproc
  .size weft_fiber_prepare, . - weft_fiber_prepare

// void weft_call_watched(void* argument: x0, void (*function)(void*): x1, const Watch* watch: x2)
//
// The personality routine finds the Watch at the stack pointer.
  .p2align 4
  .globl weft_call_watched
  .hidden weft_call_watched
  .type weft_call_watched, %function
weft_call_watched:
  .cfi_startproc
  .cfi_personality 0x1b, weft_watch_personality
  BEGIN
  stp x2, xzr, [sp, #-32]!
  .cfi_def_cfa_offset 32
  SAVE x29, x30, 16
  add x29, sp, #16
  blr x1
  RESTORE x29, x30, 16
  add sp, sp, #32
  .cfi_def_cfa_offset 0
  RETURN
  .cfi_endproc
  .size weft_call_watched, . - weft_call_watched

// void weft_run_task(TaskNode* node: x0)
//
// Calls node->invoke(node, TaskOp::Run), whose Watch its personality routine knows.
  .p2align 4
  .globl weft_run_task
  .hidden weft_run_task
  .type weft_run_task, %function
weft_run_task:
  .cfi_startproc
  .cfi_personality 0x1b, weft_task_personality
  BEGIN
  stp x29, x30, [sp, #-16]!
  .cfi_def_cfa_offset 16
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  mov x29, sp
  ldr x2, [x0]
  mov w1, wzr
  blr x2
  LEAVE_FRAME 16
  RETURN
  .cfi_endproc
  .size weft_run_task, . - weft_run_task

#endif

#include "notes.inc"
