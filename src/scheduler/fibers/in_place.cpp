// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/fibers/in_place.h"

#include <atomic>
#include <utility>

#include "weft/detail/base/owner.h"

namespace weft::inline v0_1::detail {

constinit thread_local TaskScope* currentTask = nullptr;
constinit thread_local TaskScope threadScope;

uint32_t endOfTasksInPlace(uintptr_t bottom, size_t fiberStackSize) {
  return static_cast<uint32_t>(bottom + fiberStackSize / 8 * kStackInPlace);
}

InPlaceFibers::~InPlaceFibers() {
  while (spares_ != nullptr) {
    allocator_->destroy(std::exchange(spares_, spares_->nextSpare));
  }
}

InPlaceFiber& InPlaceFibers::take(FiberControlBlock& host) {
  InPlaceFiber* const fiber = spares_ != nullptr ? std::exchange(spares_, spares_->nextSpare)
                                                 : allocator_->create<InPlaceFiber>(numMade_++);
  fiber->host = &host;
  fiber->permit.reset();
  return *fiber;
}

void InPlaceFibers::giveBack(InPlaceFiber& fiber) { fiber.nextSpare = std::exchange(spares_, &fiber); }

uint64_t threadNumber() noexcept {
  static constinit std::atomic<uint64_t> newest{0};
  static constinit thread_local uint64_t number = 0;
  if (number == 0) {
    number = newest.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: it orders nothing
  }
  return number;
}

}  // namespace weft::inline v0_1::detail
