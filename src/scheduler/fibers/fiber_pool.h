// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "os/single_writer_counter.h"
#include "scheduler/fibers/fiber_control_block.h"
#include "scheduler/fibers/fiber_factory.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {

// A worker's fibers. Keeps idle ones for the next task, last used first, and gives back the long unneeded.
class FiberPool {
 public:
  FiberPool(Allocator* allocator, size_t stackSize) : factory_(allocator, stackSize) {}

  // Returns: an idle fiber, or a new one that begins in entry(worker), or null where there is no memory.
  FiberControlBlock* take(Worker& worker, void (*entry)(void*)) {
    if (FiberControlBlock* fiber = idle_.popFront()) [[likely]] {
      --numIdle_;
      if (numIdle_.get() < fewestIdle_) {
        fewestIdle_ = numIdle_.get();
        // Many are taken in a row.
        if (FiberControlBlock* next = idle_.front()) {
          prefetchStack(*next);
        }
      }
      return fiber;
    }
    return make(worker, entry);
  }
  // Takes back the fiber that runs and is about to be switched away from.
  void putBack(FiberControlBlock& fiber) {
    idle_.pushFront(fiber);
    ++numIdle_;
  }

  // Gives back idle fibers and stacks that were not needed recently. Returns: when to call again.
  TimePoint giveBackSurplus(TimePoint now);
  void destroyAll();

  // Any thread.
  uint64_t numIdle() const { return numIdle_.get(); }
  uint64_t num() const { return numFibers_.get(); }
  const FiberFactory& fibers() const { return factory_; }

 private:
  friend struct LayoutAccess;

  FiberControlBlock* make(Worker& worker, void (*entry)(void*));
  TimePoint trim(TimePoint now);

  FiberList idle_;
  SingleWriterCounter numIdle_, numFibers_;
  uint64_t fewestIdle_ = 0;  // the fewest since the current period began, which ends at trimAt_
  TimePoint trimAt_{};
  FiberFactory factory_;
};

}  // namespace weft::inline v0_1::detail
