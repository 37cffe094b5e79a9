// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fiber.h"

#include <sched.h>

#include "fiber_block.h"
#include "forked.h"
#include "waiter_inl.h"
#include "weft/debug.h"
#include "weft/detail/waiter.h"
#include "worker.h"
#include "worker_inl.h"

namespace weft {
namespace detail {

constinit thread_local Fiber* currentFiber = nullptr;

namespace {

// The waiter of a thread that runs no fibers.
struct ThreadWaiter : Waiter {
  Parker<>* parker = nullptr;  // the thread's own; process-wide memory
  // Waker: 0 -> 1, its last access to the waiter. Thread: 1 -> 0, when it has seen it.
  std::atomic<uint32_t> isWoken{0};
};

constinit thread_local ThreadWaiter ownThreadWaiter;

bool blockThreadUntil(ThreadWaiter& self, TimePoint deadline) {
  assertNotForked("something that waits");
  // (1) acquire: sees what the waker did before; pairs with (2).
  while (self.isWoken.load(std::memory_order_acquire) == 0) {
    // A permit may be left over from an earlier wait, so look again each time.
    if (!self.parker->parkUntil(deadline) && TimePoint::clock::now() >= deadline) {
      // (3) acquire: likewise, for a wake at the last moment; pairs with (2).
      return self.isWoken.exchange(0, std::memory_order_acquire) != 0;
    }
  }
  // relaxed: no wake comes before the next claim.
  self.isWoken.store(0, std::memory_order_relaxed);
  return true;
}

}  // namespace

Waiter& threadWaiter() noexcept {
  // Asked for each time: a destructor of a thread_local object may wait after the thread's first parker was given back.
  ownThreadWaiter.parker = &threadParker();
  return ownThreadWaiter;
}

void blockThread(Waiter& self) { blockThreadUntil(static_cast<ThreadWaiter&>(self), kNever); }

void wakeThread(Waiter& waiter) noexcept {
  auto& thread = static_cast<ThreadWaiter&>(waiter);
  Parker<>* parker = thread.parker;
  // (2) release: what the waker did is seen by the thread; pairs with (1, 3). The waiter may be gone after it.
  thread.isWoken.store(1, std::memory_order_release);
  parker->unpark();
}

bool isOwnWaiter(const Waiter& waiter) noexcept {
  return waiter.fiber == currentFiber && (waiter.fiber != nullptr || &waiter == &ownThreadWaiter);
}

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

bool blockUntil(Waiter& self, TimePoint deadline, const char* what, const void* object) {
  if (self.fiber != nullptr) {
    return self.fiber->worker->blockUntil(*self.fiber, deadline, what, object);
  }
  return blockThreadUntil(static_cast<ThreadWaiter&>(self), deadline);
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
