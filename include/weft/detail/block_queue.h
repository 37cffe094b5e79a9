// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "weft/detail/block_spares.h"
#include "weft/detail/sync.h"
#include "weft/memory.h"

namespace weft::detail {

// An unbounded FIFO queue of pointers for any number of producers and consumers, in linked blocks. Two
// counters that each carry a block pointer are crossbeam's SegQueue (S. Glavina, 2018; there is no paper);
// reservations of several slots at once, and one count of reads a block, are weft's.
//
// State: `tail_` and `head_` are positions, the next slot to write and to read, each with the block it lies
// in. A position counts a power of two per block: offsets below BlockSize are slots, offset BlockSize means "the
// block is used up, its successor is being installed", the rest are skipped. A slot is null until its item
// is written.
//
// Steps of a push: read the tail's position, then its block; reserve k slots by one compare-exchange of the
// position; whoever reserves the last slot installs the next block (allocated beforehand, so that the others
// wait for three stores only): link it, store the tail's block, store the position. Then write the items. A
// pop does the same at the head, up to the tail's position, waits for items that are reserved but not yet
// written, and adds k to the block's `reads`: who makes them BlockSize frees the block.
//
// What must not happen:
//   - A thread reserves in one block and uses the pointer of another. The position only grows, and the
//     block is replaced only while the offset is BlockSize, at which nobody reserves; so if the
//     compare-exchange finds the position unchanged, the block read in between is its own.
//   - A block is freed while somebody may touch it. Before a reservation nobody follows a block pointer;
//     after it, a consumer's last access is its addition to `reads`, a producer's is the store of an item
//     (the link is stored before), which some consumer waits for before it adds. So the last addition comes
//     after all.
//   - A consumer passes the tail. It compares with a position that the tail once had, and the tail only
//     grows.
//
// Rejected: hazard pointers and epochs (the second rule makes them needless); reserving in a counter of the
// block itself (one must follow a pointer before one owns anything); a mark per slot that it was read (an
// atomic read-modify-write an item, where a batch pays one for many). In the strict sense neither push nor
// pop is lock-free: a thread that is preempted between reserving and writing holds up the consumer of that
// slot, and while it installs a block, everybody at that end.
// BlockSize 0: whoever makes the queue says how large its blocks are. Each end takes a lock once a block.
template <class T, class Sync = StdSync, uint32_t BlockSize = 62>
class BlockQueue {
  static_assert(std::is_pointer_v<T>, "an item serves as its own flag: null is `not written yet`");

 public:
  // Keeps up to `maxSpares` used-up blocks for reuse: by default those of a million items.
  explicit BlockQueue(Allocator* allocator = Allocator::Default, uint32_t maxSpares = 16384,
                      uint32_t blockSize = BlockSize)
      : shape_(blockSize), spares_(allocator, maxSpares, blockSize) {
    Block* first = spares_.acquire();
    // relaxed: nobody else knows of the queue yet.
    tail_.block.store(first, std::memory_order_relaxed);
    head_.block.store(first, std::memory_order_relaxed);
  }
  BlockQueue(const BlockQueue&) = delete;
  BlockQueue& operator=(const BlockQueue&) = delete;

  // Requires: nobody uses the queue any more. Items left in it are forgotten.
  ~BlockQueue() {
    // relaxed: whoever destroys the queue is ordered after all others by other means.
    Block* block = head_.block.load(std::memory_order_relaxed);
    while (block != nullptr) {
      Block* next = block->next.load(std::memory_order_relaxed);
      spares_.destroy(block);
      block = next;
    }
  }

  // Any thread: appends `item`. Requires: it is not null.
  // Memory ordering: what came before push is seen by whoever gets the item.
  void push(T item) { pushBatch(&item, 1); }

  // Any thread: appends `count` items in their order; other producers' items may come between blocks of them.
  void pushBatch(const T* items, uint32_t count) {
    Block* next = nullptr;
    while (count > 0) {
      const Reserved slots = reserveAtTail(count, &next);
      for (uint32_t i = 0; i < slots.count; i++) {
        // (1) release: publishes the item; pairs with (2).
        slots.block->slots()[slots.offset + i].store(items[i], std::memory_order_release);
      }
      items += slots.count;
      count -= slots.count;
    }
    if (next != nullptr) spares_.release(next);
  }

  // Any thread: removes the oldest item. Returns: false when all that the caller knows to have been pushed
  // (whose push happens before) has been taken.
  bool pop(T& item) { return popBatch(&item, 1) == 1; }

  // Any thread: removes up to `max` of the oldest items. Returns: how many: fewer than `max` also at the
  // end of a block, zero only where pop() returns false.
  uint32_t popBatch(T* out, uint32_t max) {
    const Reserved slots = reserveAtHead(max);
    for (uint32_t i = 0; i < slots.count; i++) {
      out[i] = await(slots.block->slots()[slots.offset + i]);
    }
    if (slots.count != 0) finishReads(slots.block, slots.count);
    return slots.count;
  }

  // Any thread: as pop() returns false.
  bool empty() const {
    // relaxed: an estimate. Not empty, perhaps, while a block is being installed.
    return tail_.position.load(std::memory_order_relaxed) <= head_.position.load(std::memory_order_relaxed);
  }
  // Any thread: how many items there were, about; exact when nobody pushes or pops.
  size_t size() const {
    // relaxed: an estimate. A head past the tail means that all that the caller knows of has been taken.
    const uint64_t head = ordinal(head_.position.load(std::memory_order_relaxed));
    const uint64_t tail = ordinal(tail_.position.load(std::memory_order_relaxed));
    return tail <= head ? 0 : static_cast<size_t>(tail - head);
  }

 private:
  template <class U>
  using Atomic = typename Sync::template Atomic<U>;
  using Block = QueueBlock<T, Sync>;
  uint64_t lap() const { return uint64_t{1} << shape_.lapShift(); }
  uint32_t offsetOf(uint64_t position) const { return static_cast<uint32_t>(position & (lap() - 1)); }
  // How many slots come before `position`.
  uint64_t ordinal(uint64_t at) const { return (at >> shape_.lapShift()) * shape_.size() + offsetOf(at); }

  struct Reserved {
    Block* block;
    uint32_t offset;
    uint32_t count;
  };

  // Waits until a pointer that is about to be written is there.
  template <class Pointer>
  static Pointer await(Atomic<Pointer>& pointer) {
    uint32_t round = 0;
    for (;;) {
      // (2) acquire: sees what came before the push of the item, or the successor emptied; pairs with (1, 4).
      if (Pointer value = pointer.load(std::memory_order_acquire); value != nullptr) [[likely]] {
        return value;
      }
      Sync::relax(round);
    }
  }

  // Reserves up to `count` slots of one block. `*spare` is a block that the caller holds ready, or null.
  Reserved reserveAtTail(uint32_t count, Block** spare) {
    uint64_t position = positionOf(tail_);
    for (;;) {
      const uint32_t offset = offsetOf(position);
      // relaxed: the position covers its block; a later block comes with a compare-exchange that fails.
      Block* block = tail_.block.load(std::memory_order_relaxed);
      const uint32_t room = shape_.size() - offset;
      const uint32_t taken = count < room ? count : room;
      if (taken == room && *spare == nullptr) *spare = spares_.acquire();
      // (3) acquire: a failure's new position, as at note 5; pairs with (6).
      if (tail_.position.compare_exchange_weak(position, position + taken, std::memory_order_acquire,
                                               std::memory_order_acquire)) {
        if (taken == room) {
          // (4) release: publishes the emptied block to the consumer that comes to it; pairs with (2).
          block->next.store(*spare, std::memory_order_release);
          install(tail_, *spare, position + taken);
          *spare = nullptr;
        }
        return {block, offset, taken};
      }
      if (offsetOf(position) == shape_.size()) position = positionOf(tail_);
    }
  }

  Reserved reserveAtHead(uint32_t max) {
    uint64_t position = positionOf(head_);
    for (;;) {
      const uint32_t offset = offsetOf(position);
      // relaxed: as at the tail.
      Block* block = head_.block.load(std::memory_order_relaxed);
      const uint32_t room = shape_.size() - offset;
      const uint32_t taken = atMostQueued(position, max < room ? max : room);
      if (taken == 0) return {nullptr, 0, 0};
      // (7) acquire: a failure's new position, as at note 5; pairs with (6).
      if (head_.position.compare_exchange_weak(position, position + taken, std::memory_order_acquire,
                                               std::memory_order_acquire)) {
        if (taken == room) install(head_, await(block->next), position + taken);
        return {block, offset, taken};
      }
      if (offsetOf(position) == shape_.size()) position = positionOf(head_);
    }
  }

  // Waits while a block is being installed.
  template <class End>
  uint64_t positionOf(const End& end) const {
    uint32_t round = 0;
    for (;;) {
      // (5) acquire: sees the block that belongs to the position, emptied, or a later one; pairs with (6).
      const uint64_t position = end.position.load(std::memory_order_acquire);
      if (offsetOf(position) != shape_.size()) [[likely]] return position;
      Sync::relax(round);
    }
  }

  template <class End>
  void install(End& end, Block* block, uint64_t position) {
    // relaxed: published by the position.
    end.block.store(block, std::memory_order_relaxed);
    // (6) release: whoever sees this position or a later one sees its block; pairs with (3, 5, 7).
    end.position.store(position + (lap() - shape_.size()), std::memory_order_release);
  }

  // The lesser of `wanted` and what lies between `position` of the head and the tail. Looks at the producers'
  // cache line only where the tail that consumers know of does not give `wanted`.
  uint32_t atMostQueued(uint64_t position, uint32_t wanted) {
    const uint64_t head = ordinal(position);
    // relaxed: a tail of the past is right, if perhaps too low; the items themselves are waited for.
    uint64_t tail = ordinal(head_.knownTail.load(std::memory_order_relaxed));
    if (tail < head + wanted) {
      const uint64_t tailPosition = tail_.position.load(std::memory_order_relaxed);
      head_.knownTail.store(tailPosition, std::memory_order_relaxed);
      tail = ordinal(tailPosition);
    }
    if (tail <= head) return 0;
    return tail - head < wanted ? static_cast<uint32_t>(tail - head) : wanted;
  }

  void finishReads(Block* block, uint32_t count) {
    // (8) acq_rel: all reads come before the block's next life, which the last reader begins; pairs with (8).
    if (block->reads.fetch_add(count, std::memory_order_acq_rel) + count == shape_.size()) {
      spares_.release(block);
    }
  }

  struct alignas(kCacheLine) Tail {
    Atomic<uint64_t> position{0};
    Atomic<Block*> block{nullptr};
  };
  struct alignas(kCacheLine) Head {
    Atomic<uint64_t> position{0};
    Atomic<Block*> block{nullptr};
    Atomic<uint64_t> knownTail{0};  // a position that the tail had at some time
  };

  [[no_unique_address]] const BlockShape<BlockSize> shape_;
  Tail tail_;
  Head head_;
  alignas(kCacheLine) BlockSpares<Block, Sync> spares_;
};

}  // namespace weft::detail
