// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

// A bounded work-stealing deque of T*, after Chase and Lev, "Dynamic Circular Work-Stealing Deque" (SPAA
// 2005), with the memory orders of Le, Pop, Cohen and Zappa Nardelli, "Correct and Efficient Work-Stealing
// for Weak Memory Models" (PPoPP 2013).
//
// State: items lie at the indices [top, bottom), index i in slot i % Capacity. Both indices count up in 64
// bits, so that a compare-exchange on `top` cannot mistake one round for another.
//
//   bottom   stored by the owner alone: +1 by push, +n by pushBatch, -1 by take (and back, if there was no
//            item, or if the last item had to be won by compare-exchange)
//   top      only moved up, by compare-exchange: by thieves, by takeOldest*, and by take for the last item
//
// Steps:
//   push     writes the slot, or several, then moves bottom with a release store.
//   take     announces with `bottom - 1`, passes a full fence, then reads top. While there are no thieves it
//            leaves the fence out, and needs no compare-exchange for the last item (steal_gate.h).
//   steal    reads top, passes a full fence, reads bottom, then reads the slot. It owns the item if it moves
//            top from the value that it had read.
//
// What must not happen, with top 0, bottom 2 and a second thief:
//     owner (take)                 thief
//     bottom = 1                   top = 1 (read; another thief took item 0)
//     read top: 0, stale           read bottom: 2, stale
//     1 > 0: take item 1           1 < 2: steal item 1, compare-exchange 1 -> 2 succeeds
// The two fences forbid it: in their order, the read after the second sees what preceded the first.
//
// Departures from the papers, and what was rejected:
// - The array does not grow. If the deque is full, push returns false, and the owner moves a batch elsewhere
//   with takeOldestBatch. So there are no retired arrays to free.
// - Release stores of bottom replace a release fence and relaxed stores: it is the same code on x86, and
//   ThreadSanitizer understands it. All of them must be release, also those that take something back: a thief
//   may read the indices below any of them, and C++20 ends a release sequence at the next store.
// - Rejected: a mark per slot instead of the fence in take (the THE protocol, or ABP's tag). It costs an
//   atomic read-modify-write per item. steal_gate.h saves the fence while there are no thieves.
// - With `cachedTop_`, push looks at the thieves' cache line only once in Capacity pushes. It lags behind
//   top. If it says that the deque is full, push reads top itself.
template <class T, class Sync = StdSync, uint32_t Capacity = 4096>
class StealingDeque {
  static_assert((Capacity & (Capacity - 1)) == 0, "an index becomes a slot by masking");

 public:
  static constexpr uint32_t kCapacity = Capacity;

  // `lostRace`: another thread took the item first, and there may be more.
  struct Stolen {
    T* item;
    bool lostRace;
  };

  // Not defaulted: value-initialisation would then zero the slots.
  StealingDeque() {}

  // Owner: appends `item` as the newest. Returns: false if the deque is full.
  bool push(T* item) {
    const int64_t bottom = bottom_.load(std::memory_order_relaxed);  // relaxed: only the owner writes it
    if (bottom - cachedTop_ >= Capacity) [[unlikely]] {
      if (cachedTop_ == kClosed) {
        return false;
      }
      // (1) acquire: the thief's read of the slot comes before this write of it; pairs with (7).
      cachedTop_ = top_.load(std::memory_order_acquire);
      if (bottom - cachedTop_ >= Capacity) {
        return false;
      }
    }
    slot(bottom).store(item, std::memory_order_relaxed);  // relaxed: bottom publishes it
    // (2) release: publishes the slot and what the item points to; pairs with (6).
    bottom_.store(bottom + 1, std::memory_order_release);
    return true;
  }

  // Owner: appends the first of `count` items, in their order, as far as there is room. Returns: how many.
  uint32_t pushBatch(T* const* items, uint32_t count) {
    const int64_t bottom = bottom_.load(std::memory_order_relaxed);  // relaxed: only the owner writes it
    if (bottom + count - cachedTop_ > Capacity) [[unlikely]] {
      if (isClosed()) {
        return 0;
      }
      // (13) acquire: as at note 1; pairs with (7).
      cachedTop_ = top_.load(std::memory_order_acquire);
    }
    const int64_t room = Capacity - (bottom - cachedTop_);
    const uint32_t pushed = room < count ? static_cast<uint32_t>(room) : count;
    for (uint32_t i = 0; i < pushed; i++) {
      slot(bottom + i).store(items[i], std::memory_order_relaxed);  // relaxed: bottom publishes it
    }
    // (14) release: publishes the slots and what the items point to; pairs with (6).
    bottom_.store(bottom + pushed, std::memory_order_release);
    return pushed;
  }

  // Owner: until open(), push returns false, and pushBatch zero. This costs an open deque nothing.
  void close() { cachedTop_ = kClosed; }
  // (15) acquire: as at note 1; pairs with (7).
  void open() { cachedTop_ = top_.load(std::memory_order_acquire); }
  bool isClosed() const { return cachedTop_ == kClosed; }

  // Owner: removes the newest item. `self` is the worker's StealGate<Sync>::Stealer.
  // Returns: null if the deque is empty.
  template <class Stealer>
  T* take(Stealer& self) {
    const int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;  // relaxed: only the owner writes it
    // (3) release: a thief that reads it goes on to read older slots; pairs with (6).
    bottom_.store(bottom, std::memory_order_release);
    if (!self.isUnseen()) [[unlikely]] {
      return takeBesideThieves(bottom);
    }
    // relaxed: no thread moves it beyond `bottom`.
    if (top_.load(std::memory_order_relaxed) <= bottom) [[likely]] {
      return slot(bottom).load(std::memory_order_relaxed);
    }
    // (12) release: as at note 3; pairs with (6).
    bottom_.store(bottom + 1, std::memory_order_release);
    return nullptr;
  }

  // Owner: the newest item, or null. A thief may take it at any time, so take() may find nothing.
  T* newest() {
    // relaxed, all of it: the slots are the owner's own.
    const int64_t bottom = bottom_.load(std::memory_order_relaxed);
    return bottom == top_.load(std::memory_order_relaxed) ? nullptr
                                                          : slot(bottom - 1).load(std::memory_order_relaxed);
  }

  // Any thread that has entered the StealGate: removes the oldest item.
  // Memory ordering: the thread that gets the item sees what the owner did before push.
  Stolen steal() {
    // relaxed: a hint, for a cheap way out.
    if (empty()) {
      return {nullptr, false};
    }
    // (9) acquire: sees the bottom that the owner announced before it moved top; pairs with (10).
    int64_t top = top_.load(std::memory_order_acquire);
    // (5) seq_cst: top before bottom; the mate is (4).
    Sync::fence(std::memory_order_seq_cst);
    // (6) acquire: sees the slots below bottom and what their items point to; pairs with (2, 3, 8, 12, 14).
    const int64_t bottom = bottom_.load(std::memory_order_acquire);
    if (top >= bottom) {
      return {nullptr, false};
    }
    // relaxed: published by bottom; if a later round has reused the slot, the compare-exchange fails.
    T* item = slot(top).load(std::memory_order_relaxed);
    // (7) seq_cst: claims the item, in one order with the fences; frees the slot; pairs with (1, 13, 15).
    if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst, std::memory_order_relaxed)) {
      return {nullptr, true};
    }
    return {item, false};
  }

  // Owner: removes the oldest item. Returns: null if empty.
  T* takeOldest() {
    T* item;
    return takeOldestBatch(&item, 1) == 1 ? item : nullptr;
  }

  // Owner: moves up to `max` items to `out`, oldest first, with one compare-exchange. Returns: how many.
  uint32_t takeOldestBatch(T** out, uint32_t max) {
    // relaxed, all of it: the slots are the owner's own, and the compare-exchange decides.
    const int64_t bottom = bottom_.load(std::memory_order_relaxed);
    int64_t top = top_.load(std::memory_order_relaxed);
    for (;;) {
      const int64_t queued = bottom - top;
      const uint32_t count = queued < max ? static_cast<uint32_t>(queued) : max;
      if (count == 0) {
        return 0;
      }
      for (uint32_t i = 0; i < count; i++) {
        out[i] = slot(top + i).load(std::memory_order_relaxed);
      }
      // (10) release: a thief that reads the new top sees at least the present bottom; pairs with (9).
      if (top_.compare_exchange_weak(top, top + count, std::memory_order_release,
                                     std::memory_order_relaxed)) {
        return count;
      }
    }
  }

  // Any thread: how many items there were lately. Exact for the owner while there are no thieves.
  uint32_t size() const {
    // relaxed: an estimate. Top first: it only grows, so a result of zero was true when bottom was read.
    const int64_t top = top_.load(std::memory_order_relaxed);
    const int64_t queued = bottom_.load(std::memory_order_relaxed) - top;
    return queued <= 0 ? 0 : queued >= Capacity ? Capacity : static_cast<uint32_t>(queued);
  }

  bool empty() const { return size() == 0; }

  // Owner: whether there were at least `count` items at some recent moment.
  // relaxed: an estimate; it may miss a recent theft.
  bool hasAtLeast(int64_t count) const {
    return bottom_.load(std::memory_order_relaxed) - top_.load(std::memory_order_relaxed) >= count;
  }

  int64_t endIndex() const { return bottom_.load(std::memory_order_relaxed); }

  // Owner: a lower bound of the oldest item's index. Exact while there are no thieves.
  int64_t beginIndex() const { return top_.load(std::memory_order_relaxed); }

 private:
  friend struct LayoutAccess;

  using Slots = typename Sync::template LazyArray<T*, Capacity>;

  auto& slot(int64_t index) { return slots_[static_cast<size_t>(index) & (Capacity - 1)]; }

  // take() after it has announced `bottom`.
  T* takeBesideThieves(int64_t bottom) {
    // (4) seq_cst: announce before looking at top; the mate is (5).
    Sync::fence(std::memory_order_seq_cst);
    // relaxed: the fence orders it, and the items were the owner's own before.
    const int64_t top = top_.load(std::memory_order_relaxed);
    if (top < bottom) [[likely]] {
      return slot(bottom).load(std::memory_order_relaxed);
    }
    T* item = top == bottom ? takeLast(top) : nullptr;
    // (8) release: as at note 3; pairs with (6).
    bottom_.store(bottom + 1, std::memory_order_release);
    return item;
  }

  // Takes the last item, at `top`, which thieves may want as well.
  T* takeLast(int64_t top) {
    T* item = slot(top).load(std::memory_order_relaxed);
    // (11) seq_cst: claims the item in one order with the fences.
    return top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst, std::memory_order_relaxed)
               ? item
               : nullptr;
  }

  // So far below all indices that the deque looks full.
  static constexpr int64_t kClosed = std::numeric_limits<int64_t>::min() / 2;

  // Written by the owner.
  alignas(kCacheLine) typename Sync::template Atomic<int64_t> bottom_{0};
  int64_t cachedTop_ = 0;
  // Written by thieves, and by the owner for the last item.
  alignas(kCacheLine) typename Sync::template Atomic<int64_t> top_{0};
  alignas(kCacheLine) Slots slots_;
};

}  // namespace weft::inline v0_1::detail
