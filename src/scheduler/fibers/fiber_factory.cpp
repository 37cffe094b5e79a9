// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/fibers/fiber_factory.h"

#include <atomic>
#include <new>

#include "scheduler/fibers/in_place.h"

namespace weft::inline v0_1::detail {
namespace {

// Stacks begin a multiple of a large power of two apart. If all tops fell on the same cache sets, each switch
// among very many fibers would miss the cache, so the tops are spread over a few lines.
constexpr size_t kColourStep = 64;
constexpr uint32_t kColours = FiberControlBlock::kSpread / kColourStep;

// relaxed: a hint for findByStack(). Only this thread writes it.
void setStackBase(FiberControlBlock& fiber, void* base) {
  std::atomic_ref(fiber.stackBase).store(base, std::memory_order_relaxed);
}

}  // namespace

FiberFactory::FiberFactory(Allocator* allocator, size_t stackSize)
    : allocator_(allocator), stacks_(StackPool::forSize(stackSize)) {}

FiberFactory::~FiberFactory() {
  stacks_.releaseBatch(cachedStacks_, numCachedStacks_);
  // relaxed: this thread's, or published by the end of its thread.
  for (Slab* slab = slabs_.load(std::memory_order_relaxed); slab != nullptr;) {
    const Allocation memory = slab->memory;
    slab = slab->next;
    allocator_->free(memory);
  }
}

FiberControlBlock* FiberFactory::create(Worker& worker, void (*entry)(void*)) {
  if (numCachedStacks_ == 0) {
    numCachedStacks_ = stacks_.acquireBatch(cachedStacks_, kStackBatch);
    if (numCachedStacks_ == 0) {
      return nullptr;
    }
  }
  FiberControlBlock* fiber = newBlock(worker);
  const Stack& stack = cachedStacks_[--numCachedStacks_];
  fiber->stackId = stack.id;
  setStackBase(*fiber, stack.base);
  const size_t colour = kColourStep * (nextColour_++ % kColours);
  fiber->os.init(stack.base, stack.size - colour, entry, &worker);
  fiber->scope()->inPlaceEnd = endOfTasksInPlace(stack.bottom(), stack.size);
  return fiber;
}

void FiberFactory::destroy(FiberControlBlock& fiber) {
  const Stack stack = fiber.stack();
  fiber.os.destroy();
  stacks_.release(stack);
  setStackBase(fiber, nullptr);
  spareBlocks_.pushFront(fiber);
}

TimePoint FiberFactory::giveBackSurplus(TimePoint now) { return stacks_.giveBackSurplus(now); }

FiberControlBlock* FiberFactory::newBlock(Worker& worker) {
  // A used block is as good as new but for its stack. Not constructed anew: other threads may read it.
  if (FiberControlBlock* spare = spareBlocks_.popFront()) {
    return spare;
  }
  // relaxed, all: this thread wrote it last.
  Slab* slab = slabs_.load(std::memory_order_relaxed);
  if (slab == nullptr || slab->numUsed.load(std::memory_order_relaxed) == kBlocksPerSlab) {
    const Allocation memory = allocator_->allocate(requestFor<Slab>(1, Allocation::Usage::Create));
    slab = ::new (memory.ptr) Slab{slab, memory, 0, {}};
    // (1) release: publishes the slab; pairs with the load in forEachBlock().
    slabs_.store(slab, std::memory_order_release);
  }
  const uint32_t index = slab->numUsed.load(std::memory_order_relaxed);
  auto* fiber = ::new (slab->blocks[index]) FiberControlBlock(worker, nextId_++);
  // (2) release: publishes the block; pairs with the load in forEachBlock().
  slab->numUsed.store(index + 1, std::memory_order_release);
  return fiber;
}

const FiberControlBlock* FiberFactory::findByScope(const void* scope) const {
  const FiberControlBlock* found = nullptr;
  forEachBlock([&](FiberControlBlock& fiber) { found = scope == fiber.scope() ? &fiber : found; });
  return found;
}

const FiberControlBlock* FiberFactory::findByStack(const void* scope) const {
  const auto place = reinterpret_cast<uintptr_t>(scope);
  const FiberControlBlock* found = nullptr;
  forEachBlock([&](FiberControlBlock& fiber) {
    // relaxed: a hint; see setStackBase().
    void* const base = std::atomic_ref(fiber.stackBase).load(std::memory_order_relaxed);
    if (base != nullptr && place - reinterpret_cast<uintptr_t>(base) < stacks_.stackSize()) {
      found = &fiber;
    }
  });
  return found;
}

}  // namespace weft::inline v0_1::detail
