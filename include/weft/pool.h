// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <atomic>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/base/callable.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/container/pool_object.h"
#include "weft/detail/container/pool_storage.h"
#include "weft/memory.h"

namespace weft::inline v0_1 {

// Objects are made as by `new T`: uninitialised members keep the previous contents of the memory.
enum class PoolPolicy {
  Reconstruct,  // each loan gets a new object, which is destroyed when it is given back
  Preserve,     // objects are made with the pool, or when it grows, and go from loan to loan as they are
};

// The base of BoundedPool and UnboundedPool. Has the type of their loans.
template <class T>
class Pool {
 public:
  // For weft's own use.
  using Item = detail::PoolObject<T>;

  // An object on loan. A handle: copies share the loan, and the last copy gives the object back.
  // Lifetime: a loan may outlive its pool. Any thread may keep, copy and drop it.
  class Loan {
   public:
    // Has no object, or shares or takes over the loan `other`.
    Loan() noexcept = default;
    Loan(const Loan& other) noexcept : item_(other.item_) {
      if (item_ != nullptr) {
        // relaxed: the caller has a copy already.
        item_->loans.fetch_add(1, std::memory_order_relaxed);
      }
    }
    Loan(Loan&& other) noexcept : item_(std::exchange(other.item_, nullptr)) {}
    Loan& operator=(const Loan& other) noexcept { return *this = Loan(other); }
    // Moves. `volatile` only keeps clang from warning about `loan = std::move(pool.borrow())`.
    Loan& operator=(volatile Loan&& other) noexcept {
      Loan taken(std::move(const_cast<Loan&>(other)));
      std::swap(item_, taken.item_);
      return *this;
    }
    ~Loan() { reset(); }

    // Requires: there is an object.
    T& operator*() const {
      WEFT_ASSERT(item_ != nullptr,
                  "a Loan without an object was used: it was made by Loan(), reset, moved from, "
                  "or tryBorrow() returned false for it.");
      return *item_->object();
    }
    T* operator->() const { return &**this; }

    // Returns: the object, or null.
    T* get() const noexcept { return item_ != nullptr ? item_->object() : nullptr; }

    // Drops this copy. If it is the last one, the object goes back to its pool.
    void reset() {
      if (Item* item = std::exchange(item_, nullptr); item != nullptr && isLast(*item)) {
        if (!item->home->isPreserving()) {
          item->destroyObject();
        }
        item->home->give(item);
      }
    }

   private:
    friend class Pool;
    explicit Loan(Item* item) noexcept : item_(item) {}

    static bool isLast(Item& item) noexcept {
      // (1) acquire: a lone copy needs no read-modify-write; sees the use of the others; pairs with (2).
      return item.loans.load(std::memory_order_acquire) == 1 ||
             // (2) acq_rel: the use of this copy comes before the object is given back; pairs with (1, 2).
             item.loans.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }

    Item* item_ = nullptr;
  };

 protected:
  ~Pool() = default;

  // Makes a loan of an item that was taken from the pool.
  static Loan lend(detail::PoolItem* taken) {
    auto* item = static_cast<Item*>(taken);
    if (!item->home->isPreserving()) {
      bool isMade = false;
      detail::callAndEnd(
          [&]() noexcept(std::is_nothrow_default_constructible_v<T>) {
            item->makeObject();
            isMade = true;
          },
          [&] {
            if (!isMade) {  // a constructor that throws keeps no item
              item->home->give(item);
            }
          });
    }
    // relaxed: no other thread has it.
    item->loans.store(1, std::memory_order_relaxed);
    return Loan(item);
  }

  // Calls function(Loan&&) with `count` loans.
  template <class Borrow, class F>
  static void borrowEach(size_t count, const Borrow& borrow, const F& function) {
    constexpr bool kCanBeCalled = std::is_invocable_v<const F&, Loan>;
    static_assert(kCanBeCalled,
                  "borrow(count, f): f is const and is called with each Loan. "
                  "Write borrow(count, [&](weft::Loan<T> loan) { ... }).");
    if constexpr (kCanBeCalled) {
      detail::assertCallable(function, "Pool::borrow()");
      for (size_t i = 0; i < count; ++i) {
        function(borrow());
      }
    }
  }
};

// An object of type T on loan from a pool.
template <class T>
using Loan = typename Pool<T>::Loan;

// A pool of kCount objects, from which fibers and threads borrow.
//
//   weft::BoundedPool<Connection, 8> connections;
//   for (const std::string& url : urls) {
//     weft::schedule([=] {
//       auto connection = connections.borrow();  // waits while all eight are on loan
//       connection->fetch(url);
//     });
//   }
// A handle: copies share one pool and keep it alive. Waiters are served first in, first out.
template <class T, int kCount, PoolPolicy kPolicy = PoolPolicy::Reconstruct>
class BoundedPool : public Pool<T> {
  static_assert(kCount > 0, "a BoundedPool needs an object");

 public:
  // An object on loan from this pool.
  using Loan = typename Pool<T>::Loan;

  // The pool takes its memory from `allocator`.
  explicit(false) BoundedPool(Allocator* allocator = Allocator::Default)
      : storage_(detail::assertAllocator(allocator, "BoundedPool")
                     ->template create<Storage>(allocator, kPolicy == PoolPolicy::Preserve)) {}

  // Borrows an object. Suspends the fiber, or blocks the thread, until an object is free.
  // Memory ordering: after borrow() the caller sees what was done with the object before it was given back.
  Loan borrow() const { return this->lend(storage_->take()); }

  // Borrows `count` objects, one after the other, and calls function(Loan&&) with each.
  // Requires: if count > kCount, loans of this call are given back meanwhile. Otherwise it waits forever.
  template <class F>
  void borrow(size_t count, const F& function) const {
    this->borrowEach(count, [this] { return borrow(); }, function);
  }

  // Borrows an object if one is free.
  // Returns: the object and true, or nothing and false.
  std::pair<Loan, bool> tryBorrow() const {
    detail::PoolItem* item = storage_->tryTake();
    return item != nullptr ? std::pair(this->lend(item), true) : std::pair(Loan(), false);
  }

 private:
  using Storage = detail::BoundedStorage<T, kCount>;

  detail::PoolHandle storage_;
};

// A pool that grows when all its objects are on loan, first by thirty-two, then to twice its size.
//
//   weft::UnboundedPool<Buffer, weft::PoolPolicy::Preserve> buffers;
//   weft::Loan<Buffer> buffer = buffers.borrow();
// A handle: copies share one pool and keep it alive.
template <class T, PoolPolicy kPolicy = PoolPolicy::Reconstruct>
class UnboundedPool : public Pool<T> {
 public:
  // An object on loan from this pool.
  using Loan = typename Pool<T>::Loan;

  // The pool takes its memory from `allocator`.
  explicit(false) UnboundedPool(Allocator* allocator = Allocator::Default)
      : storage_(detail::assertAllocator(allocator, "UnboundedPool")
                     ->template create<Storage>(allocator, kPolicy == PoolPolicy::Preserve)) {}

  // Borrows an object, and allocates memory when the pool grows. Neither suspends nor blocks.
  // Memory ordering: as for BoundedPool::borrow().
  Loan borrow() const {
    detail::PoolItem* item = storage_->tryTake();
    while (item == nullptr) {
      static_cast<Storage&>(*storage_).grow();
      item = storage_->tryTake();
    }
    return this->lend(item);
  }

  // Borrows `count` objects, and calls function(Loan&&) with each.
  template <class F>
  void borrow(size_t count, const F& function) const {
    this->borrowEach(count, [this] { return borrow(); }, function);
  }

 private:
  using Storage = detail::UnboundedStorage<T>;

  detail::PoolHandle storage_;
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
