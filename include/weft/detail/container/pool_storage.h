// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "weft/detail/base/sync.h"
#include "weft/detail/wait/waiter.h"
#include "weft/export.h"

// The untyped part of pools: free items and waiters for them.
namespace weft::inline v0_1::detail {

class PoolStorage;

struct PoolItem {
  PoolStorage* home = nullptr;
  PoolItem* next = nullptr;        // in the list of free items; guarded by the storage's lock
  std::atomic<uint32_t> loans{0};  // copies of the Loan: the first is stored, further ones add to it
};

// The items of a pool: they live as long as the pool or a loan of it does.
class PoolStorage {
 public:
  // Calls destroy(storage) once neither pool nor loan is left.
  PoolStorage(bool isPreserving, void (*destroy)(PoolStorage*)) noexcept
      : isPreserving_(isPreserving), destroy_(destroy) {}

  bool isPreserving() const { return isPreserving_; }

  // For handles of the pool. relaxed: the caller has one already.
  void retain() noexcept { pools_.fetch_add(1, std::memory_order_relaxed); }
  WEFT_EXPORT void release() noexcept;

  // Takes the item that became free last. Returns: null if no item is free.
  WEFT_EXPORT PoolItem* tryTake();
  // As tryTake(), but waits for its turn if no item is free.
  WEFT_EXPORT PoolItem* take();
  // Gives an item to the first waiter, or makes it a free item. The storage may be gone afterwards.
  WEFT_EXPORT void give(PoolItem* item) noexcept;
  // Adds new free items: a list, linked through `next`.
  WEFT_EXPORT void add(PoolItem* first) noexcept;

 protected:
  ~PoolStorage() = default;

 private:
  // Lies in a waiter's frame.
  struct Pending {
    Waiter* waiter;
    PoolItem* item = nullptr;
    Pending* next = nullptr;
  };

  const bool isPreserving_;
  void (*const destroy_)(PoolStorage*);
  std::atomic<uint32_t> pools_{1};
  StdSync::Lock lock_;
  PoolItem* free_ = nullptr;  // all guarded by lock_
  Pending* firstPending_ = nullptr;
  Pending* lastPending_ = nullptr;
  uint64_t numUsers_ = 1;  // items that are not free, and one for the pool
};

// A counted pointer to a storage.
class PoolHandle {
 public:
  // Takes over the count of a new storage.
  explicit PoolHandle(PoolStorage* storage) noexcept : storage_(storage) {}
  PoolHandle(const PoolHandle& other) noexcept : storage_(other.storage_) { storage_->retain(); }
  PoolHandle& operator=(PoolHandle other) noexcept {
    std::swap(storage_, other.storage_);
    return *this;
  }
  ~PoolHandle() { storage_->release(); }

  PoolStorage* operator->() const noexcept { return storage_; }
  PoolStorage& operator*() const noexcept { return *storage_; }

 private:
  PoolStorage* storage_;
};

}  // namespace weft::inline v0_1::detail
