// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/aside.h"

#include "os/stack_pool.h"

namespace weft::inline v0_1::detail {
namespace {

constexpr size_t kStackSize = size_t{64} * 1024;

struct Call {
  void (*function)(void*);
  void* argument;
  void** globals;
  OSFiber caller;
  OSFiber callee{};
};

void runCall(void* argument) {
  Call& call = *static_cast<Call*>(argument);
  call.function(call.argument);
  OSFiber::switchTo(call.callee, call.caller, call.globals);
}

}  // namespace

void callAside(const OSFiber& current, void (*function)(void*), void* argument) {
  StackPool& pool = StackPool::forSize(kStackSize);
  const Stack stack = pool.acquire();
  if (!stack) {
    function(argument);
    return;
  }
  Call call{function, argument, OSFiber::exceptionGlobals(), current};
  call.callee.init(stack.base, stack.size, &runCall, &call);
  OSFiber::switchTo(call.caller, call.callee, call.globals);
  call.callee.destroy();
  pool.release(stack);
}

}  // namespace weft::inline v0_1::detail
