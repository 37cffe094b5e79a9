// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include <unwind.h>

// What the tests of a switch backend need to know of the processor: held_registers_<processor>.h has it, and
// defines the functions in assembly that are declared here. A new backend adds such a file.
extern "C" {
// The backend; src/osfiber_asm/README.md has the contract.
[[gnu::visibility("hidden")]] void weft_fiber_switch(void** saveSp, void* targetSp);
[[gnu::visibility("hidden")]] void weft_fiber_call(void** saveSp, void (*function)(void*), void* argument);

using AnyFunction = void (*)();

// Calls function(first, second, third) while the i-th of kHeld, the registers that a callee preserves, is
// `magic + i`. If `steps`, and the processor lets a program step through itself, asks the handler of SIGTRAP
// to start before the call and to stop after it.
// Returns: whether the registers were the same afterwards.
[[gnu::visibility("hidden")]] bool weft_test_hold(const void* first, const void* second, const void* third,
                                                  uintptr_t magic, AnyFunction function, bool steps);

struct WeftTestEntry {
  uintptr_t sp;
  void (*entered)(WeftTestEntry* self);
};

// For WeftTestEntry*: stores the stack pointer as it is at a function's entry, then calls entered(self).
[[gnu::visibility("hidden")]] void weft_test_entry(void* entry);
}

namespace weft::tests {

struct HeldRegister {
  int dwarfNumber;  // -1: the unwinder has no function that reads it
  int savedAt;      // in the frame of a suspended fiber, in words from its stack pointer
};

// The control and status words of floating-point arithmetic that belong to the thread.
struct FloatingPointWords {
  uint64_t words[2];
  bool operator==(const FloatingPointWords&) const = default;
};

}  // namespace weft::tests

#if defined(__x86_64__)
#include "os/held_registers_x86_64.h"
#elif defined(__aarch64__)
#include "os/held_registers_aarch64.h"
#elif defined(__arm__)
#include "os/held_registers_arm.h"
#elif defined(__riscv)
#include "os/held_registers_riscv64.h"
#elif defined(__powerpc64__)
#include "os/held_registers_powerpc64le.h"
#elif defined(__s390x__)
#include "os/held_registers_s390x.h"
#elif defined(WEFT_UCONTEXT)
#include "os/held_registers_generic.h"
#else
#error "the tests of the switch need a held_registers_<processor>.h"
#endif

#if !defined(WEFT_TEST_NO_FRAMES)

// Before a function that calls ownFrame(): it is part of the chain of frames.
#if !defined(WEFT_TEST_FRAME_CHAIN)
#define WEFT_TEST_FRAME_CHAIN
namespace weft::tests {

// Returns: the address of the calling function's frame. Who asks for it has a frame pointer,
// however the file is compiled.
[[gnu::always_inline]] inline const uintptr_t* ownFrame() {
  return static_cast<const uintptr_t*>(__builtin_frame_address(0));
}

}  // namespace weft::tests
#endif

namespace weft::tests {

#if !defined(WEFT_TEST_ENDS_OF_WALKS)
inline constexpr int kOutermostAt = kReturnAddressAt;  // leads to the function that walks report last
inline constexpr _Unwind_Reason_Code kEndOfWalk = _URC_END_OF_STACK;

// Returns: the function with the call before `address`.
inline void* functionOf(uintptr_t address) {
  return _Unwind_FindEnclosingFunction(reinterpret_cast<void*>(address));
}
#endif

inline constexpr size_t kNumHeld = sizeof kHeld / sizeof kHeld[0];

// Returns: weft_test_hold() for a function of any type.
template <class R, class... Args>
bool hold(uintptr_t magic, R (*function)(Args...), const void* first, const void* second, const void* third,
          bool steps = false) {
  return weft_test_hold(first, second, third, magic, reinterpret_cast<AnyFunction>(function), steps);
}

// Returns: whether the frame of a suspended fiber has the registers that weft_test_hold() sets.
inline bool frameHolds(const void* sp, uintptr_t magic) {
  const auto* frame = static_cast<const uintptr_t*>(sp);
  for (size_t i = 0; i < kNumHeld; i++) {
    if (frame[kHeld[i].savedAt] != magic + i) {
      return false;
    }
  }
  return true;
}

}  // namespace weft::tests

#endif  // WEFT_TEST_NO_FRAMES
