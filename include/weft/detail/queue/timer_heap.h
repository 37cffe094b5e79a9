// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <cstring>

#include "weft/detail/base/sync.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {

// The `timerIndex` of an item that is in no heap.
inline constexpr uint32_t kNotInHeap = UINT32_MAX;

// The items of one worker that wait for a time, for one thread at a time.
//
// An Item has two public members: `TimePoint deadline`, which does not change while the item is in the heap,
// and `uint32_t timerIndex`, which is initialised to kNotInHeap and owned by the heap. Each node has four
// children: add and remove take O(log n), earliest O(1). Items of equal deadlines come out in any order.
template <class Item>
class TimerHeap {
 public:
  explicit TimerHeap(Allocator* allocator = Allocator::Default) : allocator_(allocator) {}
  TimerHeap(const TimerHeap&) = delete;
  ~TimerHeap() {
    if (memory_.ptr != nullptr) {
      allocator_->free(memory_);
    }
  }

  // Allocates only if the heap exceeds its largest size so far. Requires: item->timerIndex == kNotInHeap.
  void add(Item* item) {
    const uint32_t index = size_;
    if (index == capacity_) {
      grow(capacity_ == 0 ? kFirstCapacity : capacity_ * 2);
    }
    setSize(index + 1);
    siftUp(index, {item->deadline, item});
  }

  // Takes `item` out if it is in the heap.
  void remove(Item* item) {
    const uint32_t index = item->timerIndex;
    if (index == kNotInHeap) {
      return;
    }
    item->timerIndex = kNotInHeap;
    const uint32_t end = size_ - 1;
    setSize(end);
    const Entry last = entries()[end];
    if (index == end) {
      return;
    }
    if (index > 0 && last.deadline < entries()[parent(index)].deadline) {
      siftUp(index, last);
    } else {
      siftDown(index, last);
    }
  }

  Item* earliest() const { return empty() ? nullptr : entries()[0].item; }

  // Takes out the earliest item if its deadline is not after `now`. Returns: the item, or null.
  Item* popExpired(TimePoint now) {
    if (empty() || now < entries()[0].deadline) {
      return nullptr;
    }
    Item* item = entries()[0].item;
    remove(item);
    return item;
  }

  // With more items, the index of a child would exceed 32 bits.
  static constexpr uint32_t kMostItems = uint32_t{1} << 30;

  // Makes room for `count` items. Requires: count <= kMostItems.
  void reserve(uint32_t count) {
    if (count > capacity_) {
      grow(count);
    }
  }

  // Any thread: a statistic. Its own thread reads the plain member, which takes an instruction less, and is
  // no step of the model checker.
  uint32_t size() const { return __atomic_load_n(&size_, __ATOMIC_RELAXED); }
  bool empty() const { return size_ == 0; }

 private:
  friend struct LayoutAccess;

  // The deadline is a copy, so that sifting touches only the items that it moves.
  struct Entry {
    TimePoint deadline;
    Item* item;
  };
  static constexpr uint32_t kArity = 4;
  static constexpr uint32_t kFirstCapacity = 16;

  static uint32_t parent(uint32_t index) { return (index - 1) / kArity; }

  Entry* entries() const { return static_cast<Entry*>(memory_.ptr); }

  // relaxed: see size().
  void setSize(uint32_t size) { __atomic_store_n(&size_, size, __ATOMIC_RELAXED); }

  void place(uint32_t index, const Entry& entry) {
    entries()[index] = entry;
    entry.item->timerIndex = index;
  }

  void siftUp(uint32_t index, Entry entry) {
    while (index > 0 && entry.deadline < entries()[parent(index)].deadline) {
      place(index, entries()[parent(index)]);
      index = parent(index);
    }
    place(index, entry);
  }

  void siftDown(uint32_t index, Entry entry) {
    const uint32_t size = size_;
    for (;;) {
      const uint32_t first = index * kArity + 1;
      if (first >= size) {
        break;
      }
      const uint32_t end = size - first < kArity ? size : first + kArity;
      uint32_t least = first;
      for (uint32_t child = first + 1; child < end; child++) {
        if (entries()[child].deadline < entries()[least].deadline) {
          least = child;
        }
      }
      if (entry.deadline <= entries()[least].deadline) {
        break;
      }
      place(index, entries()[least]);
      index = least;
    }
    place(index, entry);
  }

  [[gnu::noinline]] void grow(uint32_t capacity) {
    const Allocation grown =
        allocator_->allocate(detail::requestFor<Entry>(capacity, Allocation::Usage::Vector));
    if (memory_.ptr != nullptr) {
      std::memcpy(grown.ptr, memory_.ptr, size_ * sizeof(Entry));
      allocator_->free(memory_);
    }
    memory_ = grown;
    capacity_ = capacity;
  }

  Allocator* const allocator_;
  Allocation memory_;
  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
};

}  // namespace weft::inline v0_1::detail
