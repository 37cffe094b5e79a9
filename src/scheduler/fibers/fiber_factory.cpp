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
  fiber->stackBase = stack.base;
  const size_t colour = kColourStep * (nextColour_++ % kColours);
  fiber->os.init(stack.base, stack.size - colour, entry, &worker);
  fiber->scope()->inPlaceEnd = endOfTasksInPlace(stack.bottom(), stack.size);
  return fiber;
}

void FiberFactory::destroy(FiberControlBlock& fiber) {
  const Stack stack = fiber.stack();
  fiber.os.destroy();
  stacks_.release(stack);
  fiber.stackBase = nullptr;
  spareBlocks_.pushFront(fiber);
}

TimePoint FiberFactory::giveBackSurplus(TimePoint now) { return stacks_.giveBackSurplus(now); }

FiberControlBlock* FiberFactory::newBlock(Worker& worker) {
  // A used block is as good as new but for its stack.
  if (FiberControlBlock* spare = spareBlocks_.popFront()) {
    return spare;
  }
  // relaxed, all: this thread wrote it last.
  Slab* slab = slabs_.load(std::memory_order_relaxed);
  if (slab == nullptr || slab->numUsed.load(std::memory_order_relaxed) == kBlocksPerSlab) {
    const Allocation memory = allocator_->allocate(requestFor<Slab>(1, Allocation::Usage::Create));
    slab = ::new (memory.ptr) Slab{slab, memory, 0, {}, {}};
    // (1) release: who reads from outside sees a whole slab; pairs with inspect/worker_reader.cpp.
    slabs_.store(slab, std::memory_order_release);
  }
  const uint32_t index = slab->numUsed.load(std::memory_order_relaxed);
  auto* fiber = ::new (slab->blocks[index]) FiberControlBlock(worker, nextId_++);
  // (2) release: who reads from outside sees a whole block; pairs with inspect/worker_reader.cpp.
  slab->numUsed.store(index + 1, std::memory_order_release);
  return fiber;
}

}  // namespace weft::inline v0_1::detail
