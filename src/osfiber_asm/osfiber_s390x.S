// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// s390x (z/Architecture) with the ELF application binary interface for Linux. README.md beside this file says
// what a backend must do.
//
// A caller has 160 bytes at its stack pointer in which the function that it calls may save registers. That is
// where all registers of a suspended stack lie, at these offsets: f12 to f15 at 16, r6 to r15 at 48, f8 to f11
// at 128. The word at 0 is the caller's own: the back chain, of who compiles with it.
// The CFA is the caller's stack pointer + 160.
// fpc is left alone, as the contract says.

#if defined(__s390x__) && defined(__ELF__) && !defined(WEFT_UCONTEXT)

// `number` is the register's in call frame information. GNU's assembler does not know it.
.macro SAVE_FLOAT register, number, offset
  std %f\register, \offset(%r15)
  .cfi_rel_offset \number, \offset
.endm

.macro RESTORE_FLOAT register, number, offset
  ld %f\register, \offset(%r15)
  .cfi_restore \number
.endm

// Makes the frame of a suspended fiber, with its call frame information.
.macro SAVE_REGISTERS
  stmg %r6, %r15, 48(%r15)
  .irp i, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  .cfi_rel_offset %r\i, 8*\i
  .endr
  SAVE_FLOAT 12, 26, 16
  SAVE_FLOAT 13, 30, 24
  SAVE_FLOAT 14, 27, 32
  SAVE_FLOAT 15, 31, 40
  SAVE_FLOAT 8, 24, 128
  SAVE_FLOAT 9, 28, 136
  SAVE_FLOAT 10, 25, 144
  SAVE_FLOAT 11, 29, 152
.endm

// Makes a frame with a back chain, and with room for what a called function saves.
.macro ENTER_FRAME size
  lgr %r1, %r15
  aghi %r15, -\size
  .cfi_adjust_cfa_offset \size
  stg %r1, 0(%r15)
.endm

.macro LEAVE_FRAME size
  lmg %r14, %r15, \size+112(%r15)
  .cfi_restore %r14
  .cfi_restore %r15
  .cfi_adjust_cfa_offset -\size
.endm

.macro SAVE_RETURN
  stmg %r14, %r15, 112(%r15)
  .cfi_rel_offset %r14, 112
  .cfi_rel_offset %r15, 120
.endm

  .text

// void weft_fiber_switch(void** saveSp: r2, void* targetSp: r3)
//
// The frame has the same shape on both stacks, so that the CFI stays true across the change of r15. `br %r14`
// pairs with the call through which the resumed fiber was suspended: as both come from one place, it is
// predicted.
  .p2align 6
  .globl weft_fiber_switch
  .hidden weft_fiber_switch
  .type weft_fiber_switch, @function
weft_fiber_switch:
  .cfi_startproc
  SAVE_REGISTERS
  stg %r15, 0(%r2)
  lgr %r15, %r3
  RESTORE_FLOAT 12, 26, 16
  RESTORE_FLOAT 13, 30, 24
  RESTORE_FLOAT 14, 27, 32
  RESTORE_FLOAT 15, 31, 40
  RESTORE_FLOAT 8, 24, 128
  RESTORE_FLOAT 9, 28, 136
  RESTORE_FLOAT 10, 25, 144
  RESTORE_FLOAT 11, 29, 152
  lmg %r6, %r15, 48(%r15)
  .irp i, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  .cfi_restore %r\i
  .endr
  br %r14
  .cfi_endproc
  .size weft_fiber_switch, . - weft_fiber_switch

// void weft_fiber_call(void** saveSp: r2, void (*function)(void*): r3, void* argument: r4)
//
// The registers are saved where weft_fiber_switch saves them, and stay there during the call.
  .p2align 4
  .globl weft_fiber_call
  .hidden weft_fiber_call
  .type weft_fiber_call, @function
weft_fiber_call:
  .cfi_startproc
  SAVE_REGISTERS
  stg %r15, 0(%r2)
  ENTER_FRAME 160
  lgr %r2, %r4
  basr %r14, %r3
  LEAVE_FRAME 160
  .irp i, 6, 7, 8, 9, 10, 11, 12, 13
  .cfi_restore %r\i
  .endr
  .irp number, 24, 25, 26, 27, 28, 29, 30, 31
  .cfi_restore \number
  .endr
  br %r14
  .cfi_endproc
  .size weft_fiber_call, . - weft_fiber_call

// The base of each fiber: entry in r6, its argument in r7, r15 aligned to 16 with 160 bytes for what entry
// saves, of which the back chain is null. Reached by the return of weft_fiber_switch. Unwinders look a return
// address up one byte before it, hence the nop that belongs to this function and never runs. No instruction
// begins with two bytes of 0: they trap.
  .p2align 4
  .type weft_fiber_base, @function
weft_fiber_base:
  .cfi_startproc
  .cfi_undefined %r14
  nopr %r7
.Lstart:
  lgr %r2, %r7
  basr %r14, %r6
  .2byte 0
  .cfi_endproc
  .size weft_fiber_base, . - weft_fiber_base

// void* weft_fiber_prepare(void* stackTop: r2, void (*entry)(void*): r3, void* arg: r4)
  .p2align 4
  .globl weft_fiber_prepare
  .hidden weft_fiber_prepare
  .type weft_fiber_prepare, @function
weft_fiber_prepare:
  .cfi_startproc
  lghi %r1, -16
  ngr %r2, %r1
  aghi %r2, -160
  xc 0(160, %r2), 0(%r2)
  larl %r1, .Lstart
  stg %r3, 48(%r2)
  stg %r4, 56(%r2)
  stg %r1, 112(%r2)
  stg %r2, 120(%r2)
  br %r14
  .cfi_endproc
  .size weft_fiber_prepare, . - weft_fiber_prepare

// void weft_call_watched(void* argument: r2, void (*function)(void*): r3, const Watch* watch: r4)
//
// The personality routine finds the Watch at the CFA of the function that is called.
  .p2align 4
  .globl weft_call_watched
  .hidden weft_call_watched
  .type weft_call_watched, @function
weft_call_watched:
  .cfi_startproc
  .cfi_personality 0x1b, weft_watch_personality
  SAVE_RETURN
  ENTER_FRAME 168
  stg %r4, 160(%r15)
  basr %r14, %r3
  LEAVE_FRAME 168
  br %r14
  .cfi_endproc
  .size weft_call_watched, . - weft_call_watched

// void weft_run_task(TaskNode* node: r2)
//
// Calls node->invoke(node, TaskOp::Run), whose Watch its personality routine knows.
  .p2align 4
  .globl weft_run_task
  .hidden weft_run_task
  .type weft_run_task, @function
weft_run_task:
  .cfi_startproc
  .cfi_personality 0x1b, weft_task_personality
  SAVE_RETURN
  ENTER_FRAME 160
  lg %r1, 0(%r2)
  lghi %r3, 0
  basr %r14, %r1
  LEAVE_FRAME 160
  br %r14
  .cfi_endproc
  .size weft_run_task, . - weft_run_task

#endif

#include "notes.inc"
