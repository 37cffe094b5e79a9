// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// RISC-V with registers of 64 bits and floating-point numbers of 64 bits (the calling convention lp64d), in
// ELF. README.md beside this file says what a backend must do.
//
// A suspended stack, from its stack pointer upwards: s0 ra s1 ... s11 fs0 ... fs11, a free word. The first two
// are a frame record, which lies below the address that a frame pointer has.
// fcsr is left alone, as the contract says.

#if defined(__riscv) && __riscv_xlen == 64 && defined(__riscv_float_abi_double) && defined(__ELF__) && !defined(WEFT_UCONTEXT)

.macro SAVE register, offset
  sd \register, \offset(sp)
  .cfi_rel_offset \register, \offset
.endm

.macro RESTORE register, offset
  ld \register, \offset(sp)
  .cfi_restore \register
.endm

// Makes a frame that begins with a record of the caller's frame pointer and the return address.
.macro ENTER_FRAME size
  addi sp, sp, -\size
  .cfi_def_cfa_offset \size
  SAVE s0, 0
  SAVE ra, 8
.endm

.macro LEAVE_FRAME size
  RESTORE ra, 8
  RESTORE s0, 0
  addi sp, sp, \size
  .cfi_def_cfa_offset 0
.endm

// Makes the frame of a suspended fiber, with its call frame information.
.macro SAVE_REGISTERS
  ENTER_FRAME 208
  .irp i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
  SAVE s\i, 8+8*\i
  .endr
  .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
  fsd fs\i, 104+8*\i(sp)
  .cfi_rel_offset fs\i, 104+8*\i
  .endr
.endm

  .text

// void weft_fiber_switch(void** saveSp: a0, void* targetSp: a1)
//
// The frame has the same shape on both stacks, so that the CFI stays true across the change of sp. `ret`
// pairs with the call through which the resumed fiber was suspended: as both come from one place, it is
// predicted.
  .p2align 6
  .globl weft_fiber_switch
  .hidden weft_fiber_switch
  .type weft_fiber_switch, @function
weft_fiber_switch:
  .cfi_startproc
  SAVE_REGISTERS
  sd sp, 0(a0)
  mv sp, a1
  .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
  fld fs\i, 104+8*\i(sp)
  .cfi_restore fs\i
  .endr
  .irp i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
  RESTORE s\i, 8+8*\i
  .endr
  LEAVE_FRAME 208
  ret
  .cfi_endproc
  .size weft_fiber_switch, . - weft_fiber_switch

// void weft_fiber_call(void** saveSp: a0, void (*function)(void*): a1, void* argument: a2)
//
// The frame is that of weft_fiber_switch, and stays on the stack during the call.
  .p2align 4
  .globl weft_fiber_call
  .hidden weft_fiber_call
  .type weft_fiber_call, @function
weft_fiber_call:
  .cfi_startproc
  SAVE_REGISTERS
  addi s0, sp, 16
  sd sp, 0(a0)
  mv a0, a2
  jalr a1
  LEAVE_FRAME 208
  .irp i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
  .cfi_restore s\i
  .endr
  .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
  .cfi_restore fs\i
  .endr
  ret
  .cfi_endproc
  .size weft_fiber_call, . - weft_fiber_call

// The base of each fiber: entry in s1, its argument in s2, 0 in s0, sp aligned to 16. Reached by the `ret` of
// weft_fiber_switch. Unwinders look a return address up one byte before it, hence the nop that belongs to this
// function and never runs.
  .p2align 4
  .type weft_fiber_base, @function
weft_fiber_base:
  .cfi_startproc
  .cfi_undefined ra
  nop
.Lstart:
  mv a0, s2
  jalr s1
  ebreak
  .cfi_endproc
  .size weft_fiber_base, . - weft_fiber_base

// void* weft_fiber_prepare(void* stackTop: a0, void (*entry)(void*): a1, void* arg: a2)
//
// A null is the caller's s0, where walks along frame pointers end. The two words above the frame keep the
// base's stack pointer within the stack.
  .p2align 4
  .globl weft_fiber_prepare
  .hidden weft_fiber_prepare
  .type weft_fiber_prepare, @function
weft_fiber_prepare:
  .cfi_startproc
  andi a0, a0, -16
  addi a0, a0, -224
  lla t0, .Lstart
  sd zero, 0(a0)
  sd t0, 8(a0)
  sd a1, 16(a0)
  sd a2, 24(a0)
  .irp i, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
  sd zero, 8*\i(a0)
  .endr
  ret
  .cfi_endproc
  .size weft_fiber_prepare, . - weft_fiber_prepare

// void weft_call_watched(void* argument: a0, void (*function)(void*): a1, const Watch* watch: a2)
//
// The personality routine finds the Watch at the stack pointer.
  .p2align 4
  .globl weft_call_watched
  .hidden weft_call_watched
  .type weft_call_watched, @function
weft_call_watched:
  .cfi_startproc
  .cfi_personality 0x1b, weft_watch_personality
  addi sp, sp, -32
  .cfi_def_cfa_offset 32
  SAVE s0, 16
  SAVE ra, 24
  sd a2, 0(sp)
  addi s0, sp, 32
  jalr a1
  RESTORE ra, 24
  RESTORE s0, 16
  addi sp, sp, 32
  .cfi_def_cfa_offset 0
  ret
  .cfi_endproc
  .size weft_call_watched, . - weft_call_watched

// void weft_run_task(TaskNode* node: a0)
//
// Calls node->invoke(node, TaskOp::Run), whose Watch its personality routine knows.
  .p2align 4
  .globl weft_run_task
  .hidden weft_run_task
  .type weft_run_task, @function
weft_run_task:
  .cfi_startproc
  .cfi_personality 0x1b, weft_task_personality
  ENTER_FRAME 16
  addi s0, sp, 16
  ld a2, 0(a0)
  li a1, 0
  jalr a2
  LEAVE_FRAME 16
  ret
  .cfi_endproc
  .size weft_run_task, . - weft_run_task

#endif

#include "notes.inc"
