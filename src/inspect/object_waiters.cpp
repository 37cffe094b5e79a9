// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/object_waiters.h"

#include <algorithm>
#include <bit>
#include <span>

#include "inspect/fixed_array.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

// How many fibers wait for an object in a call. A hash table with linear probing.
class WaiterCounts {
 public:
  WaiterCounts(std::pmr::memory_resource* memory, size_t mostFibers)
      : slots_(memory, std::bit_ceil(2 * mostFibers)) {}

  bool isRefused() const { return slots_.isRefused(); }

  void add(const Fiber& fiber) {
    Slot& slot = find(fiber.object, fiber.what);
    slot.object = fiber.object;
    slot.what = fiber.what;
    ++slot.count;
  }
  // Returns: how many wait for `object` in the call that is named `what`.
  uint32_t of(Address object, uint32_t what) { return find(object, what).count; }

 private:
  struct Slot {
    Address object = 0;  // 0: free
    uint32_t what = 0;
    uint32_t count = 0;
  };

  // Returns: the slot, or the free one that would be its.
  Slot& find(Address object, uint32_t what) {
    const size_t mask = slots_.size() - 1;
    const uint64_t product = (object ^ uint64_t{what} << 56) * 0x9e3779b97f4a7c15;
    size_t i = static_cast<size_t>(product ^ product >> 32) & mask;
    while (slots_[i].object != 0 && (slots_[i].object != object || slots_[i].what != what)) {
      i = (i + 1) & mask;
    }
    return slots_[i];
  }

  FixedArray<Slot> slots_;
};

bool isWaiter(const Snapshot& snapshot, const Fiber& fiber) {
  return fiber.state == Fiber::State::Blocked && fiber.what < snapshot.names.size() &&
         isSharedObject(snapshot.names[fiber.what], fiber.object);
}

}  // namespace

void countWaiters(Snapshot& snapshot, size_t first) {
  const auto fibers = std::span(snapshot.fibers).subspan(first);
  const auto isOne = [&snapshot](const Fiber& fiber) { return isWaiter(snapshot, fiber); };
  const auto numWaiters = static_cast<size_t>(std::ranges::count_if(fibers, isOne));
  if (numWaiters == 0) {
    return;
  }
  WaiterCounts counts(snapshot.fibers.get_allocator().resource(), numWaiters);
  if (counts.isRefused()) {
    return;
  }
  for (const Fiber& fiber : fibers) {
    if (isOne(fiber)) {
      counts.add(fiber);
    }
  }
  const auto nameIndex = [&snapshot](std::string_view name) {
    // The last of that name: that of the copy of weft that was read last.
    const auto found = std::find(snapshot.names.rbegin(), snapshot.names.rend(), name);
    return static_cast<uint32_t>(snapshot.names.rend() - found) - 1;  // kNone if there is none
  };
  const uint32_t send = nameIndex(kSend);
  const uint32_t receive = nameIndex(kReceive);
  for (Fiber& fiber : fibers) {
    if (!isOne(fiber)) {
      continue;
    }
    const uint32_t opposite = fiber.what == send ? receive : fiber.what == receive ? send : kNone;
    fiber.numOpposite = opposite != kNone ? counts.of(fiber.object, opposite) : 0;
    fiber.numWaiters = counts.of(fiber.object, fiber.what) + fiber.numOpposite;
  }
}

}  // namespace weft::inline v0_1::detail::inspect
