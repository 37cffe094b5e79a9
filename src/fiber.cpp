// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fiber.h"

#include <sched.h>

#include "fiber_block.h"
#include "waiter_inl.h"
#include "weft/debug.h"
#include "weft/detail/waiter.h"
#include "worker.h"
#include "worker_inl.h"

namespace weft {
namespace detail {

constinit thread_local Fiber* currentFiber = nullptr;

Waiter& currentWaiter() noexcept { return inlined::currentWaiter(); }

void wake(Waiter& waiter) noexcept { inlined::wake(waiter); }

void wakeAll(WaitList& claimed) noexcept {
  for (Waiter* waiter = claimed.front(); waiter != nullptr;) {
    Waiter* next = waiter->next;
    inlined::wake(*waiter);
    waiter = next;
  }
}

void block(Waiter& self, const char* what, const void* object) { inlined::block(self, what, object); }

void blockWithoutHandler(Waiter& self, const char* what, const void* object) {
  if (self.fiber != nullptr) {
    inlined::block(self, what, object);
  } else {
    parkThreadUntil(self, kNever);
  }
}

bool blockUntil(Waiter& self, TimePoint deadline, const char* what, const void* object) {
  if (self.fiber != nullptr) {
    return self.fiber->worker->blockUntil(*self.fiber, deadline, what, object);
  }
  return blockThreadUntil(self, deadline);
}

void FiberBlock::wake() noexcept { worker->wake(*this); }

void FiberBlock::block() { worker->block(*this, "Fiber::notify", this); }

bool FiberBlock::blockUntil(TimePoint until) { return worker->blockUntil(*this, until, "Fiber::notify", this); }

}  // namespace detail

namespace {

detail::FiberBlock& checkedCurrent(Fiber* fiber, const char* function) {
  WEFT_ASSERT(fiber == Fiber::current(),
              "Fiber::%s() was called on fiber %u from elsewhere: a fiber waits only for itself. Call it on "
              "Fiber::current().",
              function, fiber->id);
  return *static_cast<detail::FiberBlock*>(fiber);
}

}  // namespace

void Fiber::wait() {
  detail::FiberBlock& self = checkedCurrent(this, "wait");
  self.permit.wait(self);
}

bool Fiber::waitUntil(detail::TimePoint deadline) {
  detail::FiberBlock& self = checkedCurrent(this, "wait");
  return self.permit.waitUntil(self, deadline);
}

bool Fiber::waitUntil(detail::TimePoint deadline, const std::stop_token& token) {
  detail::FiberBlock& self = checkedCurrent(this, "wait");
  return self.permit.waitBy([&] {
    const auto claim = [&] { return self.permit.cancel(); };
    return detail::blockStoppable(self.waiter, deadline, token, claim, "Fiber::notify", this) == detail::WaitEnd::Woken;
  });
}

void Fiber::notify() {
  auto& self = *static_cast<detail::FiberBlock*>(this);
  self.permit.notify(self);
}

void Fiber::yield() {
  detail::FiberBlock& self = checkedCurrent(this, "yield");
  self.worker->yield(self);
}

void yield() {
  if (Fiber* fiber = Fiber::current()) {
    auto& self = *static_cast<detail::FiberBlock*>(fiber);
    self.worker->yield(self);
  } else {
    sched_yield();
  }
}

}  // namespace weft
