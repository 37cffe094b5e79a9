// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/stack_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

#include "os/stack_slab.h"
#include "os/stack_system.h"
#include "weft/debug.h"
#include "weft/memory.h"
#include "weft/sanitizers.h"

#if WEFT_ADDRESS_SANITIZER_ENABLED
#include <sanitizer/asan_interface.h>
#endif

// How a pool hands stacks out and takes them back, and grows. stack_trim.cpp gives memory back to the system.
namespace weft::inline v0_1::detail {
namespace {

constexpr uint32_t kFirstSlab = 16;  // stacks
// Slabs have so much address space, but one stack at least. With 32 bits a process has 2 to 4 GiB in all.
constexpr size_t kMaxSlabBytes =
    sizeof(void*) == 4 ? size_t{64} << 20 : static_cast<size_t>(uint64_t{4} << 30);

}  // namespace

StackPool::StackPool(size_t stackSize, Tables* tables)
    : stackSize_(stackSize), stride_(stackSize + guardSize()), tables_(tables), fresh_(kNoSlab) {}

StackPool& StackPool::forSize(size_t bytes) {
  static constinit std::mutex mutex;
  static constinit StackPool* pools = nullptr;
  WEFT_ASSERT(bytes > 0 && bytes <= kMaxStackSize, "a fiber stack cannot have %zu bytes: choose 1 to %zu.",
              bytes, kMaxStackSize);
  bytes = alignUp(bytes, pageSize());
  std::scoped_lock hold(mutex);
  for (StackPool* pool = pools; pool != nullptr; pool = pool->nextPool_) {
    if (pool->stackSize_ == bytes) {
      return *pool;
    }
  }
  void* tables = std::calloc(1, sizeof(Tables));
  void* memory = std::malloc(sizeof(StackPool));
  if (tables == nullptr || memory == nullptr) {
    WEFT_FATAL("out of memory: no %zu bytes for a pool of fiber stacks.", sizeof(Tables) + sizeof(StackPool));
  }
  auto* pool = new (memory) StackPool(bytes, static_cast<Tables*>(tables));
  pool->nextPool_ = pools;
  pools = pool;
  return *pool;
}

Stack StackPool::stackAt(uint32_t index, uint32_t slot) const noexcept {
  char* place = tables_->slabs[index].memory + slot * stride_;
  return {place + guardSize(), static_cast<uint32_t>(stackSize_), index * kStacksPerSlab + slot};
}

// Requires: lock_ is held, as for all functions from here to acquire().
void StackPool::markFree(uint32_t index, uint32_t slot, bool warm) noexcept {
  Slab& slab = tables_->slabs[index];
  setBit(slab.free[warm], slot);
  ++numFree_[warm];
  if (slab.numFree[warm]++ == 0) {
    setBit(tables_->withFree[warm], index);
    firstWord_[warm] = std::min(firstWord_[warm], index / 64);
  }
}

void StackPool::unmarkFree(uint32_t index, uint32_t slot, bool warm) noexcept {
  Slab& slab = tables_->slabs[index];
  clearBit(slab.free[warm], slot);
  --numFree_[warm];
  if (--slab.numFree[warm] == 0) {
    clearBit(tables_->withFree[warm], index);
  }
}

uint32_t StackPool::takeFree(Stack* stacks, uint32_t count, bool warm) noexcept {
  uint32_t taken = 0;
  const uint64_t* withFree = tables_->withFree[warm];
  while (taken < count && numFree_[warm] != 0) {
    while (withFree[firstWord_[warm]] == 0) {
      ++firstWord_[warm];
    }
    const uint32_t index =
        firstWord_[warm] * 64 + static_cast<uint32_t>(std::countr_zero(withFree[firstWord_[warm]]));
    const uint64_t* bits = tables_->slabs[index].free[warm];
    for (uint32_t word = 0; word < kWords && taken < count; ++word) {
      while (bits[word] != 0 && taken < count) {
        const uint32_t slot = word * 64 + static_cast<uint32_t>(std::countr_zero(bits[word]));
        unmarkFree(index, slot, warm);
        stacks[taken++] = stackAt(index, slot);
      }
    }
  }
  return taken;
}

// Takes stacks that were never handed out and have no guard yet.
uint32_t StackPool::carve(Stack* stacks, uint32_t count) noexcept {
  if (fresh_ == kNoSlab) {
    return 0;
  }
  Slab& slab = tables_->slabs[fresh_];
  const uint32_t taken = std::min(count, slab.capacity - slab.numCarved);
  for (uint32_t i = 0; i < taken; ++i) {
    stacks[i] = stackAt(fresh_, slab.numCarved++);
  }
  if (slab.numCarved == slab.capacity) {
    fresh_ = kNoSlab;
  }
  return taken;
}

Stack StackPool::acquire() noexcept {
  Stack stack;
  acquireBatch(&stack, 1);
  return stack;
}

uint32_t StackPool::acquireBatch(Stack* stacks, uint32_t count) noexcept {
  for (;;) {
    uint32_t taken;
    uint32_t numNew = 0;
    {
      std::scoped_lock hold(lock_);
      taken = takeFree(stacks, count, true);
      taken += takeFree(stacks + taken, count - taken, false);
      if (taken == 0) {
        taken = numNew = carve(stacks, std::min(count, kMaxGuardsAtOnce));
      }
      numInUse_ += taken;
      peakInUse_ = std::max(peakInUse_, numInUse_);
    }
    if (numNew != 0) {
      guard(stacks, numNew);
    }
    if (taken != 0 || count == 0 || !grow()) {
      return taken;
    }
  }
}

// Guards new stacks, all of one slab.
void StackPool::guard(Stack* stacks, uint32_t count) noexcept {
  iovec pieces[kMaxGuardsAtOnce] = {};
  for (uint32_t i = 0; i < count; ++i) {
    pieces[i] = {static_cast<char*>(stacks[i].base) - guardSize(), guardSize()};
  }
  const OtherGuards others = makeGuards(pieces, count);
  Slab& slab = tables_->slabs[stacks[0].id / kStacksPerSlab];
  if (slab.valgrindIds != nullptr) {
    for (uint32_t i = 0; i < count; ++i) {
      slab.valgrindIds[stacks[i].id % kStacksPerSlab] = valgrindRegister(stacks[i]);
    }
  }
  if (others.numProtected + others.numUnguarded != 0) {
    std::scoped_lock hold(lock_);
    slab.numProtected += others.numProtected;
    slab.numUnguarded += others.numUnguarded;
  }
}

// Adds a slab, unless another thread has just added one. Returns: false where the system has no memory.
bool StackPool::grow() noexcept {
  std::scoped_lock alone(growth_);
  uint32_t capacity;
  {
    std::scoped_lock hold(lock_);
    if (fresh_ != kNoSlab || numFree_[0] + numFree_[1] != 0) {
      return true;
    }
    const size_t most = std::max<size_t>(kMaxSlabBytes / stride_, 1);
    capacity = static_cast<uint32_t>(
        std::min({std::max<size_t>(numCapacity_, kFirstSlab), size_t{kStacksPerSlab}, most}));
  }
  char* memory = mapSlab(capacity);
  if (memory == nullptr) {
    return false;
  }
  registerRoots(memory, capacity * stride_);
  if (addSlab(memory, capacity)) {
    return true;
  }
  unregisterRoots(memory, capacity * stride_);
  stackSystem.unmap(memory, capacity * stride_);
  return false;
}

// Where there is no room for a whole slab, maps a smaller one.
char* StackPool::mapSlab(uint32_t& capacity) noexcept {
  for (; capacity != 0; capacity /= 2) {
    if (void* memory = stackSystem.map(capacity * stride_); memory != nullptr) {
      // Huge pages would make a stack cost 2 MiB before Linux 6.7. Kernels without them refuse, as good.
      stackSystem.advise(memory, capacity * stride_, MADV_NOHUGEPAGE);
      return static_cast<char*>(memory);
    }
  }
  return nullptr;
}

bool StackPool::addSlab(char* memory, uint32_t capacity) noexcept {
  auto* ids = runsOnValgrind() ? static_cast<uint32_t*>(std::calloc(capacity, sizeof(uint32_t))) : nullptr;
  std::scoped_lock hold(lock_);
  uint32_t word = 0;
  while (word < kIndexWords && tables_->mapped[word] == UINT64_MAX) {
    ++word;
  }
  if (word == kIndexWords) {
    std::free(ids);
    return false;
  }
  const uint32_t index = word * 64 + static_cast<uint32_t>(std::countr_one(tables_->mapped[word]));
  setBit(tables_->mapped, index);
  slabEnd_ = std::max(slabEnd_, index + 1);
  tables_->slabs[index] = {.memory = memory,
                           .capacity = capacity,
                           .numCarved = 0,
                           .numFree = {},
                           .numProtected = 0,
                           .numUnguarded = 0,
                           .valgrindIds = ids,
                           .free = {}};
  fresh_ = index;
  ++numSlabs_;
  numCapacity_ += capacity;
  return true;
}

void StackPool::release(const Stack& stack) noexcept { releaseBatch(&stack, 1); }

void StackPool::releaseBatch(const Stack* stacks, uint32_t count) noexcept {
  for (uint32_t i = 0; i < count; ++i) {
    scrub(stacks[i]);
  }
  std::scoped_lock hold(lock_);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t index = stacks[i].id / kStacksPerSlab;
    const uint32_t slot = stacks[i].id % kStacksPerSlab;
    WEFT_DCHECK(!isSet(tables_->slabs[index].free[0], slot) && !isSet(tables_->slabs[index].free[1], slot),
                "a fiber stack was released twice.");
    markFree(index, slot, true);
  }
  numInUse_ -= count;
  // relaxed: a hint; the lock publishes the stacks.
  if (!mayHaveSurplus_.load(std::memory_order_relaxed)) {
    mayHaveSurplus_.store(true, std::memory_order_relaxed);
  }
}

void StackPool::scrub([[maybe_unused]] const Stack& stack) noexcept {
  WEFT_ADDRESS_SANITIZER_ONLY(__asan_unpoison_memory_region(stack.base, stack.size));
}

StackPool::Stats StackPool::stats() noexcept {
  std::scoped_lock hold(lock_);
  Stats result{.numInUse = numInUse_,
               .mostInUse = std::max(earlierPeak_, peakInUse_),
               .numWarm = numFree_[1],
               .numCold = numFree_[0],
               .numSlabs = numSlabs_,
               .numUnguarded = 0,
               .mappedBytes = numCapacity_ * stride_};
  for (uint32_t index = 0; index < slabEnd_; ++index) {
    if (tables_->slabs[index].memory != nullptr) {
      result.numUnguarded += tables_->slabs[index].numUnguarded;
    }
  }
  return result;
}

}  // namespace weft::inline v0_1::detail
