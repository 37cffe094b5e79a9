// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "os/stack_pool.h"
#include "os/stack_slab.h"
#include "os/stack_system.h"

// How a pool gives memory back to the system.
namespace weft::inline v0_1::detail {

void StackPool::trim(size_t keepFree) noexcept {
  std::scoped_lock alone(trimming_);
  uint32_t index;
  {
    std::scoped_lock hold(lock_);
    index = slabEnd_;
  }
  trimBelow(index, keepFree, SIZE_MAX);
}

// Trims slabs below `end`, highest first, until `budget` stacks, or a slab more, are given back.
// Requires: trimming_ is held. Returns: the index below which slabs are left to trim.
uint32_t StackPool::trimBelow(uint32_t end, size_t keepFree, size_t budget) noexcept {
  while (end != 0 && budget != 0) {
    Cut cut;
    if (!cutSlab(--end, keepFree, cut)) {
      continue;
    }
    size_t count = 0;
    for (const uint64_t bits : cut.warm) {
      count += static_cast<size_t>(std::popcount(bits));
    }
    if (cut.isWhole) {
      count = tables_->slabs[end].numCarved;
      unmapSlab(end, cut);
    } else {
      coolStacks(end, cut);
    }
    budget -= std::min(budget, count);
  }
  return end;
}

// Takes surplus stacks of a slab out of the tables, to work unlocked. Returns: false if none.
bool StackPool::cutSlab(uint32_t index, size_t keepFree, Cut& cut) noexcept {
  std::scoped_lock hold(lock_);
  Slab& slab = tables_->slabs[index];
  if (slab.memory == nullptr) {
    return false;
  }
  cut = {};
  cut.isWhole = slab.isEmpty() && numFree_[0] + numFree_[1] >= keepFree + slab.numCarved &&
                (slab.numFree[1] == 0 || numFree_[1] >= keepFree + slab.numFree[1]);
  size_t numToCool = numFree_[1] - std::min(numFree_[1], keepFree);
  for (uint32_t slot = slab.numCarved; slot-- != 0;) {
    if (isSet(slab.free[1], slot) && (cut.isWhole || numToCool != 0)) {
      numToCool -= cut.isWhole ? 0 : 1;
      unmarkFree(index, slot, true);
      setBit(cut.warm, slot);
    } else if (cut.isWhole && isSet(slab.free[0], slot)) {
      unmarkFree(index, slot, false);
    }
  }
  if (cut.isWhole && fresh_ == index) {
    fresh_ = kNoSlab;
  }
  return cut.isWhole || std::any_of(cut.warm, cut.warm + kWords, [](uint64_t bits) { return bits != 0; });
}

void StackPool::unmapSlab(uint32_t index, const Cut& cut) noexcept {
  // No stack of the slab is free or in use: it belongs to this call.
  Slab& slab = tables_->slabs[index];
  const size_t bytes = slab.capacity * stride_;
  unregisterRoots(slab.memory, bytes);
  if (stackSystem.unmap(slab.memory, bytes) != 0) {
    // The system lacks the memory to split a mapping. The stacks stay.
    registerRoots(slab.memory, bytes);
    coolStacks(index, cut);
    return;
  }
  for (uint32_t slot = 0; slab.valgrindIds != nullptr && slot < slab.numCarved; ++slot) {
    valgrindForget(slab.valgrindIds[slot]);
  }
  std::free(slab.valgrindIds);
  forgetProtectedGuards(slab.numProtected);
  std::scoped_lock hold(lock_);
  --numSlabs_;
  numCapacity_ -= slab.capacity;
  slab.memory = nullptr;
  clearBit(tables_->mapped, index);
  while (slabEnd_ != 0 && !isSet(tables_->mapped, slabEnd_ - 1)) {
    --slabEnd_;
  }
}

void StackPool::coolStacks(uint32_t index, const Cut& cut) noexcept {
  const Slab& slab = tables_->slabs[index];
  uint64_t stillWarm[kWords] = {};
  for (uint32_t slot = 0; slot < slab.capacity; ++slot) {
    const uint32_t first = slot;
    while (slot < slab.capacity && isSet(cut.warm, slot)) {
      ++slot;
    }
    // Guards survive this, so that a run of neighbours is one piece.
    if (slot != first && stackSystem.advise(stackAt(index, first).base,
                                            (slot - first) * stride_ - guardSize(), MADV_DONTNEED) != 0) {
      for (uint32_t i = first; i < slot; ++i) {
        setBit(stillWarm, i);
      }
    }
  }
  std::scoped_lock hold(lock_);
  for (uint32_t slot = 0; slot < slab.numCarved; ++slot) {
    if (cut.isWhole || isSet(cut.warm, slot)) {
      markFree(index, slot, isSet(stillWarm, slot));
    }
  }
  if (cut.isWhole && slab.numCarved < slab.capacity && fresh_ == kNoSlab) {
    fresh_ = index;
  }
}

TimePoint StackPool::giveBackSurplus(TimePoint now) noexcept {
  // relaxed: hints; the code behind them tests again under the lock.
  if (!mayHaveSurplus_.load(std::memory_order_relaxed)) {
    return TimePoint::max();
  }
  TimePoint next{TimePoint::duration{nextCheck_.load(std::memory_order_relaxed)}};
  if (now < next) {
    return next;
  }
  const std::unique_lock alone(trimming_, std::try_to_lock);
  if (!alone.owns_lock()) {
    return now + kTrimPause;
  }
  {
    std::scoped_lock hold(lock_);
    // relaxed, as the two stores below: the lock orders them.
    next = TimePoint{TimePoint::duration{nextCheck_.load(std::memory_order_relaxed)}};
    if (now < next) {
      return next;
    }
    if (surplusEnd_ == 0) {
      periodEnd_ = now + kPeriod;
      surplusKept_ = peakInUse_ - numInUse_;
      surplusEnd_ = slabEnd_;
      earlierPeak_ = std::max(earlierPeak_, peakInUse_);
      peakInUse_ = numInUse_;
    }
  }
  surplusEnd_ = trimBelow(surplusEnd_, surplusKept_, kTrimmedAtOnce);
  next = surplusEnd_ != 0 ? now + kTrimPause : periodEnd_;
  std::scoped_lock hold(lock_);
  nextCheck_.store(next.time_since_epoch().count(), std::memory_order_relaxed);
  if (surplusEnd_ == 0 && surplusKept_ == 0 && peakInUse_ == numInUse_) {
    mayHaveSurplus_.store(false, std::memory_order_relaxed);
    return TimePoint::max();
  }
  return next;
}

}  // namespace weft::inline v0_1::detail
