// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

#include "weft/detail/base/exception_state.h"

namespace weft::inline v0_1::detail {

// What the processor and the runtimes know of a fiber: where it was switched away from, and what is otherwise
// kept per thread (exceptions being handled, the sanitizers' stack). It owns neither its stack nor itself.
//
//   OSFiber self;                                    // this thread
//   OSFiber other;
//   self.initThread();
//   other.init(stackBase, stackSize, entry, argument);
//   OSFiber::switchTo(self, other, OSFiber::exceptionGlobals());
//   ...                                              // back, after other has switched to self
//   other.destroy();
//
// All words are there in every build: code with and without sanitizers or exceptions agrees on the layout.
struct OSFiber {
  // Makes this object stand for the calling thread and its stack. Needs no destroy(), though one is harmless.
  void initThread();

  // Prepares a fiber that calls `entry(arg)` on the stack [stackBase, stackBase + stackSize) when it is first
  // switched to. An object may be prepared again if its fiber will not be resumed. Costs 30 ns, under TSan 15
  // us (clang) or 500 us (gcc): there a fiber that loops is better than a new one.
  // Requires: entry never returns (the process traps): a fiber ends by switching away for good.
  //   stackSize is at least kMinStackSize; the stack need not be aligned.
  // Lifetime: the stack must outlive the fiber; while it is suspended there, the object must not move.
  void init(void* stackBase, size_t stackSize, void (*entry)(void*), void* arg);

  // Frees what the runtimes hold for a fiber that was never run, or is suspended and will not be resumed.
  // Does not destroy the objects on its stack. No effect on an object that was never prepared.
  // Requires: the fiber is not the calling one.
  void destroy();

  // Suspends the calling fiber `from` and resumes `to` on the calling thread; returns when something switches
  // to `from`, with the exceptions being handled as before the call. The floating-point environment (rounding
  // mode, status bits) belongs to the thread.
  // Requires: `from` is the calling fiber, `to` another one, suspended or fresh; `globals` is
  //   exceptionGlobals() of the calling thread.
  // Memory ordering: none; both sides run on one thread.
  static void switchTo(OSFiber& from, OSFiber& to, void** globals);

  // Calls `function(argument)` on the calling fiber, `self`. Meanwhile its `sp` leads to its frames, as if it
  // were suspended: for who looks at the stack from outside.
  // Requires: the function switches to no fiber.
  static void callVisibly(OSFiber& self, void (*function)(void*), void* argument);

  // Returns: where the C++ runtime keeps the thread's exceptions in flight, the same for the thread's life.
  static void** exceptionGlobals();

#if !defined(WEFT_UCONTEXT)
  static constexpr size_t kMinStackSize = 1024;
#elif defined(__aarch64__)
  static constexpr size_t kMinStackSize = 12 * 1024;  // two contexts of 4.5 KiB
#else
  static constexpr size_t kMinStackSize = 4096;
#endif

  void* sp = nullptr;         // while suspended, or in callVisibly(): points to the saved registers
  ExceptionState exceptions;  // while suspended: the contents of *exceptionGlobals()
  void* stackBase = nullptr;  // null for a thread, except under ASan
  size_t stackSize = 0;
  void* sanitizerState = nullptr;  // TSan's fiber; under ASan, while suspended, the fake stack
};

struct ThreadStack {
  void* base = nullptr;
  size_t size = 0;
};

// Returns: the calling thread's, also where a fiber runs there; empty if the system does not tell.
ThreadStack threadStack();

static_assert(sizeof(void*) != 8 || sizeof(OSFiber) == 48);

}  // namespace weft::inline v0_1::detail
