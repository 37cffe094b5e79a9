// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "scheduler/fibers/fiber_control_block.h"
#include "scheduler/worker/worker.h"
#include "scheduler/worker/worker_inl.h"
#include "weft/detail/wait/select_node.h"
#include "weft/detail/wait/waiter.h"

// The functions that waiter.h declares, to be inlined into the primitives where speed matters.
namespace weft::inline v0_1::detail::inlined {

inline Waiter& currentWaiter() noexcept {
  Waiter& waiter =
      currentFiber != nullptr ? static_cast<FiberControlBlock*>(currentFiber)->waiter : threadWaiter();
  assertNotWaiting(waiter);
  return waiter;
}

inline void wake(Waiter& waiter) noexcept {
  if (waiter.fiber != nullptr) [[likely]] {
    waiter.fiber->worker->wake(*waiter.fiber);
  } else {
    wakeThread(waiter);
  }
}

inline void block(Waiter& self, const char* what, const void* object) {
  if (self.fiber != nullptr) [[likely]] {
    self.fiber->worker->block(*self.fiber, what, object);
  } else {
    blockThreadUntil(self, kNever);
  }
}

}  // namespace weft::inline v0_1::detail::inlined

namespace weft::inline v0_1::detail {

// How ChannelCore claims and wakes.
struct WaitHost {
  static bool claim(Waiter& waiter) noexcept { return detail::claim(waiter); }
  static Waiter& owner(Waiter& waiter) noexcept { return ownerOf(waiter); }
  static void wake(Waiter& waiter) noexcept { inlined::wake(waiter); }
};

}  // namespace weft::inline v0_1::detail
