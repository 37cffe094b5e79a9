// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fiber.h"

#include <sched.h>

#include <algorithm>

#include "os/stack_use.h"
#include "scheduler/core/waiter_inl.h"
#include "scheduler/fibers/fiber_control_block.h"
#include "scheduler/fibers/in_place.h"
#include "scheduler/worker/worker.h"
#include "scheduler/worker/worker_inl.h"
#include "weft/debug.h"
#include "weft/detail/wait/patience.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1 {
namespace detail {

constinit thread_local Fiber* currentFiber = nullptr;

Waiter& currentWaiter() noexcept { return inlined::currentWaiter(); }

void wake(Waiter& waiter) noexcept { inlined::wake(waiter); }

void wakeAll(const WaitList& claimed) noexcept {
  for (Waiter* waiter = claimed.front(); waiter != nullptr;) {
    Waiter* next = waiter->next;
    inlined::wake(*waiter);
    waiter = next;
  }
}

void block(Waiter& self, const char* what, const void* object) { inlined::block(self, what, object); }

bool blockUntil(Waiter& self, TimePoint deadline, const char* what, const void* object) {
  return self.fiber != nullptr ? self.fiber->worker->blockUntil(*self.fiber, deadline, what, object)
                               : blockThreadUntil(self, deadline);
}

bool blockForLock(Waiter& self, TimePoint deadline, const char* what, const void* object) {
  return self.fiber != nullptr ? self.fiber->worker->blockForLock(*self.fiber, deadline, what, object)
                               : parkThreadUntil(self, deadline);
}

bool blockPatiently(Waiter& self, const char* what, const void* object) {
  return self.fiber != nullptr ? self.fiber->worker->blockPatiently(*self.fiber, what, object)
                               : parkThreadUntil(self, TimePoint::clock::now() + kPatience);
}

void giveWay(Waiter& self) {
  if (self.fiber != nullptr) {
    self.fiber->worker->giveWay(*self.fiber);
  }
}

void FiberControlBlock::wake() noexcept { worker->wake(*this); }

void FiberControlBlock::block() { worker->block(*this, "Fiber::notify", this); }

bool FiberControlBlock::blockUntil(TimePoint until) {
  return worker->blockUntil(*this, until, "Fiber::notify", this);
}

}  // namespace detail

namespace {

[[noreturn, gnu::cold, gnu::noinline]] void reportNotCurrent(const Fiber* fiber, const char* function) {
  WEFT_ASSERT(fiber != nullptr,
              "Fiber::%s() was called on null, which Fiber::current() is where no scheduler is bound. "
              "Bind one to this thread, or use an Event, which threads can wait for too.",
              function);
  WEFT_FATAL(
      "Fiber::%s() was called on fiber %u from elsewhere: a fiber waits only for itself. "
      "Call it on Fiber::current().",
      function, fiber->id);
}

// Calls function(host, permit) for the task of `fiber`: `host` is the fiber that waits for `permit`.
template <class F>
auto withPermit(Fiber* fiber, const F& function) {
  if (detail::InPlaceFiber* inPlace = detail::asInPlace(fiber)) [[unlikely]] {
    return function(*inPlace->host, inPlace->permit);
  }
  auto& block = *static_cast<detail::FiberControlBlock*>(fiber);
  return function(block, block.permit);
}

// Returns: the stack on which `host` runs; empty if the system or this thread does not know it.
detail::ThreadStack stackOf(const detail::FiberControlBlock& host) {
  if (host.stackBase != nullptr) {
    return {host.stackBase, host.stack().size};
  }
  return &host == detail::currentFiber ? detail::threadStack() : detail::ThreadStack();
}

}  // namespace

void Fiber::assertIsCurrent(Fiber* fiber, const char* function) {
  // Callers pass `this`, which the compiler takes not to be null.
  asm("" : "+r"(fiber));
  if (fiber == nullptr || (detail::currentTask != fiber && current() != fiber)) [[unlikely]] {
    reportNotCurrent(fiber, function);
  }
}

void Fiber::wait() {
  assertIsCurrent(this, "wait");
  withPermit(this, [](detail::FiberControlBlock& host, detail::Permit<>& permit) { permit.wait(host); });
}

bool Fiber::waitUntil(detail::TimePoint deadline, const std::stop_token& token) {
  assertIsCurrent(this, "wait");
  return withPermit(this, [&](detail::FiberControlBlock& host, detail::Permit<>& permit) {
    if (!token.stop_possible()) {
      return permit.waitUntil(host, deadline);
    }
    return permit.waitBy([&] {
      const auto claim = [&] { return permit.cancel(); };
      return detail::blockStoppable(host.waiter, deadline, token, claim, "Fiber::notify", this) ==
             detail::WaitEnd::Woken;
    });
  });
}

void Fiber::notify() {
  if (detail::InPlaceFiber* inPlace = detail::asInPlace(this)) [[unlikely]] {
    inPlace->permit.notify(*inPlace);
  } else {
    auto& block = *static_cast<detail::FiberControlBlock*>(this);
    block.permit.notify(block);
  }
}

size_t Fiber::stackHighWater() const noexcept {
  constexpr size_t kMostCounted = size_t{1} << 30;
  const detail::ThreadStack stack =
      withPermit(const_cast<Fiber*>(this),
                 [](detail::FiberControlBlock& host, detail::Permit<>&) { return stackOf(host); });
  const uintptr_t top = reinterpret_cast<uintptr_t>(stack.base) + stack.size;
  const uintptr_t lowest = detail::lowestTouched(top - std::min(stack.size, kMostCounted), top);
  return lowest != 0 ? top - lowest : 0;
}

void Fiber::yield() {
  assertIsCurrent(this, "yield");
  weft::yield();
}

void yield() {
  if (Fiber* fiber = detail::currentFiber) {
    auto& self = *static_cast<detail::FiberControlBlock*>(fiber);
    self.worker->yield(self);
  } else {
    sched_yield();
  }
}

}  // namespace weft::inline v0_1
