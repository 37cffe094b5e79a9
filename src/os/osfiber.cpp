// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/osfiber.h"

#include <cxxabi.h>
#include <pthread.h>

#include <cstdint>
#include <utility>

#include "os/osfiber_backend.h"
#include "weft/sanitizers.h"

#if WEFT_ADDRESS_SANITIZER_ENABLED
#include <sanitizer/common_interface_defs.h>
#endif
#if WEFT_THREAD_SANITIZER_ENABLED
#include <sanitizer/tsan_interface.h>
#endif

#if defined(_LIBCPPABI_VERSION)
// libc++abi has this function of the Itanium C++ ABI, but its header does not declare it.
namespace __cxxabiv1 {
struct __cxa_eh_globals;
extern "C" __cxa_eh_globals* __cxa_get_globals();
}  // namespace __cxxabiv1
#endif

namespace weft::inline v0_1::detail {
namespace {

#if WEFT_ADDRESS_SANITIZER_ENABLED
// Lies at the top of a fiber's stack.
struct FirstCall {
  void (*entry)(void*);
  void* arg;
};

void completeFirstSwitch(void* p) {
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
  auto* call = static_cast<FirstCall*>(p);
  call->entry(call->arg);
}

// ASan frees a fiber's memory only while it runs: so this pretends to switch to it and to let it die.
void freeFakeStack(OSFiber& fiber) {
  void* own = nullptr;
  const void* ownBase = nullptr;
  size_t ownSize = 0;
  __sanitizer_start_switch_fiber(&own, fiber.stackBase, fiber.stackSize);
  __sanitizer_finish_switch_fiber(fiber.sanitizerState, &ownBase, &ownSize);
  __sanitizer_start_switch_fiber(nullptr, ownBase, ownSize);
  __sanitizer_finish_switch_fiber(own, nullptr, nullptr);
}
#endif

}  // namespace

ThreadStack threadStack() {
  constinit thread_local static ThreadStack found;
  pthread_attr_t attributes;
  if (found.base == nullptr && pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &found.base, &found.size);
    pthread_attr_destroy(&attributes);
  }
  return found;
}

void OSFiber::initThread() {
  *this = OSFiber();
#if WEFT_ADDRESS_SANITIZER_ENABLED
  const ThreadStack own = threadStack();
  stackBase = own.base;
  stackSize = own.size;
#endif
  WEFT_THREAD_SANITIZER_ONLY(sanitizerState = __tsan_get_current_fiber());
}

void OSFiber::init(void* base, size_t size, void (*entry)(void*), void* arg) {
  destroy();
  stackBase = base;
  stackSize = size;
  char* top = static_cast<char*>(base) + size;
#if WEFT_ADDRESS_SANITIZER_ENABLED
  top -= sizeof(FirstCall) + reinterpret_cast<uintptr_t>(top) % alignof(FirstCall);
  auto* call = reinterpret_cast<FirstCall*>(top);
  *call = {entry, arg};
  entry = &completeFirstSwitch;
  arg = call;
#endif
  WEFT_THREAD_SANITIZER_ONLY(sanitizerState = __tsan_create_fiber(0));
  sp = weft_fiber_prepare(top, entry, arg);
}

void OSFiber::destroy() {
#if WEFT_ADDRESS_SANITIZER_ENABLED
  if (sanitizerState != nullptr) {
    freeFakeStack(*this);
  }
#endif
#if WEFT_THREAD_SANITIZER_ENABLED
  if (stackBase != nullptr) {  // a thread's own stack is not ours to free
    __tsan_destroy_fiber(sanitizerState);
  }
#endif
  *this = OSFiber();
}

// In builds without sanitizers this ends in a jump to weft_fiber_switch: one call and one return in all.
[[gnu::noinline]] void OSFiber::switchTo(OSFiber& from, OSFiber& to, void** globals) {
  from.exceptions.save(globals);
  to.exceptions.restore(globals);
#if WEFT_ADDRESS_SANITIZER_ENABLED
  __sanitizer_start_switch_fiber(&from.sanitizerState, to.stackBase, to.stackSize);
#endif
  WEFT_THREAD_SANITIZER_ONLY(__tsan_switch_to_fiber(to.sanitizerState, 0));
  weft_fiber_switch(&from.sp, to.sp);
#if WEFT_ADDRESS_SANITIZER_ENABLED
  __sanitizer_finish_switch_fiber(std::exchange(from.sanitizerState, nullptr), nullptr, nullptr);
#endif
}

void OSFiber::callVisibly(OSFiber& self, void (*function)(void*), void* argument) {
  weft_fiber_call(&self.sp, function, argument);
}

void** OSFiber::exceptionGlobals() { return reinterpret_cast<void**>(abi::__cxa_get_globals()); }

}  // namespace weft::inline v0_1::detail
