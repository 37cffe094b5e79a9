// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/base/thread_table.h"

#include <bit>
#include <iterator>
#include <mutex>
#include <utility>

#include "os/thread_end.h"
#include "weft/debug.h"
#include "weft/detail/base/spin_lock.h"

namespace weft::inline v0_1::detail {

constinit thread_local ThreadPlace threadPlace{0, 0};

namespace {

static_assert(std::bit_width(kMostThreads - 1 + ThreadTable::Segments::kFirstLength) -
                  std::bit_width(ThreadTable::Segments::kFirstLength) + 1 ==
              static_cast<int>(ThreadTable::Segments::kNumSegments) - 1);

// One bit for each place, set while a thread has it. Memory is touched as far as threads have come.
struct Places {
  SpinLock lock;
  uint64_t taken[kMostThreads / 64];  // guarded by lock
};
constinit Places places{};

// The bit of a place: the first segment has the first kFirstLength bits, and so on.
ThreadPlace placeOf(uint32_t bit) {
  const uint32_t number = bit + ThreadTable::Segments::kFirstLength;
  const auto width = static_cast<uint32_t>(std::bit_width(number));
  return {width - static_cast<uint32_t>(std::bit_width(ThreadTable::Segments::kFirstLength)) + 1,
          number - (1u << (width - 1))};
}

uint32_t bitOf(const ThreadPlace& place) {
  return static_cast<uint32_t>(ThreadTable::Segments::lengthOf(place.segment)) + place.offset -
         ThreadTable::Segments::kFirstLength;
}

uint32_t takeLowestBit() {
  const std::scoped_lock guard(places.lock);
  for (uint32_t i = 0; i < std::size(places.taken); ++i) {
    if (~places.taken[i] != 0) {
      const auto bit = static_cast<uint32_t>(std::countr_one(places.taken[i]));
      places.taken[i] |= uint64_t{1} << bit;
      return i * 64 + bit;
    }
  }
  WEFT_FATAL("more than 4,194,304 threads use a WorkerLocal");
}

// A thread_local object that is destroyed later may use a table, for which the thread takes a place anew.
void giveBackPlace(void*) {
  const uint32_t bit = bitOf(std::exchange(threadPlace, ThreadPlace{0, 0}));
  const std::scoped_lock guard(places.lock);
  places.taken[bit / 64] &= ~(uint64_t{1} << (bit % 64));
}

}  // namespace

ThreadPlace takeThreadPlace() noexcept {
  if (threadPlace.segment == 0) {
    threadPlace = placeOf(takeLowestBit());
    atThreadEnd(&giveBackPlace);
  }
  return threadPlace;
}

}  // namespace weft::inline v0_1::detail
