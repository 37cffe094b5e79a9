// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "weft/detail/base/sync.h"
#include "weft/detail/queue/queue_segment.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {

// Who pushes into a SegmentedQueue: threads at the same time, or one thread after another. In the second case
// the callers order the pushes, and a push needs no read-modify-write.
enum class Producers { AtOnce, InTurn };

// An unbounded FIFO queue of pointers for any number of consumers, in linked segments. The counter at the
// tail that carries a segment pointer is from crossbeam's SegQueue (S. Glavina, 2018; there is no paper). A
// place of its own for each consumer is from Ubisoft's TaskScheduler. weft adds reservations of several slots
// at once, and reads that do not look at the tail and cannot fail if the segment is full.
//
// State: `tail_` is a position, the next slot to write, and the segment in which it lies. A position counts a
// power of two per segment. Offsets below the segment's size are slots. The offset that equals the size means
// that the successor of the segment is being installed. The other offsets are skipped. A slot is null until
// its item is written. Each segment has the index of its next slot to read. All before `oldest_` are read.
//
// A push reads the tail's position, then its segment. It reserves k slots by one compare-exchange of the
// position. The producer that reserves the last slot installs the next segment: it links the segment, stores
// the tail's segment, and stores the position. (It was allocated before, so others wait for three stores.)
// Then the push writes the items.
//
// A pop looks at the slot that the index of the consumer's segment names. It takes an item there by a
// compare-exchange of the index. If there is none, the queue is empty, unless, with producers at the same
// time, the tail says that the slot is reserved. If the consumer saw an item in the last slot when it came,
// all slots are written or about to be written, and it takes one by an addition.
//
// If the index says that all items have been taken, and a next segment is linked, the consumer leaves the
// segment for `oldest_`, with the lock. That happens at most once a segment. A segment before `oldest_` goes
// back to the spares when its last user leaves it, or, without users, when `oldest_` passes it.
//
// What must not happen:
// - A producer reserves in one segment and uses the pointer of another. The position only grows, and the
//   segment is replaced only while the offset is its size, at which no producer reserves. So if the
//   compare-exchange finds the position unchanged, the segment that was read in between belongs to it.
// - A segment is freed while a thread may touch it. Consumers touch a segment only as its users. A producer
//   follows a segment pointer only with a reservation. Its last access is the store of an item (it stores the
//   link before). The consumer that took that slot has waited for the store before it left the segment, with
//   the lock, as the last user. No thread comes to the segment any more: `oldest_` does not go back.
// - An item is missed that the caller knows of. Then its slot is written; or, with producers at the same
//   time, the tail that the caller knows of is beyond it, and the item will come.
//
// Rejected: one counter for all reads, at the head. A pop then looks at the producers' cache line, and counts
// the reads of the segment by a second read-modify-write. That is 3 to 10 times slower beside a producer.
// Rejected: hazard pointers and epochs, which the second rule makes needless.
//
// Strictly a push is not lock-free: a thread that is preempted between reserving and writing holds up the
// consumer of that slot. While it installs a segment, it holds up all producers.
template <class T, class Sync = StdSync, uint32_t SegmentSize = 62, Producers kProducers = Producers::AtOnce>
class SegmentedQueue {
  static_assert(std::is_pointer_v<T>, "an item serves as its own flag: null is `not written yet`");
  using Segment = QueueSegment<T, Sync>;

 public:
  // Keeps up to `maxSpares` used-up segments for reuse; by default those of a million items.
  explicit SegmentedQueue(Allocator* allocator = Allocator::Default, uint32_t maxSpares = 16384,
                          uint32_t segmentSize = SegmentSize)
      : shape_(segmentSize), spares_(allocator, maxSpares, shape_.size()) {
    Segment* first = spares_.renew(nullptr);
    tail_.segment.store(first, std::memory_order_relaxed);  // relaxed: no other thread knows the queue yet
    oldest_.set(first);
  }

  // Drops the items that are left. Requires: no thread uses the queue, and it has no consumers.
  ~SegmentedQueue() {
    // The caller has ordered the destruction after all other threads.
    spares_.destroyAll(oldest_.get());
  }

  // A producer: appends `item`, which is not null. Lifetime: the queue may end once the item has been taken.
  // Memory ordering: the thread that gets the item sees what came before push.
  void push(T item) {
    if constexpr (kProducers == Producers::InTurn) {
      // A shortcut if the segment does not become full. It costs a third less beside consumers that look for
      // work. relaxed: as in tryReserve().
      const uint64_t position = tail_.position.load(std::memory_order_relaxed);
      if (offsetOf(position) + 1 < shape_.size()) [[likely]] {
        Segment& segment = *tail_.segment.load(std::memory_order_relaxed);
        tail_.position.store(position + 1, std::memory_order_relaxed);
        write({&segment, offsetOf(position), 1}, &item);
        return;
      }
    }
    pushBatch(&item, 1);
  }

  // A producer: appends `count` items in their order. Other producers' items may come in between.
  void pushBatch(const T* items, uint32_t count) {
    Segment* next = nullptr;
    while (count > 0) {
      const Reserved slots = reserve(count, &next);
      // The spare was not needed. Once the last item is written, the queue may be gone.
      if (next != nullptr) {
        giveBack(next);
      }
      write(slots, items);
      items += slots.count;
      count -= slots.count;
    }
  }

  class Consumer;

  // Any thread. Both take the lock, and are exact while no thread pushes or pops.
  bool empty() { return size() == 0; }
  size_t size() {
    lock_.lock();
    // No consumer is past `oldest_`, since moving on advances it.
    const size_t size = sizeFrom(*oldest_.get());
    lock_.unlock();
    return size;
  }

 private:
  friend struct LayoutAccess;

  template <class U>
  using Atomic = typename Sync::template Atomic<U>;
  uint64_t lap() const { return uint64_t{1} << shape_.lapShift(); }
  uint32_t offsetOf(uint64_t position) const { return static_cast<uint32_t>(position & (lap() - 1)); }
  // How many slots come before `position`.
  uint64_t ordinal(uint64_t at) const { return (at >> shape_.lapShift()) * shape_.size() + offsetOf(at); }

  struct Reserved {
    Segment* segment;
    uint32_t offset;
    uint32_t count;
  };

  static void write(const Reserved& slots, const T* items) {
    for (uint32_t i = 0; i < slots.count; i++) {
      // (1) release: publishes the item; pairs with segmented_queue_consumer.h (1).
      slots.segment->slots()[slots.offset + i].store(items[i], std::memory_order_release);
    }
  }

  // Reserves up to `count` slots of one segment. `*spare` is a segment that the caller holds ready, or null.
  Reserved reserve(uint32_t count, Segment** spare) {
    uint64_t position = awaitSegment();
    for (;;) {
      const uint32_t offset = offsetOf(position);
      // relaxed: a later segment than the position's comes with a compare-exchange that fails.
      Segment* segment = tail_.segment.load(std::memory_order_relaxed);
      const uint32_t room = shape_.size() - offset;
      const uint32_t taken = count < room ? count : room;
      if (taken == room && *spare == nullptr) {
        *spare = takeSpare();
      }
      if (tryReserve(position, position + taken)) {
        if (taken == room) {
          install(*segment, **spare, position + taken);
          *spare = nullptr;
        }
        return {segment, offset, taken};
      }
      if (offsetOf(position) == shape_.size()) {
        position = awaitSegment();
      }
    }
  }

  bool tryReserve(uint64_t& position, uint64_t to) {
    if constexpr (kProducers == Producers::InTurn) {
      // relaxed: the callers order the producers; other threads only estimate.
      tail_.position.store(to, std::memory_order_relaxed);
      return true;
    } else {
      // (3) acquire: a failure's new position, as at note 5; pairs with (6). release: the segment was read
      // before; a producer that installs another segment has read this position.
      return tail_.position.compare_exchange_weak(position, to, std::memory_order_acq_rel,
                                                  std::memory_order_acquire);
    }
  }

  // Returns: the position, once no segment is being installed.
  uint64_t awaitSegment() const {
    uint32_t round = 0;
    for (;;) {
      // (5) acquire: sees the position's segment, emptied, or a later one; pairs with (6).
      const uint64_t position = tail_.position.load(std::memory_order_acquire);
      if (offsetOf(position) != shape_.size()) [[likely]] {
        return position;
      }
      Sync::relax(round);
    }
  }

  void install(Segment& full, Segment& next, uint64_t position) {
    next.begin.set(full.begin.get() + shape_.size());
    // (4) release: publishes the emptied segment to consumers; pairs with (2).
    full.next.store(&next, std::memory_order_release);
    tail_.segment.store(&next, std::memory_order_relaxed);  // relaxed: published by the position
    // (6) release: a thread that sees this position or a later one sees its segment; pairs with (3, 5).
    tail_.position.store(position + (lap() - shape_.size()), std::memory_order_release);
  }

  bool isUsedUp(const Segment& segment) const {
    // relaxed: a thread that may still read is a user of the segment.
    return segment.index.load(std::memory_order_relaxed) >= shape_.size();
  }

  // For a consumer that has found no item there.
  // Returns: whether producers are about to write it, or have written later items.
  bool isReserved(const Segment& segment, uint32_t index) const {
    if constexpr (kProducers == Producers::InTurn) {
      return false;
    } else {
      // relaxed: a thread that knows of a push knows its position.
      return ordinal(tail_.position.load(std::memory_order_relaxed)) > segment.begin.get() + index;
    }
  }

  static Segment* successor(const Segment& segment) {
    // (2) acquire: sees the successor emptied; pairs with (4).
    return segment.next.load(std::memory_order_acquire);
  }

  size_t sizeFrom(const Segment& segment) const {
    const uint32_t index = segment.index.load(std::memory_order_relaxed);  // relaxed: an estimate
    const uint64_t head = segment.begin.get() + (index < shape_.size() ? index : shape_.size());
    const uint64_t tail = ordinal(tail_.position.load(std::memory_order_relaxed));
    return tail <= head ? 0 : static_cast<size_t>(tail - head);
  }

  // With the lock: moves `oldest_` to the first segment that is not used up, or to the last of all.
  // Returns: the passed segments that have no users, linked by `next`.
  Segment* passUsedUp() {
    Segment* unused = nullptr;
    for (Segment* segment = oldest_.get(); isUsedUp(*segment); segment = oldest_.get()) {
      Segment* next = successor(*segment);
      if (next == nullptr) {
        break;
      }
      oldest_.set(next);
      if (segment->users.get() == 0) {
        unused = prepend(segment, unused);
      }
    }
    return unused;
  }

  static Segment* prepend(Segment* segment, Segment* others) {
    segment->next.store(others, std::memory_order_relaxed);  // relaxed: no thread uses the segment any more
    return segment;
  }

  // Unlocks, and gives back `unused` segments, linked by `next`.
  void unlockWith(Segment* unused) {
    Segment* tooMany = spares_.keep(unused);
    lock_.unlock();
    spares_.destroyAll(tooMany);
  }

  void giveBack(Segment* spare) {
    lock_.lock();
    unlockWith(spare);
  }

  Segment* takeSpare() {
    lock_.lock();
    Segment* spare = spares_.take();
    lock_.unlock();
    return spares_.renew(spare);
  }

  struct alignas(kCacheLine) Tail {
    Atomic<uint64_t> position{0};
    Atomic<Segment*> segment{nullptr};
  };

  [[no_unique_address]] const BlockShape<SegmentSize> shape_;
  Tail tail_;
  alignas(kCacheLine) typename Sync::Lock lock_;
  SpareSegments<Segment, Sync> spares_;                    // guarded by lock_
  typename Sync::template Var<Segment*> oldest_{nullptr};  // guarded by lock_
};

}  // namespace weft::inline v0_1::detail

#include "weft/detail/queue/segmented_queue_consumer.h"
