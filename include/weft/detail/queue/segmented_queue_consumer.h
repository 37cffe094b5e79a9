// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/detail/queue/segmented_queue.h"

namespace weft::inline v0_1::detail {

// A place in a SegmentedQueue, which explains it; for one thread at a time. Each item goes to one consumer.
// Lifetime: ends before its queue does.
template <class T, class Sync, uint32_t SegmentSize, Producers kProducers>
class SegmentedQueue<T, Sync, SegmentSize, kProducers>::Consumer {
 public:
  explicit Consumer(SegmentedQueue& queue) : queue_(queue) {
    queue_.lock_.lock();
    enter();
    queue_.lock_.unlock();
  }
  Consumer(const Consumer&) = delete;
  ~Consumer() {
    queue_.lock_.lock();
    queue_.unlockWith(leave(nullptr));
  }

  // Removes the oldest item. Returns: false if all items whose push happens before this call have been taken.
  bool pop(T& item) { return popBatch(&item, 1) == 1; }

  // Removes up to `max` of the oldest items.
  // Requires: `max` is not 0.
  // Returns: how many. Fewer than `max` also at the end of a segment; zero only where pop() returns false.
  uint32_t popBatch(T* out, uint32_t max) {
    uint32_t round = 0;
    for (uint32_t fails = 0;;) {
      if (isFull_) {
        if (const uint32_t count = takeOfFull(out, max); count != 0) {
          return count;
        }
      }
      // relaxed: where to look; the slots have their own orders.
      uint32_t index = segment_->index.load(std::memory_order_relaxed);
      if (index >= queue_.shape_.size()) [[unlikely]] {
        if (!advance()) {
          return 0;
        }
        continue;
      }
      const uint32_t count = peek(index, out, max);
      if (count == 0) {
        if (!queue_.isReserved(*segment_, index)) {
          return 0;
        }
        Sync::relax(round);
        // (2) relaxed: the items have been read, and the index only grows while the segment has a user.
      } else if (segment_->index.compare_exchange_weak(index, index + count, std::memory_order_relaxed,
                                                       std::memory_order_relaxed)) {
        return count;
      } else {
        Sync::backOff(fails);
      }
    }
  }

  // Whether pop() would return false. May be false while the oldest item is being written.
  bool empty() {
    for (;;) {
      const uint32_t index = segment_->index.load(std::memory_order_relaxed);  // relaxed: as in popBatch()
      if (index < queue_.shape_.size()) [[likely]] {
        // relaxed: nothing is read of the item.
        return segment_->slots()[index].load(std::memory_order_relaxed) == nullptr &&
               !queue_.isReserved(*segment_, index);
      }
      if (!advance()) {
        return true;
      }
    }
  }

  // About how many items there were.
  size_t size() {
    while (queue_.isUsedUp(*segment_) && advance()) {
    }
    return queue_.sizeFrom(*segment_);
  }

 private:
  // Copies the items from `index` on that have been written. Returns: how many, at most `max`.
  uint32_t peek(uint32_t index, T* out, uint32_t max) {
    const uint32_t room = queue_.shape_.size() - index;
    const uint32_t most = max < room ? max : room;
    for (uint32_t i = 0; i < most; i++) {
      // (1) acquire: sees what came before the push of the item; pairs with segmented_queue.h (1).
      out[i] = segment_->slots()[index + i].load(std::memory_order_acquire);
      if (out[i] == nullptr) {
        return i;
      }
    }
    return most;
  }

  // For a segment of which all slots are reserved. Returns: zero if they have been taken as well.
  uint32_t takeOfFull(T* out, uint32_t max) {
    const uint32_t size = queue_.shape_.size();
    const uint32_t wanted = max < size ? max : size;
    // (3) relaxed: as at note 2. Each consumer exceeds the size at most once, by what it wants, so the index
    // does not overflow with one or some dozens of consumers a thread.
    const uint32_t index = segment_->index.fetch_add(wanted, std::memory_order_relaxed);
    if (index >= size) [[unlikely]] {
      isFull_ = false;
      return 0;
    }
    const uint32_t count = wanted < size - index ? wanted : size - index;
    isFull_ = index + count < size;
    for (uint32_t i = 0; i < count; i++) {
      uint32_t round = 0;
      while (peek(index + i, out + i, 1) == 0) {
        Sync::relax(round);
      }
    }
    return count;
  }

  // Leaves a used-up segment for the oldest that is not. Returns: false if there is none.
  [[gnu::noinline]] bool advance() {
    // relaxed: passUsedUp() looks again.
    if (segment_->next.load(std::memory_order_relaxed) == nullptr) {
      return false;
    }
    queue_.lock_.lock();
    Segment* unused = leave(queue_.passUsedUp());
    enter();
    queue_.unlockWith(unused);
    return true;
  }

  // With the lock.
  void enter() {
    segment_ = queue_.oldest_.get();
    segment_->users.set(segment_->users.get() + 1);
    // relaxed: if the last slot has been reserved, so have the others; takeOfFull() waits for their items.
    isFull_ = segment_->slots()[queue_.shape_.size() - 1].load(std::memory_order_relaxed) != nullptr;
  }

  // With the lock. Returns: `unused`, to which this segment is added if it has no more use.
  Segment* leave(Segment* unused) {
    segment_->users.set(segment_->users.get() - 1);
    const bool isLast = segment_->users.get() == 0 && segment_ != queue_.oldest_.get();
    return isLast ? prepend(segment_, unused) : unused;
  }

  SegmentedQueue& queue_;
  Segment* segment_ = nullptr;
  // All slots of the segment had been reserved when this consumer came, and are not all taken.
  bool isFull_ = false;
};

}  // namespace weft::inline v0_1::detail
