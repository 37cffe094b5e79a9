// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fiberlocal.h"

#include <atomic>

#include "scheduler/fiber_control_block.h"
#include "scheduler/in_place.h"

namespace weft::detail {
namespace {

struct ThreadLocals {
  ~ThreadLocals() { destroyFiberLocals(first); }
  FiberLocalNode* first = nullptr;
};

thread_local ThreadLocals threadLocals;

}  // namespace

FiberLocalNode*& fiberLocals() noexcept {
  if (currentFiber != nullptr) {
    auto& fiber = *static_cast<FiberControlBlock*>(currentFiber);
    if (isInPlace(*currentTask)) {
      return inPlaceLocals();
    }
    if (fiber.task.get() != nullptr) {
      return fiber.locals;
    }
  }
  return threadLocals.first;
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

}  // namespace weft::detail
