// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The backend for processors without assembly, by getcontext(), makecontext() and setcontext() of POSIX 2001.
// osfiber_asm/README.md has the contract, and what this backend does otherwise.

#if defined(WEFT_UCONTEXT)
#include <fenv.h>
#include <ucontext.h>
#endif

#include <cstddef>
#include <cstdint>
#include <new>

#include "os/osfiber.h"
#include "os/osfiber_backend.h"
#include "weft/sanitizers.h"

#if WEFT_ADDRESS_SANITIZER_ENABLED
#include <sanitizer/asan_interface.h>
#endif

#if defined(WEFT_UCONTEXT)

namespace weft::inline v0_1::detail {
namespace {

// What `sp` points to. Who looks from outside takes seven words for registers. Their return address of 0 has
// no frames.
struct NoRegisters {
  uintptr_t mark;
  uintptr_t registers[6];
};

// What the `sp` of a suspended fiber points to.
struct SavedContext : NoRegisters {
  bool isSuspended;
  fenv_t environment;  // the thread's, left here by who resumes the fiber
  ucontext_t context;
};

// At the top of a fresh fiber's stack. The first frame lies below.
struct FreshContext : SavedContext {
  void (*entry)(void*);
  void* arg;
};

// A switch needs a frame with a SavedContext, and calls of the system's functions.
constexpr size_t kCallRoom = 512;
static_assert(sizeof(FreshContext) + sizeof(SavedContext) + 2 * kCallRoom <= OSFiber::kMinStackSize,
              "OSFiber::kMinStackSize is too small for this processor's ucontext_t");

// For a context that lies where functions may have ended without a return. AddressSanitizer still guards
// their locals there.
template <class Context>
void initialize(Context& context) {
#if WEFT_ADDRESS_SANITIZER_ENABLED
  __asan_unpoison_memory_region(&context, sizeof context);
#endif
  static_cast<NoRegisters&>(context) = {kUcontextMark, {}};
}

// The arguments of makecontext() are of type int, so that a pointer takes two.
void startFresh(unsigned low, unsigned high) {
  const auto address = static_cast<uintptr_t>(uint64_t{high} << 32 | low);
  const auto& fresh = *reinterpret_cast<const FreshContext*>(address);
  fesetenv(&fresh.environment);
  fresh.entry(fresh.arg);
  __builtin_trap();
}

}  // namespace
}  // namespace weft::inline v0_1::detail

extern "C" {

void* weft_fiber_prepare(void* stackTop, void (*entry)(void*), void* arg) {
  using weft::detail::FreshContext;
  constexpr uintptr_t kAlignment = alignof(FreshContext) > 16 ? alignof(FreshContext) : 16;
  const uintptr_t end = reinterpret_cast<uintptr_t>(stackTop) - sizeof(FreshContext);
  const uintptr_t address = end - end % kAlignment;
  auto* fresh = new (reinterpret_cast<void*>(address)) FreshContext;
  initialize(*fresh);
  fresh->entry = entry;
  fresh->arg = arg;
  getcontext(&fresh->context);
  // The size is not known here. It only says where the stack begins.
  fresh->context.uc_stack.ss_sp = reinterpret_cast<void*>(address - weft::detail::kCallRoom);
  fresh->context.uc_stack.ss_size = weft::detail::kCallRoom;
  fresh->context.uc_link = nullptr;
  makecontext(&fresh->context, reinterpret_cast<void (*)()>(&weft::detail::startFresh), 2,
              static_cast<unsigned>(address), static_cast<unsigned>(uint64_t{address} >> 32));
  return static_cast<weft::detail::SavedContext*>(fresh);
}

// getcontext() returns again when the fiber is resumed. Unlike swapcontext(), the pair shows the thread's
// signal mask before the target's is loaded, so that it can be put there without a third system call.
[[gnu::no_sanitize_address]] void weft_fiber_switch(void** saveSp, void* targetSp) {
  weft::detail::SavedContext own;  // on the stack of the fiber itself, also with AddressSanitizer
  initialize(own);
  *saveSp = &own;
  own.isSuspended = true;
  getcontext(&own.context);
  if (own.isSuspended) {
    auto& target = *static_cast<weft::detail::SavedContext*>(targetSp);
    target.isSuspended = false;
    target.context.uc_sigmask = own.context.uc_sigmask;
    fegetenv(&target.environment);
    setcontext(&target.context);
    __builtin_trap();
  }
  fesetenv(&own.environment);
}

[[gnu::no_sanitize_address]] void weft_fiber_call(void** saveSp, void (*function)(void*), void* argument) {
  weft::detail::NoRegisters own;
  initialize(own);
  *saveSp = &own;
  function(argument);
}

}  // extern "C"

#endif
