// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/park/parker.h"

#include <sys/mman.h>

#include <mutex>
#include <new>
#include <utility>

#include "os/keep_loaded.h"
#include "os/thread_end.h"
#include "weft/debug.h"
#include "weft/detail/base/spin_lock.h"

// Parkers come from slabs, which are never given back. The first is static memory, the others are mapped.
namespace weft::inline v0_1::detail {
namespace {

struct alignas(kCacheLine) Slot {
  Parker<> parker;
  Slot* nextFree = nullptr;
};

constexpr size_t kSlotsPerSlab = 64;

struct SlotDepot {
  SpinLock lock;
  Slot* free = nullptr;   // guarded by lock
  Slot* fresh = nullptr;  // guarded by lock: the unused rest of the newest slab
  size_t numFresh = 0;    // guarded by lock
};

constinit Slot firstSlab[kSlotsPerSlab];
constinit SlotDepot slots{{}, nullptr, firstSlab, kSlotsPerSlab};

Slot* mapSlab() {
  void* memory =
      mmap(nullptr, sizeof(Slot) * kSlotsPerSlab, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    WEFT_FATAL("no memory for a page of parkers: mmap failed. Raise the process's memory limit");
  }
  auto* slab = static_cast<Slot*>(memory);
  for (size_t i = 0; i < kSlotsPerSlab; i++) {
    new (&slab[i]) Slot();
  }
  return slab;
}

Slot* takeSlot() {
  const std::scoped_lock guard(slots.lock);
  if (slots.free != nullptr) {
    return std::exchange(slots.free, slots.free->nextFree);
  }
  if (slots.numFresh == 0) {
    slots.fresh = mapSlab();
    slots.numFresh = kSlotsPerSlab;
  }
  --slots.numFresh;
  return slots.fresh++;
}

// The calling thread's parker. Plain data outlives all thread_local objects, so their destructors may park.
constinit thread_local Parker<>* ownParker = nullptr;

[[gnu::noinline]] Parker<>& acquireOwnParker() {
  ownParker = acquireParker();
  atThreadEnd([](void*) { releaseParker(std::exchange(ownParker, nullptr)); });
  return *ownParker;
}

}  // namespace

Parker<>* acquireParker() {
  keepLoaded();
  Slot* slot = takeSlot();
  slot->parker.tryPark();
  return &slot->parker;
}

void releaseParker(Parker<>* parker) {
  auto* slot = reinterpret_cast<Slot*>(parker);
  const std::scoped_lock guard(slots.lock);
  slot->nextFree = std::exchange(slots.free, slot);
}

Parker<>& threadParker() { return ownParker != nullptr ? *ownParker : acquireOwnParker(); }

}  // namespace weft::inline v0_1::detail
