// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/port/processor_aarch64.h"
#include "weft/detail/port/processor_arm.h"
#include "weft/detail/port/processor_generic.h"
#include "weft/detail/port/processor_i386.h"
#include "weft/detail/port/processor_powerpc64.h"
#include "weft/detail/port/processor_riscv64.h"
#include "weft/detail/port/processor_s390x.h"
#include "weft/detail/port/processor_x86_64.h"

// What weft needs of a processor inline. Each processor's header defines all of this, or takes it from
// processor_generic.h, and is empty when compiled for another processor. A processor without a header has
// what is generic.
//
// Atomic<T>
//   std::atomic<T>, or a class that derives from it where a compiler does not give it all of its orders.
// void prefetchForWrite(const void* line)
//   Fetches a cache line that is about to be written, and takes it from other cores.
// void fullFence()
//   Orders all accesses before it and all after it, as a fence of seq_cst does.
// void pause()
//   One step of a short wait for another thread. The compiler keeps it.
// uintptr_t stackPointer()
//   Returns: the stack pointer of the calling function, which lies below the function's arrays.
// uint64_t ticks()
//   Returns: what a counter shows that goes on evenly, the cheapest to read. The upper byte is 0.
// kTicksPerMicrosecond
//   A guess of how fast ticks() runs: see src/os/tick_rate.cpp.
// kExceptionWords
//   What the C++ runtime keeps of exceptions for a thread (__cxa_eh_globals), in pointers.
// void addBySingleWriter(Atomic& value, int64_t number)
//   Adds to an atomic uint64_t that this thread alone writes, with no order. If possible by one instruction.
#if !defined(WEFT_HAS_PROCESSOR_HEADER)
namespace weft::inline v0_1::detail::port {

using namespace generic;

}  // namespace weft::inline v0_1::detail::port
#endif
