// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "fiber_factory.h"

#include <new>

#include "worker.h"

namespace weft::detail {
namespace {

// Stacks begin a multiple of a large power of two apart. Tops that all fell on the same cache sets would make a switch
// among very many fibers miss the cache each time, so they are spread over a few lines.
constexpr uint32_t kColours = 16;
constexpr size_t kColourStep = 64;

}  // namespace

FiberFactory::FiberFactory(Allocator* allocator, size_t stackSize)
    : allocator_(allocator), stacks_(StackPool::forSize(stackSize)) {}

FiberFactory::~FiberFactory() {
  stacks_.releaseBatch(cachedStacks_, numCachedStacks_);
  while (slabs_ != nullptr) {
    const Allocation memory = slabs_->memory;
    slabs_ = slabs_->next;
    allocator_->free(memory);
  }
}

FiberBlock* FiberFactory::create(Worker& worker, void (*entry)(void*)) {
  if (numCachedStacks_ == 0) {
    numCachedStacks_ = stacks_.acquireBatch(cachedStacks_, kStackBatch);
    if (numCachedStacks_ == 0) {
      return nullptr;
    }
  }
  FiberBlock* fiber = newBlock(worker);
  fiber->stack = cachedStacks_[--numCachedStacks_];
  const size_t colour = kColourStep * (nextColour_++ % kColours);
  fiber->os.init(fiber->stack.base, fiber->stack.size - colour, entry, &worker);
  return fiber;
}

void FiberFactory::destroy(FiberBlock& fiber) {
  fiber.os.destroy();
  stacks_.release(fiber.stack);
  fiber.stack = {};
  spareBlocks_.pushFront(fiber);
}

TimePoint FiberFactory::giveBackSurplus(TimePoint now) { return stacks_.giveBackSurplus(now); }

FiberBlock* FiberFactory::newBlock(Worker& worker) {
  if (FiberBlock* spare = spareBlocks_.popFront()) {
    const uint32_t id = spare->id;
    return ::new (spare) FiberBlock(worker, id);
  }
  if (slabs_ == nullptr || slabs_->numUsed == kBlocksPerSlab) {
    Allocation::Request request;
    request.size = sizeof(Slab);
    request.alignment = alignof(Slab);
    request.usage = Allocation::Usage::Create;
    const Allocation memory = allocator_->allocate(request);
    slabs_ = ::new (memory.ptr) Slab{slabs_, memory, 0, {}};
  }
  return ::new (slabs_->blocks[slabs_->numUsed++]) FiberBlock(worker, nextId_++);
}

}  // namespace weft::detail
