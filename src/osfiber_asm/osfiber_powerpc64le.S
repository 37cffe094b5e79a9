// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// PowerPC, 64 bits, little-endian, in the second version of the ELF ABI. README.md beside this file says what
// a backend must do.
//
// A suspended stack, from its stack pointer upwards: back chain, two words that callees write, r2, r14 ... r31
// f14 ... f31 v20 ... v31; then the frame of the caller: back chain, cr, lr.
// fpscr, vscr and vrsave are left alone, as the contract says.
//
// A function is called by its pointer in r12, and may change r2. `ld 2, 24(1)` behind such a call tells
// unwinders that r2 is saved there. No function here needs an r2 of its own.

#if defined(__powerpc64__) && defined(__LITTLE_ENDIAN__) && defined(__ELF__) && _CALL_ELF == 2 && !defined(WEFT_UCONTEXT)

  .set FRAME, 512

// The numbers of DWARF: 32 + n is fn, 77 + n is vn, 65 is lr, 70 to 72 are cr2 to cr4.

// Saves lr in the caller's frame, where walks along the back chain find it.
.macro SAVE_RETURN_ADDRESS
  mflr %r0
  std %r0, 16(%r1)
  .cfi_offset 65, 16
.endm

.macro RETURN
  ld %r0, 16(%r1)
  mtlr %r0
  .cfi_restore 65
  blr
.endm

.macro MAKE_FRAME size
  stdu %r1, -\size(%r1)
  .cfi_def_cfa_offset \size
  std %r2, 24(%r1)
  .cfi_rel_offset 2, 24
.endm

.macro LEAVE_FRAME size
  addi %r1, %r1, \size
  .cfi_def_cfa_offset 0
.endm

// Calls the function in r12.
.macro CALL
  mtctr %r12
  bctrl
  ld %r2, 24(%r1)
  .cfi_restore 2
.endm

// Makes the frame of a suspended fiber, with its call frame information.
.macro SAVE_REGISTERS
  SAVE_RETURN_ADDRESS
  mfcr %r12
  stw %r12, 8(%r1)
.irp n, 70, 71, 72
  .cfi_offset \n, 8
.endr
  MAKE_FRAME FRAME
.irp n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  std %r\n, 32 + 8 * (\n - 14)(%r1)
  .cfi_rel_offset \n, 32 + 8 * (\n - 14)
.endr
.irp n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  stfd %f\n, 176 + 8 * (\n - 14)(%r1)
  .cfi_rel_offset 32 + \n, 176 + 8 * (\n - 14)
.endr
.irp n, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  li %r11, 320 + 16 * (\n - 20)
  stvx %v\n, %r11, %r1
  .cfi_rel_offset 77 + \n, 320 + 16 * (\n - 20)
.endr
.endm

  .abiversion 2
  .text

// void weft_fiber_switch(void** saveSp: r3, void* targetSp: r4)
//
// The frame has the same shape on both stacks, so that the CFI stays true across the change of r1. `blr`
// pairs with the call through which the resumed fiber was suspended: as both come from one place, it is
// predicted. It gets its address early.
  .p2align 6
  .globl weft_fiber_switch
  .hidden weft_fiber_switch
  .type weft_fiber_switch, @function
weft_fiber_switch:
  .cfi_startproc
  SAVE_REGISTERS
  std %r1, 0(%r3)
  mr %r1, %r4
  ld %r0, FRAME + 16(%r1)
  lwz %r12, FRAME + 8(%r1)
  mtlr %r0
  .cfi_restore 65
  mtocrf 0x20, %r12
  .cfi_restore 70
  mtocrf 0x10, %r12
  .cfi_restore 71
  mtocrf 0x08, %r12
  .cfi_restore 72
.irp n, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  li %r11, 320 + 16 * (\n - 20)
  lvx %v\n, %r11, %r1
  .cfi_restore 77 + \n
.endr
.irp n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  lfd %f\n, 176 + 8 * (\n - 14)(%r1)
  .cfi_restore 32 + \n
.endr
.irp n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  ld %r\n, 32 + 8 * (\n - 14)(%r1)
  .cfi_restore \n
.endr
  ld %r2, 24(%r1)
  .cfi_restore 2
  LEAVE_FRAME FRAME
  blr
  .cfi_endproc
  .size weft_fiber_switch, . - weft_fiber_switch

// void weft_fiber_call(void** saveSp: r3, void (*function)(void*): r4, void* argument: r5)
//
// The frame is that of weft_fiber_switch, and stays on the stack during the call.
  .p2align 4
  .globl weft_fiber_call
  .hidden weft_fiber_call
  .type weft_fiber_call, @function
weft_fiber_call:
  .cfi_startproc
  SAVE_REGISTERS
  std %r1, 0(%r3)
  mr %r3, %r5
  mr %r12, %r4
  CALL
  LEAVE_FRAME FRAME
.irp n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  .cfi_restore \n
  .cfi_restore 32 + \n
.endr
.irp n, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  .cfi_restore 77 + \n
.endr
.irp n, 70, 71, 72
  .cfi_restore \n
.endr
  RETURN
  .cfi_endproc
  .size weft_fiber_call, . - weft_fiber_call

// The base of each fiber: entry in r14, its argument in r15, r1 at a frame of 32 bytes with a null back chain.
// Reached by the `blr` above. Unwinders look a return address up one byte before it, hence the nop that
// belongs to this function and never runs.
  .p2align 4
  .type weft_fiber_base, @function
weft_fiber_base:
  .cfi_startproc
  .cfi_def_cfa_offset 32
  .cfi_undefined 65
  nop
.Lstart:
  mr %r3, %r15
  mr %r12, %r14
  mtctr %r12
  bctrl
  trap
  .cfi_endproc
  .size weft_fiber_base, . - weft_fiber_base

// void* weft_fiber_prepare(void* stackTop: r3, void (*entry)(void*): r4, void* arg: r5)
//
// `bcl 20, 31` to the next instruction is the branch that processors do not take for a call.
  .p2align 4
  .globl weft_fiber_prepare
  .hidden weft_fiber_prepare
  .type weft_fiber_prepare, @function
weft_fiber_prepare:
  .cfi_startproc
  mflr %r0
  .cfi_register 65, 0
  bcl 20, 31, .Lhere
.Lhere:
  mflr %r7
  mtlr %r0
  .cfi_restore 65
  addi %r7, %r7, .Lstart - .Lhere
  clrrdi %r3, %r3, 4
  addi %r6, %r3, -32
  addi %r3, %r6, -FRAME
  li %r0, 0
  .set offset, 8
.rept (FRAME + 32) / 8 - 1
  std %r0, offset(%r3)
  .set offset, offset + 8
.endr
  std %r6, 0(%r3)
  std %r4, 32(%r3)
  std %r5, 40(%r3)
  std %r7, 16(%r6)
  blr
  .cfi_endproc
  .size weft_fiber_prepare, . - weft_fiber_prepare

// void weft_call_watched(void* argument: r3, void (*function)(void*): r4, const Watch* watch: r5)
//
// The personality routine finds the Watch above the four words that the ABI wants at the stack pointer.
  .p2align 4
  .globl weft_call_watched
  .hidden weft_call_watched
  .type weft_call_watched, @function
weft_call_watched:
  .cfi_startproc
  .cfi_personality 0x1b, weft_watch_personality
  SAVE_RETURN_ADDRESS
  MAKE_FRAME 48
  std %r5, 32(%r1)
  mr %r12, %r4
  CALL
  LEAVE_FRAME 48
  RETURN
  .cfi_endproc
  .size weft_call_watched, . - weft_call_watched

// void weft_run_task(TaskNode* node: r3)
//
// Calls node->invoke(node, TaskOp::Run), whose Watch its personality routine knows.
  .p2align 4
  .globl weft_run_task
  .hidden weft_run_task
  .type weft_run_task, @function
weft_run_task:
  .cfi_startproc
  .cfi_personality 0x1b, weft_task_personality
  SAVE_RETURN_ADDRESS
  MAKE_FRAME 32
  ld %r12, 0(%r3)
  li %r4, 0
  CALL
  LEAVE_FRAME 32
  RETURN
  .cfi_endproc
  .size weft_run_task, . - weft_run_task

#endif

#include "notes.inc"
