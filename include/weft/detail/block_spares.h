// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <new>

#include "weft/detail/sync.h"
#include "weft/memory.h"

namespace weft::detail {

// A stretch of a BlockQueue, whose page says who touches what and when.
template <class T, class Sync, uint32_t Size>
struct QueueBlock {
  typename Sync::template Atomic<QueueBlock*> next;
  typename Sync::template Atomic<uint32_t> reads;
  typename Sync::template Atomic<T> slots[Size];

  QueueBlock() { reset(); }

  // relaxed: the caller owns the block, and its publication orders these stores.
  void reset() {
    next.store(nullptr, std::memory_order_relaxed);
    reads.store(0, std::memory_order_relaxed);
    for (auto& slot : slots) slot.store(nullptr, std::memory_order_relaxed);
  }
};

// The blocks of one BlockQueue that are not in use: up to `max` are kept, linked through Block::next.
// Touched once a block, so a lock of a few instructions does: a stack without one would need protection
// against ABA.
template <class Block, class Sync>
class BlockSpares {
 public:
  BlockSpares(Allocator* allocator, uint32_t max) : allocator_(allocator), max_(max) {}
  BlockSpares(const BlockSpares&) = delete;
  BlockSpares& operator=(const BlockSpares&) = delete;

  ~BlockSpares() {
    for (Block* block = top_.get(); block != nullptr;) {
      // relaxed: as for every link here, the lock orders it.
      Block* next = block->next.load(std::memory_order_relaxed);
      destroy(block);
      block = next;
    }
  }

  // Returns: a block in the state of a new one.
  Block* acquire() {
    lock_.lock();
    Block* block = top_.get();
    if (block != nullptr) {
      top_.set(block->next.load(std::memory_order_relaxed));
      count_.set(count_.get() - 1);
    }
    lock_.unlock();
    if (block == nullptr) return new (allocator_->allocate(request()).ptr) Block();
    block->reset();
    return block;
  }

  // Takes a block that nobody uses any more.
  void release(Block* block) {
    lock_.lock();
    const bool keep = count_.get() < max_;
    if (keep) {
      block->next.store(top_.get(), std::memory_order_relaxed);
      top_.set(block);
      count_.set(count_.get() + 1);
    }
    lock_.unlock();
    if (!keep) destroy(block);
  }

  void destroy(Block* block) {
    block->~Block();
    Allocation allocation;
    allocation.ptr = block;
    allocation.request = request();
    allocator_->free(allocation);
  }

 private:
  static Allocation::Request request() {
    Allocation::Request request;
    request.size = sizeof(Block);
    request.alignment = alignof(Block) > kCacheLine ? alignof(Block) : kCacheLine;
    request.usage = Allocation::Usage::List;
    return request;
  }

  Allocator* const allocator_;
  const uint32_t max_;
  typename Sync::Lock lock_;
  typename Sync::template Var<uint32_t> count_{0u};
  typename Sync::template Var<Block*> top_{nullptr};
};

}  // namespace weft::detail
