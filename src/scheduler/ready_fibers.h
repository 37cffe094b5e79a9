// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "os/own_counter.h"
#include "scheduler/fiber_control_block.h"

namespace weft::inline v0_1::detail {

// The fibers of a worker that can go on, first in, first out.
class ReadyFibers {
 public:
  bool isEmpty() const { return list_.isEmpty(); }
  // Any thread.
  uint64_t size() const { return size_.get(); }

  // Adds `fiber`, unless it is in the list already.
  void push(FiberControlBlock& fiber) {
    if (!fiber.isQueued) {
      fiber.isQueued = true;
      list_.pushBack(fiber);
      ++size_;
    }
  }

  // Returns: null when there is none.
  FiberControlBlock* pop() {
    FiberControlBlock* fiber = list_.popFront();
    if (fiber != nullptr) {
      fiber->isQueued = false;
      --size_;
      if (FiberControlBlock* next = list_.front()) {
        __builtin_prefetch(next->os.sp);
      }
    }
    return fiber;
  }

 private:
  FiberList list_;
  OwnCounter size_;
};

}  // namespace weft::inline v0_1::detail
