// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

// What a processor's backend offers to OSFiber: osfiber_asm/README.md has the contract. They are in assembly,
// or in osfiber_ucontext.cpp where WEFT_UCONTEXT is defined.
extern "C" {
[[gnu::visibility("hidden")]] void weft_fiber_switch(void** saveSp, void* targetSp);
[[gnu::visibility("hidden")]] void weft_fiber_call(void** saveSp, void (*function)(void*), void* argument);
[[gnu::visibility("hidden")]] void* weft_fiber_prepare(void* stackTop, void (*entry)(void*), void* arg);
}

namespace weft::inline v0_1::detail {

// "ucontext": the first word of what the `sp` of a suspended fiber points to, where WEFT_UCONTEXT is defined.
// It has no registers that one could read from outside.
inline constexpr uintptr_t kUcontextMark = static_cast<uintptr_t>(0x747865746e6f6375);

}  // namespace weft::inline v0_1::detail
