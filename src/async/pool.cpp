// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <mutex>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/container/pool_storage.h"

namespace weft::inline v0_1::detail {

void PoolStorage::release() noexcept {
  // (1) acq_rel: what was done with the other handles comes before the end of the pool; pairs with (1).
  if (pools_.fetch_sub(1, std::memory_order_acq_rel) != 1) {
    return;
  }
  lock_.lock();
  WEFT_ASSERT(firstPending_ == nullptr,
              "a BoundedPool was destroyed while somebody waits for a loan. "
              "Keep a copy until borrow() has returned.");
  const bool isLast = --numUsers_ == 0;
  lock_.unlock();
  if (isLast) {
    destroy_(this);
  }
}

PoolItem* PoolStorage::tryTake() {
  std::scoped_lock guard(lock_);
  if (free_ == nullptr) {
    return nullptr;
  }
  ++numUsers_;
  return std::exchange(free_, free_->next);
}

PoolItem* PoolStorage::take() {
  if (PoolItem* item = tryTake()) [[likely]] {
    return item;
  }
  Waiter& self = currentWaiter();
  Pending pending{&self};
  {
    std::scoped_lock guard(lock_);
    if (free_ != nullptr) {
      ++numUsers_;
      return std::exchange(free_, free_->next);
    }
    (firstPending_ != nullptr ? lastPending_->next : firstPending_) = &pending;
    lastPending_ = &pending;
  }
  block(self, "BoundedPool", this);
  return pending.item;
}

void PoolStorage::give(PoolItem* item) noexcept {
  lock_.lock();
  if (Pending* first = firstPending_) {
    firstPending_ = first->next;
    first->item = item;
    Waiter& waiter = *first->waiter;
    lock_.unlock();
    wake(waiter);
    return;
  }
  item->next = std::exchange(free_, item);
  const bool isLast = --numUsers_ == 0;
  lock_.unlock();
  if (isLast) {
    destroy_(this);
  }
}

void PoolStorage::add(PoolItem* first) noexcept {
  PoolItem* last = first;
  while (last->next != nullptr) {
    last = last->next;
  }
  std::scoped_lock guard(lock_);
  last->next = std::exchange(free_, first);
}

}  // namespace weft::inline v0_1::detail
