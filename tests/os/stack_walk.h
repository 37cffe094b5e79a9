// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include <unwind.h>

#include "os/held_registers.h"
#include "os/osfiber.h"

// What the unwinder finds on the stack of the caller, by the call frame information.
namespace weft::tests {

// One frame of a walk, innermost first.
struct Frame {
  void* function;
  uintptr_t ip;
  uintptr_t cfa;
  uintptr_t held[kNumHeld];

  // Returns: whether this is weft_test_hold() with the registers that it sets.
  bool holds(uintptr_t magic) const {
    for (size_t i = 0; i < kNumHeld; i++) {
      if (kHeld[i].dwarfNumber >= 0 && held[i] != magic + i) {
        return false;
      }
    }
    return true;
  }
};

struct Walk {
  static constexpr int kMaxFrames = 128;
  uintptr_t startIp = 0;  // 0, or where to begin
  int numFrames = 0;
  bool isComplete = false;
  Frame frames[kMaxFrames];

  // Needs no memory but this: it runs in a signal handler.
  void record() { isComplete = _Unwind_Backtrace(&Walk::add, this) == kEndOfWalk; }

  // Tables may have one entry for several functions, so that the frame's may be an earlier one.
  Frame* find(void* function) {
    const auto start = reinterpret_cast<uintptr_t>(function);
    for (int i = 0; i < numFrames; i++) {
      if (reinterpret_cast<uintptr_t>(frames[i].function) <= start && start < frames[i].ip) {
        return &frames[i];
      }
    }
    return nullptr;
  }

 private:
  static _Unwind_Reason_Code add(_Unwind_Context* context, void* p) {
    auto* walk = static_cast<Walk*>(p);
    int beforeInstruction = 0;
    const uintptr_t ip = _Unwind_GetIPInfo(context, &beforeInstruction);
    const bool isBeforeStart = walk->numFrames == 0 && walk->startIp != 0 && ip != walk->startIp;
    if (isBeforeStart || ip == 0) {  // a walk reports its end as a frame at 0
      return _URC_NO_REASON;
    }
    if (walk->numFrames == kMaxFrames) {
      return _URC_HANDLER_FOUND;  // any code but _URC_NO_REASON ends a walk
    }
    Frame& frame = walk->frames[walk->numFrames++];
    frame.ip = ip;
    frame.cfa = _Unwind_GetCFA(context);
    frame.function = functionOf(ip + (beforeInstruction ? 1 : 0));
    for (size_t i = 0; i < kNumHeld; i++) {
      if (kHeld[i].dwarfNumber >= 0) {
        frame.held[i] = _Unwind_GetGR(context, kHeld[i].dwarfNumber);
      }
    }
    return _URC_NO_REASON;
  }
};

// The function at the base of a fiber that has not run yet.
inline void* baseOf(const detail::OSFiber& fresh) {
  return functionOf(codeAddress(static_cast<uintptr_t*>(fresh.sp)[kReturnAddressAt]));
}

// The function that a walk on a fiber that has not run yet will report last.
inline void* outermostOf(const detail::OSFiber& fresh) {
  return functionOf(codeAddress(static_cast<uintptr_t*>(fresh.sp)[kOutermostAt]) + 1);
}

}  // namespace weft::tests
