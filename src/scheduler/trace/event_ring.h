// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "inspect/trace_events.h"
#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

// The newest events of one thread, which alone writes them. Others read them meanwhile, also from outside of
// the process. A writer waits for nobody: it writes over the oldest event. Readers copy the slots by
// inspect::readRecording(); numWritten() and at() are for tests and for the model, which read in that order.
//
//   writer                                  reader
//   W1 slots[n % capacity] = event n        R1 end = numWritten
//   W2 numWritten = n + 1                   R2 copies the slots of [end - capacity, end)
//                                           R3 keeps what is at inspect::firstIntact(numWritten) or later
//
// What must not happen: the reader takes half an event, or a newer event for an older one. Whoever sees in R2
// a part of event n sees in R3 all that the writer did before W1 of n, so at least n in numWritten. Then
// firstIntact(n) is n - capacity + 1, and the event that lay in that slot, n - capacity, is left out.
template <class Sync = StdSync>
class EventRing {
 public:
  using Event = inspect::TraceEvent;

  struct Slot {
    typename Sync::template Atomic<uint64_t> head;
    typename Sync::template Atomic<uint64_t> operand;
  };

  // `slots`: `capacity` of them, a power of two. They outlive the ring.
  EventRing(Slot* slots, uint64_t capacity) : slots_(slots), mask_(capacity - 1) {}
  EventRing(const EventRing&) = delete;
  EventRing& operator=(const EventRing&) = delete;

  // The writing thread.
  void write(uint64_t head, uint64_t operand) {
    // relaxed: only this thread writes it.
    const uint64_t n = numWritten_.load(std::memory_order_relaxed);
    Slot& slot = slots_[n & mask_];
    // (1) release: after all of the event before; pairs with (5).
    slot.head.store(head, std::memory_order_release);
    // (2) release: after all of the event before; pairs with (6).
    slot.operand.store(operand, std::memory_order_release);
    // (3) release: publishes the event; pairs with (4).
    numWritten_.store(n + 1, std::memory_order_release);
  }

  // Any thread.
  uint64_t capacity() const { return mask_ + 1; }
  uint64_t numWritten() const {
    // (4) acquire: sees the events that it counts; pairs with (3).
    return numWritten_.load(std::memory_order_acquire);
  }
  // The event whose number is `n`, or one that was written over it.
  Event at(uint64_t n) const {
    const Slot& slot = slots_[n & mask_];
    Event event;
    // (5) acquire: a numWritten() that follows is at least as new; pairs with (1).
    event.head = slot.head.load(std::memory_order_acquire);
    // (6) acquire: a numWritten() that follows is at least as new; pairs with (2).
    event.operand = slot.operand.load(std::memory_order_acquire);
    return event;
  }

 private:
  friend struct LayoutAccess;

  Slot* const slots_;
  const uint64_t mask_;
  typename Sync::template Atomic<uint64_t> numWritten_{0};
};

}  // namespace weft::inline v0_1::detail
