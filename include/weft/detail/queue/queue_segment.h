// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include "weft/detail/base/sync.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {

// The number of slots of a SegmentedQueue's segments: constant, or for Size 0 chosen at run time.
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

// A part of a SegmentedQueue, which says who touches what. The slots follow it, on their own cache lines.
template <class T, class Sync>
struct alignas(kCacheLine) QueueSegment {
  using Slot = typename Sync::template Atomic<T>;

  typename Sync::template Atomic<uint32_t> index;  // the next slot to read; grows beyond their number
  // Consumers that stand in the segment; guarded by the queue's lock.
  typename Sync::template Var<uint32_t> users{0u};
  typename Sync::template Var<uint64_t> begin{0u};  // how many slots of the queue come before
  typename Sync::template Atomic<QueueSegment*> next;

  explicit QueueSegment(uint32_t size) {
    for (uint32_t i = 0; i < size; i++) {
      new (slots() + i) Slot();
    }
    reset(size);
  }
  void destroy(uint32_t size) {
    for (uint32_t i = 0; i < size; i++) {
      slots()[i].~Slot();
    }
    this->~QueueSegment();
  }

  static constexpr size_t bytes(uint32_t size) { return sizeof(QueueSegment) + size * sizeof(Slot); }
  Slot* slots() {
    static_assert(alignof(Slot) <= alignof(QueueSegment));
    return reinterpret_cast<Slot*>(this + 1);
  }

  // relaxed: the caller owns the segment, and its publication orders these stores.
  void reset(uint32_t size) {
    next.store(nullptr, std::memory_order_relaxed);
    index.store(0, std::memory_order_relaxed);
    for (uint32_t i = 0; i < size; i++) {
      slots()[i].store(nullptr, std::memory_order_relaxed);
    }
  }
};

// Up to `max` unused segments of one SegmentedQueue, linked through Segment::next.
// Requires: one thread at a time calls take() and keep().
template <class Segment, class Sync>
class SpareSegments {
 public:
  SpareSegments(Allocator* allocator, uint32_t max, uint32_t segmentSize)
      : allocator_(allocator), max_(max), segmentSize_(segmentSize) {}
  SpareSegments(const SpareSegments&) = delete;

  ~SpareSegments() { destroyAll(top_.get()); }

  // Returns: a segment to be given to renew(), or null.
  Segment* take() {
    Segment* segment = top_.get();
    if (segment != nullptr) {
      // relaxed: the callers' exclusion orders the links.
      top_.set(segment->next.load(std::memory_order_relaxed));
      count_.set(count_.get() - 1);
    }
    return segment;
  }

  // Takes over unused segments, linked through Segment::next. Returns: those to destroy.
  Segment* keep(Segment* segments) {
    while (segments != nullptr && count_.get() < max_) {
      // relaxed: as in take().
      Segment* next = segments->next.load(std::memory_order_relaxed);
      segments->next.store(top_.get(), std::memory_order_relaxed);
      top_.set(segments);
      count_.set(count_.get() + 1);
      segments = next;
    }
    return segments;
  }

  // Returns: `segment`, emptied; a new one if that is null.
  Segment* renew(Segment* segment) const {
    if (segment == nullptr) {
      return new (allocator_->allocate(request()).ptr) Segment(segmentSize_);
    }
    segment->reset(segmentSize_);
    return segment;
  }

  void destroyAll(Segment* segments) const {
    while (segments != nullptr) {
      Segment* next = segments->next.load(std::memory_order_relaxed);  // relaxed: as in take()
      segments->destroy(segmentSize_);
      allocator_->free({segments, request()});
      segments = next;
    }
  }

 private:
  Allocation::Request request() const {
    return {.size = Segment::bytes(segmentSize_),
            .alignment = alignof(Segment),
            .usage = Allocation::Usage::List};
  }

  Allocator* const allocator_;
  const uint32_t max_;
  const uint32_t segmentSize_;  // slots
  typename Sync::template Var<uint32_t> count_{0u};
  typename Sync::template Var<Segment*> top_{nullptr};
};

}  // namespace weft::inline v0_1::detail
