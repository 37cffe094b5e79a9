// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ARM of 32 bits, its procedure call standard (AAPCS) with floating-point numbers in registers, in ELF.
// README.md beside this file says what a backend must do.
//
// A suspended stack, from its stack pointer upwards: a free word, r4 ... r11 lr d8 ... d15.
// The code is ARM's. Each branch to code that it does not know is a bx, a blx or a load of pc, which also
// enter Thumb code. fpscr is left alone, as the contract says.
//
// C++ unwinds by the tables of ARM's exception handling ABI (.fnstart to .fnend), debuggers by .debug_frame.

#if defined(__arm__) && defined(__ARMEL__) && defined(__ARM_PCS_VFP) && defined(__ELF__) && !defined(WEFT_UCONTEXT)

  .cfi_sections .debug_frame

.macro BEGIN name, alignment
  .p2align \alignment
  .hidden \name
  .type \name, %function
\name:
  .fnstart
  .cfi_startproc
.endm

.macro END name
  .cfi_endproc
  .fnend
  .size \name, . - \name
.endm

// Makes the frame of a suspended fiber, with its call frame information. r3 fills the free word.
.macro SAVE_REGISTERS
  vpush {d8-d15}
  .vsave {d8-d15}
  .cfi_def_cfa_offset 64
  .irp i, 8, 9, 10, 11, 12, 13, 14, 15
  .cfi_offset d\i, 8*\i-128
  .endr
  push {r3-r11, lr}
  .save {r3-r11, lr}
  .cfi_def_cfa_offset 104
  .irp i, 4, 5, 6, 7, 8, 9, 10, 11
  .cfi_offset r\i, 4*\i-116
  .endr
  .cfi_offset lr, -68
.endm

.macro FORGET_CORE_REGISTERS
  .irp i, 4, 5, 6, 7, 8, 9, 10, 11
  .cfi_restore r\i
  .endr
  .cfi_restore lr
.endm

.macro FORGET_VECTOR_REGISTERS
  .irp i, 8, 9, 10, 11, 12, 13, 14, 15
  .cfi_restore d\i
  .endr
  .cfi_def_cfa_offset 0
.endm

// Makes a frame of two words: `first`, and the return address.
.macro ENTER_FRAME first
  push {\first, lr}
  .save {lr}
  .pad #4
  .cfi_def_cfa_offset 8
  .cfi_offset lr, -4
.endm

  .text
  .syntax unified
  .arm

// void weft_fiber_switch(void** saveSp: r0, void* targetSp: r1)
//
// The frame has the same shape on both stacks, so that the CFI stays true across the change of sp. `bx lr`
// pairs with the call through which the resumed fiber was suspended: as both come from one place, it is
// predicted.
  .globl weft_fiber_switch
BEGIN weft_fiber_switch, 6
  SAVE_REGISTERS
  str sp, [r0]
  mov sp, r1
  pop {r3-r11, lr}
  FORGET_CORE_REGISTERS
  .cfi_def_cfa_offset 64
  vpop {d8-d15}
  FORGET_VECTOR_REGISTERS
  bx lr
END weft_fiber_switch

// void weft_fiber_call(void** saveSp: r0, void (*function)(void*): r1, void* argument: r2)
//
// The frame is that of weft_fiber_switch, and stays on the stack during the call.
  .globl weft_fiber_call
BEGIN weft_fiber_call, 4
  SAVE_REGISTERS
  str sp, [r0]
  mov r0, r2
  blx r1
  ldr lr, [sp, #36]
  FORGET_CORE_REGISTERS
  add sp, sp, #104
  FORGET_VECTOR_REGISTERS
  bx lr
END weft_fiber_call

// The base of each fiber: entry in r4, its argument in r5, 0 in the registers that may be frame pointers, sp
// aligned to 16. Reached by the `bx` of weft_fiber_switch. Unwinders look a return address up before it, hence
// the nop that belongs to this function and never runs.
BEGIN weft_fiber_base, 4
  .cfi_undefined lr
  nop
.Lstart:
  mov r0, r5
  blx r4
  udf #0
  .cantunwind
END weft_fiber_base

// void* weft_fiber_prepare(void* stackTop: r0, void (*entry)(void*): r1, void* arg: r2)
//
// A null is the caller's frame pointer, where walks along frame pointers end. The four words above the frame
// keep the base's stack pointer within the stack.
  .globl weft_fiber_prepare
BEGIN weft_fiber_prepare, 4
  bic r0, r0, #15
  sub r0, r0, #120
  mov r3, #0
  vmov d0, r3, r3
  .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
  vstr d0, [r0, #8*\i]
  .endr
  adr r3, .Lstart
  str r1, [r0, #4]
  str r2, [r0, #8]
  str r3, [r0, #36]
  bx lr
END weft_fiber_prepare

// void weft_call_watched(void* argument: r0, void (*function)(void*): r1, const Watch* watch: r2)
//
// The personality routine finds the Watch at the stack pointer.
  .globl weft_call_watched
BEGIN weft_call_watched, 4
  .personality weft_watch_personality
  ENTER_FRAME r2
  blx r1
  pop {r3, pc}
END weft_call_watched

// void weft_run_task(TaskNode* node: r0)
//
// Calls node->invoke(node, TaskOp::Run), whose Watch its personality routine knows.
  .globl weft_run_task
BEGIN weft_run_task, 4
  .personality weft_task_personality
  ENTER_FRAME r3
  ldr r2, [r0]
  mov r1, #0
  blx r2
  pop {r3, pc}
END weft_run_task

#endif

#include "notes.inc"
