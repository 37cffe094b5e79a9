// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/aside.h"

#include <sys/mman.h>

#include <cstddef>

#include "os/stack_pool.h"

namespace weft::inline v0_1::detail {
namespace {

constexpr size_t kAsideStack = size_t{256} * 1024;
constexpr size_t kAsideGuard = size_t{64} * 1024;

struct AsideCall {
  void (*function)(void*);
  void* argument;
  void** globals;
  OSFiber caller;
  OSFiber callee{};
};

void runCall(void* argument) {
  AsideCall& call = *static_cast<AsideCall*>(argument);
  call.function(call.argument);
  OSFiber::switchTo(call.callee, call.caller, call.globals);
}

}  // namespace

void callAside(const OSFiber* current, void (*function)(void*), void* argument) {
  void* const memory = mmap(nullptr, kAsideGuard + kAsideStack, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) {
    function(argument);
    return;
  }
  mprotect(memory, kAsideGuard, PROT_NONE);  // a failure leaves it without guard
  AsideCall call{function, argument, OSFiber::exceptionGlobals(), current != nullptr ? *current : OSFiber()};
  if (current == nullptr) {
    call.caller.initThread();
  }
  call.callee.init(static_cast<char*>(memory) + kAsideGuard, kAsideStack, &runCall, &call);
  OSFiber::switchTo(call.caller, call.callee, call.globals);
  call.callee.destroy();
  StackPool::scrub({static_cast<char*>(memory) + kAsideGuard, kAsideStack, 0});  // its address is used again
  munmap(memory, kAsideGuard + kAsideStack);
}

}  // namespace weft::inline v0_1::detail
