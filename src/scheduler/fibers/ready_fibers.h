// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "os/single_writer_counter.h"
#include "scheduler/fibers/fiber_control_block.h"

namespace weft::inline v0_1::detail {

// The fibers of a worker that can go on, first in, first out. Where very many were woken, their stacks have
// left the caches. So pop() asks for the memory of fibers whose turn comes soon.
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

  FiberControlBlock* pop() {
    FiberControlBlock* fiber = list_.popFront();
    if (fiber != nullptr) {
      fiber->isQueued = false;
      FiberControlBlock* next = list_.front();
      --size_;
      if (next != nullptr) {
        if (size_.get() >= kAhead) {
          lookAhead();
        } else {
          ahead_ = nullptr;
          __builtin_prefetch(next->os.sp);
        }
      }
    }
    return fiber;
  }

 private:
  friend struct LayoutAccess;

  // How many fibers ahead. One switch takes less time than a line from memory.
  static constexpr uint64_t kAhead = 6;
  static_assert(kAhead > 1, "the last fiber but one forgets where pop() has looked");

  // Called after each pop() that leaves kAhead fibers or more, so that ahead_ is the one at that place.
  void lookAhead() {
    if (ahead_ != nullptr) [[likely]] {
      ahead_ = ahead_->listNext;
      prefetchStack(*ahead_);
      return;
    }
    ahead_ = list_.front();
    prefetchStack(*ahead_);
    for (uint64_t i = 1; i < kAhead; ++i) {
      ahead_ = ahead_->listNext;
      prefetchStack(*ahead_);
    }
  }

  FiberList list_;
  FiberControlBlock* ahead_ = nullptr;  // null: nobody has looked ahead yet
  SingleWriterCounter size_;
};

}  // namespace weft::inline v0_1::detail
