// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>

#include "weft/detail/container/pool_storage.h"
#include "weft/memory.h"

// The typed part of pools: items, room for their objects, and the two kinds of storage. The room lies apart
// from the items, and only an object's constructor writes to it: an unused large object costs no page.
namespace weft::inline v0_1::detail {

// Room for an object. The constructor keeps `ObjectRoom<T>()` from filling it with zeros.
template <class T>
struct ObjectRoom {
  ObjectRoom() noexcept {}  // NOLINT(modernize-use-equals-default): that would be trivial
  alignas(T) unsigned char bytes[sizeof(T)];
};

template <class T>
struct PoolObject : PoolItem {
  T* object() noexcept { return std::launder(reinterpret_cast<T*>(room->bytes)); }
  // As `new T`, not `new T()`: members that T does not initialise stay as they are.
  void makeObject() { ::new (static_cast<void*>(room->bytes)) T; }
  void destroyObject() noexcept { std::destroy_at(object()); }

  ObjectRoom<T>* room = nullptr;
};

template <class T>
void setRooms(PoolObject<T>* items, ObjectRoom<T>* rooms, size_t count) noexcept {
  for (size_t i = 0; i < count; ++i) {
    items[i].room = &rooms[i];
  }
}

template <class T>
void destroyObjects(PoolObject<T>* items, size_t count) noexcept {
  for (size_t i = 0; i < count; ++i) {
    items[i].destroyObject();
  }
}

// Makes the objects of all items or, if one throws, of none.
template <class T>
void makeObjects(PoolObject<T>* items, size_t count) {
  struct DestroyUnlessDone {
    PoolObject<T>* items;
    size_t numMade = 0;
    ~DestroyUnlessDone() { detail::destroyObjects(items, numMade); }
  } guard{items};
  for (; guard.numMade < count; ++guard.numMade) {
    items[guard.numMade].makeObject();
  }
  guard.numMade = 0;
}

// Makes the items free items of `home`.
template <class T>
void addItems(PoolStorage& home, PoolObject<T>* items, size_t count) noexcept {
  for (size_t i = 0; i < count; ++i) {
    items[i].home = &home;
    items[i].next = i + 1 < count ? &items[i + 1] : nullptr;
  }
  home.add(items);
}

template <class T, int kCount>
struct BoundedStorage final : PoolStorage {
  BoundedStorage(Allocator* from, bool preserves) : PoolStorage(preserves, &destroy), allocator(from) {
    detail::setRooms(items, rooms, kCount);
    if (preserves) {
      detail::makeObjects(items, kCount);
    }
    detail::addItems(*this, items, kCount);
  }

  static void destroy(PoolStorage* storage) {
    auto* self = static_cast<BoundedStorage*>(storage);
    if (self->isPreserving()) {
      detail::destroyObjects(self->items, kCount);
    }
    self->allocator->destroy(self);
  }

  Allocator* const allocator;
  PoolObject<T> items[size_t{kCount}];
  ObjectRoom<T> rooms[size_t{kCount}];
};

template <class T>
struct UnboundedStorage final : PoolStorage {
  struct Chunk {
    Allocator::unique_ptr<PoolObject<T>> items;
    Allocator::unique_ptr<ObjectRoom<T>> rooms;
    size_t count;
    Chunk* next;
  };

  UnboundedStorage(Allocator* from, bool preserves) : PoolStorage(preserves, &destroy), allocator(from) {}

  // Any thread. Threads that find no free item at the same time each add some.
  void grow() {
    // relaxed: by how much it grows does not matter.
    const size_t count = std::max<size_t>(size.load(std::memory_order_relaxed), 32);
    auto items = allocator->make_unique_n<PoolObject<T>>(count);
    PoolObject<T>* const first = items.get();
    auto rooms = allocator->make_unique_n<ObjectRoom<T>>(count);
    detail::setRooms(first, rooms.get(), count);
    auto chunk = allocator->make_unique<Chunk>(Chunk{std::move(items), std::move(rooms), count, nullptr});
    if (isPreserving()) {
      detail::makeObjects(first, count);
    }
    size.fetch_add(count, std::memory_order_relaxed);
    // relaxed: read when no other thread has the storage any more.
    chunk->next = chunks.load(std::memory_order_relaxed);
    while (!chunks.compare_exchange_weak(chunk->next, chunk.get(), std::memory_order_relaxed,
                                         std::memory_order_relaxed)) {
    }
    (void)chunk.release();
    detail::addItems(*this, first, count);
  }

  static void destroy(PoolStorage* storage) {
    auto* self = static_cast<UnboundedStorage*>(storage);
    Allocator* const allocator = self->allocator;
    // relaxed: no other thread has the storage any more.
    for (Chunk* chunk = self->chunks.load(std::memory_order_relaxed); chunk != nullptr;) {
      Chunk* next = chunk->next;
      if (self->isPreserving()) {
        detail::destroyObjects(chunk->items.get(), chunk->count);
      }
      allocator->destroy(chunk);
      chunk = next;
    }
    allocator->destroy(self);
  }

  Allocator* const allocator;
  std::atomic<size_t> size{0};
  std::atomic<Chunk*> chunks{nullptr};  // only grows
};

}  // namespace weft::inline v0_1::detail
