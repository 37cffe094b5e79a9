// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "weft/detail/port/processor.h"
#include "weft/export.h"

namespace weft::inline v0_1::detail {

// Where the entries of a thread lie in all ThreadTables. No two threads that live have one place. A thread
// that ends gives its place back, and the next thread that needs one takes the lowest that is free.
struct ThreadPlace {
  uint32_t segment;  // 0: the thread has no place yet
  uint32_t offset;
};

extern WEFT_EXPORT constinit thread_local ThreadPlace threadPlace WEFT_TLS;

// The system has at most 2^22 threads.
inline constexpr uint32_t kMostThreads = 1u << 22;

// Returns: the place of the calling thread, which gets one if it has none.
WEFT_EXPORT ThreadPlace takeThreadPlace() noexcept;

// Arrays of entries, each twice as long as the one before it, of which any thread makes those that it needs.
// They stay where they are until the end. `Atomic` is the port's, or a checker's.
//
//   segment         who changes it
//   null -> array   the first thread that publishes one; another that has made one too deletes its own
template <class Entry, template <class> class Atomic = port::Atomic>
class ThreadSegments {
 public:
  ThreadSegments() = default;
  ThreadSegments(const ThreadSegments&) = delete;
  ThreadSegments& operator=(const ThreadSegments&) = delete;
  ~ThreadSegments() {
    for (Atomic<Entry*>& segment : segments_) {
      delete[] segment.load(std::memory_order_relaxed);  // relaxed: nobody else uses the segments
    }
  }

  // Returns: the array; null if there is none. The segment 0 is always null.
  Entry* find(uint32_t segment) const noexcept {
    // (2) acquire: the entries were made before; pairs with (1).
    return segments_[segment].load(std::memory_order_acquire);
  }

  // Returns: the array, which is made if there is none. May throw std::bad_alloc.
  Entry* findOrMake(uint32_t number) {
    Atomic<Entry*>& segment = segments_[number];
    // (3) acquire: the entries were made before; pairs with (1).
    Entry* first = segment.load(std::memory_order_acquire);
    if (first == nullptr) {
      auto made = std::make_unique<Entry[]>(lengthOf(number));
      // (1) release: whoever sees the segment sees that its entries are null; pairs with (2), (3), (4).
      // (4) acquire: another thread was faster; pairs with (1).
      if (segment.compare_exchange_strong(first, made.get(), std::memory_order_release,
                                          std::memory_order_acquire)) {
        first = made.release();
      }
    }
    return first;
  }

  // Calls f(entry) for each entry. Requires: no other thread uses the segments meanwhile.
  template <class F>
  void forEach(F&& f) const {
    for (uint32_t i = 1; i < kNumSegments; ++i) {
      // relaxed: the caller has waited for all who have used the segments.
      if (const Entry* const segment = segments_[i].load(std::memory_order_relaxed)) {
        for (size_t offset = 0; offset < lengthOf(i); ++offset) {
          f(segment[offset]);
        }
      }
    }
  }

  static constexpr uint32_t kFirstLength = 8;
  static constexpr size_t kNumSegments = 21;
  static constexpr size_t lengthOf(size_t segment) { return size_t{kFirstLength} << (segment - 1); }

 private:
  Atomic<Entry*> segments_[kNumSegments] = {};
};

// Only the thread whose place it is uses it, or whoever has the table for itself.
struct ThreadEntry {
  void* value = nullptr;
  const void* maker = nullptr;  // the task or thread that makes the value
};

// A table with an entry for each thread that uses it. It grows by segments, so entries stay where they are.
class ThreadTable {
 public:
  using Entry = ThreadEntry;
  using Segments = ThreadSegments<Entry>;

  // Returns: the value of the calling thread; null if it has none.
  void* ownValue() const noexcept {
    const ThreadPlace place = threadPlace;
    const Entry* const segment = segments_.find(place.segment);
    return segment != nullptr ? segment[place.offset].value : nullptr;
  }

  // Returns: the entry of the calling thread, which gets a place if it has none. May throw std::bad_alloc.
  Entry& ownEntry() {
    const ThreadPlace place = takeThreadPlace();
    return segments_.findOrMake(place.segment)[place.offset];
  }

  // Calls f(value) for each value that is not null. Requires: no other thread uses the table meanwhile.
  template <class F>
  void forEach(F&& f) const {
    segments_.forEach([&f](const Entry& entry) {
      if (entry.value != nullptr) {
        f(entry.value);
      }
    });
  }

 private:
  Segments segments_;
};

}  // namespace weft::inline v0_1::detail
