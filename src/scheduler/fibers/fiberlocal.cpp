// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fiberlocal.h"

#include <atomic>

#include "os/thread_end.h"
#include "scheduler/fibers/fiber_control_block.h"
#include "scheduler/fibers/in_place.h"

namespace weft::inline v0_1::detail {
namespace {

constinit thread_local FiberLocalNode* threadLocals = nullptr;
constinit thread_local bool isEndWatched = false;  // whether the end of the thread destroys them

FiberLocalNode*& localsOfThread() {
  if (!isEndWatched) [[unlikely]] {
    isEndWatched = true;
    atThreadEnd([](void*) {
      destroyFiberLocals(threadLocals);
      isEndWatched = false;
    });
  }
  return threadLocals;
}

}  // namespace

FiberLocalNode*& fiberLocals() noexcept {
  if (currentFiber != nullptr) {
    auto& fiber = *static_cast<FiberControlBlock*>(currentFiber);
    if (isInPlace(*currentTask)) {
      return inPlaceLocals();
    }
    if (fiber.task != nullptr) {
      return fiber.locals;
    }
  }
  return localsOfThread();
}

void destroyFiberLocals(FiberLocalNode*& first) noexcept {
  while (FiberLocalNode* node = first) {
    first = node->next;
    node->destroy(node);
  }
}

uint64_t newFiberLocalKey() noexcept {
  static constinit std::atomic<uint64_t> next{1};
  // relaxed: only unique.
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace weft::inline v0_1::detail
