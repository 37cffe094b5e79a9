// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "scheduler/fibers/fiber_control_block.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {

// Makes and keeps a worker's fibers: control blocks in slabs from the scheduler's allocator, stacks from the
// process-wide pool. For one thread only, except for the functions marked "any thread".
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

  template <class F>
  void forEach(F&& f) const {
    forEachBlock([&](FiberControlBlock& fiber) {
      if (fiber.stackBase != nullptr) {
        f(fiber);
      }
    });
  }

  // Any thread. The fiber of the TaskScope at `scope`, or whose stack holds it, or null. Its block stays.
  const FiberControlBlock* findByScope(const void* scope) const;
  const FiberControlBlock* findByStack(const void* scope) const;

 private:
  friend struct LayoutAccess;

  static constexpr uint32_t kBlocksPerSlab = 64;
  static constexpr uint32_t kStackBatch = 8;

  struct Slab {
    Slab* next;
    Allocation memory;
    std::atomic<uint32_t> numUsed;
    alignas(64) unsigned char blocks[kBlocksPerSlab][sizeof(FiberControlBlock)];
    FiberControlBlock* block(uint32_t i) { return reinterpret_cast<FiberControlBlock*>(blocks[i]); }
  };

  FiberControlBlock* newBlock(Worker& worker);

  template <class F>
  void forEachBlock(F&& f) const {
    // (1) acquire: sees the slab; pairs with the store in newBlock().
    for (Slab* slab = slabs_.load(std::memory_order_acquire); slab != nullptr; slab = slab->next) {
      // (2) acquire: sees the blocks; pairs with the store in newBlock().
      const uint32_t numUsed = slab->numUsed.load(std::memory_order_acquire);
      for (uint32_t i = 0; i < numUsed; ++i) {
        f(*slab->block(i));
      }
    }
  }

  Allocator* const allocator_;
  StackPool& stacks_;
  std::atomic<Slab*> slabs_{nullptr};  // written by the owner
  FiberList spareBlocks_;
  Stack cachedStacks_[kStackBatch];
  uint32_t numCachedStacks_ = 0;
  uint32_t nextId_ = 1;
  uint32_t nextColour_ = 0;
};

}  // namespace weft::inline v0_1::detail
