// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "scheduler/fibers/fiber_control_block.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {

// Makes and keeps a worker's fibers: control blocks in slabs from the scheduler's allocator, stacks from the
// process-wide pool. For one thread only.
class FiberFactory {
 public:
  FiberFactory(Allocator* allocator, size_t stackSize);
  ~FiberFactory();  // Requires: every fiber has been destroyed.
  FiberFactory(const FiberFactory&) = delete;
  FiberFactory& operator=(const FiberFactory&) = delete;

  // Returns: a fiber that begins in entry(worker); null where the system gives no stack.
  FiberControlBlock* create(Worker& worker, void (*entry)(void*));

  // Gives the fiber's stack back to the pool, and keeps the control block for reuse.
  // Requires: the fiber does not run and will not be resumed.
  void destroy(FiberControlBlock& fiber);

  // Lets the pool give back stacks that were not needed recently. Returns: when to call again.
  TimePoint giveBackSurplus(TimePoint now);

  // When a fiber of this factory was woken: see Worker::wokenAt(). Lies apart from its control block, which
  // has no room.
  static std::atomic<TimePoint::rep>& wokenAt(FiberControlBlock& fiber) {
    const uint32_t index = (fiber.id - 1) % kBlocksPerSlab;  // newBlock() numbers them in turn
    auto* const first = reinterpret_cast<unsigned char*>(&fiber) - size_t{index} * sizeof(FiberControlBlock);
    return reinterpret_cast<Slab*>(first - offsetof(Slab, blocks))->wokenAt[index];
  }

  template <class F>
  void forEach(F&& f) const {
    // relaxed, both: this thread wrote them.
    for (Slab* slab = slabs_.load(std::memory_order_relaxed); slab != nullptr; slab = slab->next) {
      const uint32_t numUsed = slab->numUsed.load(std::memory_order_relaxed);
      for (uint32_t i = 0; i < numUsed; ++i) {
        if (slab->block(i)->stackBase != nullptr) {
          f(*slab->block(i));
        }
      }
    }
  }

 private:
  friend struct LayoutAccess;

  static constexpr uint32_t kBlocksPerSlab = 64;
  static constexpr uint32_t kStackBatch = 8;

  struct Slab {
    Slab* next;
    Allocation memory;
    std::atomic<uint32_t> numUsed;
    alignas(64) unsigned char blocks[kBlocksPerSlab][sizeof(FiberControlBlock)];
    std::atomic<TimePoint::rep> wokenAt[kBlocksPerSlab];
    FiberControlBlock* block(uint32_t i) { return reinterpret_cast<FiberControlBlock*>(blocks[i]); }
  };

  FiberControlBlock* newBlock(Worker& worker);

  Allocator* const allocator_;
  StackPool& stacks_;
  std::atomic<Slab*> slabs_{nullptr};  // the newest; atomic for who reads it from outside
  FiberList spareBlocks_;
  Stack cachedStacks_[kStackBatch];
  uint32_t numCachedStacks_ = 0;
  uint32_t nextId_ = 1;
  uint32_t nextColour_ = 0;
};

}  // namespace weft::inline v0_1::detail
