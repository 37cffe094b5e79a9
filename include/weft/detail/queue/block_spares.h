// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include "weft/detail/base/sync.h"
#include "weft/memory.h"

namespace weft::detail {

// How many slots the blocks of a BlockQueue have: known to the compiler, or, with Size 0, chosen by who makes the queue.
template <uint32_t Size>
struct BlockShape {
  explicit BlockShape(uint32_t) {}
  static constexpr uint32_t size() { return Size; }
  static constexpr uint32_t lapShift() { return static_cast<uint32_t>(std::bit_width(Size)); }
};

template <>
struct BlockShape<0> {
  explicit BlockShape(uint32_t size) : size_(size), lapShift_(static_cast<uint32_t>(std::bit_width(size))) {}
  uint32_t size() const { return size_; }
  uint32_t lapShift() const { return lapShift_; }

 private:
  const uint32_t size_;
  const uint32_t lapShift_;
};

// A stretch of a BlockQueue, whose page says who touches what and when. Its slots follow it, on cache lines of their own.
template <class T, class Sync>
struct alignas(kCacheLine) QueueBlock {
  using Slot = typename Sync::template Atomic<T>;

  typename Sync::template Atomic<uint32_t> index;  // the next slot to read; grows beyond their number
  typename Sync::template Var<uint32_t> users{0u};  // consumers that stand in the block; guarded by the queue's lock
  typename Sync::template Var<uint64_t> begin{0u};  // how many slots of the queue come before
  typename Sync::template Atomic<QueueBlock*> next;

  explicit QueueBlock(uint32_t size) {
    for (uint32_t i = 0; i < size; i++) new (slots() + i) Slot();
    reset(size);
  }
  void destroy(uint32_t size) {
    for (uint32_t i = 0; i < size; i++) slots()[i].~Slot();
    this->~QueueBlock();
  }

  static constexpr size_t bytes(uint32_t size) { return sizeof(QueueBlock) + size * sizeof(Slot); }
  Slot* slots() {
    static_assert(alignof(Slot) <= alignof(QueueBlock));
    return reinterpret_cast<Slot*>(this + 1);
  }

  // relaxed: the caller owns the block, and its publication orders these stores.
  void reset(uint32_t size) {
    next.store(nullptr, std::memory_order_relaxed);
    index.store(0, std::memory_order_relaxed);
    for (uint32_t i = 0; i < size; i++) slots()[i].store(nullptr, std::memory_order_relaxed);
  }
};

// The blocks of one BlockQueue that are not in use: up to `max` are kept, linked through Block::next. Who uses
// take() and keep() sees to it that only one thread does at a time.
template <class Block, class Sync>
class BlockSpares {
 public:
  BlockSpares(Allocator* allocator, uint32_t max, uint32_t blockSize)
      : allocator_(allocator), max_(max), blockSize_(blockSize) {}
  BlockSpares(const BlockSpares&) = delete;
  BlockSpares& operator=(const BlockSpares&) = delete;

  ~BlockSpares() { destroyAll(top_.get()); }

  // Returns: a block to be given to renew(), or null.
  Block* take() {
    Block* block = top_.get();
    if (block != nullptr) {
      // relaxed: whoever sees to it that one thread at a time is here orders every link.
      top_.set(block->next.load(std::memory_order_relaxed));
      count_.set(count_.get() - 1);
    }
    return block;
  }

  // Takes blocks that nobody uses any more, linked through Block::next. Returns: what is to be destroyed.
  Block* keep(Block* blocks) {
    while (blocks != nullptr && count_.get() < max_) {
      // relaxed: as in take().
      Block* next = blocks->next.load(std::memory_order_relaxed);
      blocks->next.store(top_.get(), std::memory_order_relaxed);
      top_.set(blocks);
      count_.set(count_.get() + 1);
      blocks = next;
    }
    return blocks;
  }

  // Returns: `block`, or a new one if that is null, empty.
  Block* renew(Block* block) const {
    if (block == nullptr) return new (allocator_->allocate(request()).ptr) Block(blockSize_);
    block->reset(blockSize_);
    return block;
  }

  void destroyAll(Block* blocks) const {
    while (blocks != nullptr) {
      // relaxed: as in take().
      Block* next = blocks->next.load(std::memory_order_relaxed);
      blocks->destroy(blockSize_);
      Allocation allocation;
      allocation.ptr = blocks;
      allocation.request = request();
      allocator_->free(allocation);
      blocks = next;
    }
  }

 private:
  Allocation::Request request() const {
    Allocation::Request request;
    request.size = Block::bytes(blockSize_);
    request.alignment = alignof(Block);
    request.usage = Allocation::Usage::List;
    return request;
  }

  Allocator* const allocator_;
  const uint32_t max_;
  const uint32_t blockSize_;  // slots
  typename Sync::template Var<uint32_t> count_{0u};
  typename Sync::template Var<Block*> top_{nullptr};
};

}  // namespace weft::detail
