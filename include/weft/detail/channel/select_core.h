// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "weft/detail/wait/select_node.h"
#include "weft/detail/wait/waiter.h"

// The protocol of select().
//
//   1  each case is tried alone
//   2  all primitives are locked, in the order of their addresses; each case is tried again
//   3  where none can happen a node is linked for each; all are unlocked
//   4  the fiber waits, until a claimer has chosen one of the nodes, or the time or a stop has
//   5  each primitive is locked, one after the other, and the nodes that are linked still are unlinked
// All nodes become visible at once (3), and a select that looks for partners (2) is not visible itself. So
// two selects that face each other on the same channels cannot claim each other at the same time, which would
// leave both without a partner, or waiting for each other: the one that locks first is found by the other.
//
// Rejected: linking the nodes one by one, as in Reppy, Russo and Xiao, "Parallel Concurrent ML" (2009). A
// select that finds a partner must first claim itself; if the partner is taken, it must undo that and look at
// everything again. So finer locks cost more atomic operations without contention.
//
// What must not happen: a claimer that lost uses a node whose select has returned. It cannot: it looks at the
// node under the lock of a primitive in which the select has linked it, and the select takes that lock in
// (5).
namespace weft::inline v0_1::detail {

// Case: const void* key() const       the address of its primitive; null: nothing to lock
//       void lock(), unlock()         its primitive, unless another case of this select has locked that;
//                                     they wake nobody
//       void shareLock(Case& other)   `other` has the same key, and is locked instead of this case
//       bool act()                    locked: tries it; returns whether it happened
//       bool tryAlone()               unlocked: the same
//       void link()                   locked: links `node`
//       void unlink()                 unlocked: locks, and unlinks `node` if it is linked
//       void wake()                   unlocked: wakes those that act() has claimed
//       SelectNode<Sync> node
//       Case* nextInOrder             links the cases that are to be locked
// Cases: an array of Case*, for a few; or what has its operator[], for any number
template <class Case, class Cases = Case* const*>
class SelectCore {
 public:
  // Requires: the cases are different objects. `first` is the case to try first.
  SelectCore(Cases cases, size_t count, size_t first) : cases_(cases), count_(count), first_(first) {}
  SelectCore(const SelectCore&) = delete;

  static constexpr size_t kNone = SIZE_MAX;

  // Step (1). Returns: the index of the case that happened, or kNone.
  size_t tryEachAlone() {
    return tryEach([](Case& one) { return one.tryAlone(); });
  }

  // Steps (2, 3). Returns: the index of the case that happened, or kNone: then `choice` will tell.
  template <class Choice>
  size_t tryOrLink(Waiter& self, Choice& choice) {
    sort();
    size_t done = kNone;
    {
      const Locked locked(*this);
      done = tryEach([](Case& one) { return one.key() != nullptr && one.act(); });
      for (uint32_t i = 0; done == kNone && i < count_; ++i) {
        if (Case& one = *cases_[i]; one.key() != nullptr) {
          one.node.owner = &self;
          one.node.choice = &choice;
          one.node.index = i;
          one.link();
        }
      }
    }
    return done;
  }

  // (5). `chosen`: kNone, or the case whose claimer unlinked its node and may have destroyed its primitive.
  void unlink(size_t chosen) {
    for (size_t i = 0; i < count_; ++i) {
      if (i != chosen && cases_[i]->key() != nullptr) {
        cases_[i]->unlink();
      }
    }
  }

 private:
  // Locks all primitives. After unlocking them, wakes the waiters that were claimed.
  struct Locked {
    explicit Locked(SelectCore& core) : first(core.inOrder_) {
      for (Case* one = first; one != nullptr; one = one->nextInOrder) {
        one->lock();
      }
    }
    ~Locked() {
      for (Case* one = first; one != nullptr; one = one->nextInOrder) {
        one->unlock();
      }
      for (Case* one = first; one != nullptr; one = one->nextInOrder) {
        one->wake();
      }
    }
    Locked(const Locked&) = delete;

    Case* const first;
  };

  template <class Try>
  size_t tryEach(Try&& happens) {
    for (size_t i = 0; i < count_; ++i) {
      const size_t index = first_ + i < count_ ? first_ + i : first_ + i - count_;
      if (happens(*cases_[index])) {
        return index;
      }
    }
    return kNone;
  }

  // Links one case for each primitive, in the order of their addresses.
  void sort() {
    inOrder_ = nullptr;
    if constexpr (!std::is_pointer_v<Cases>) {
      sortMany();
      return;
    }
    for (size_t i = 0; i < count_; ++i) {
      Case& one = *cases_[i];
      if (one.key() == nullptr) {
        continue;
      }
      Case** at = &inOrder_;
      while (*at != nullptr &&
             reinterpret_cast<uintptr_t>((*at)->key()) < reinterpret_cast<uintptr_t>(one.key())) {
        at = &(*at)->nextInOrder;
      }
      if (*at != nullptr && (*at)->key() == one.key()) {
        one.shareLock(**at);
      } else {
        one.nextInOrder = *at;
        *at = &one;
      }
    }
  }

  static uintptr_t placeOf(const Case& one) { return reinterpret_cast<uintptr_t>(one.key()); }

  // As sort(), by merging: lists[i] has 2^i cases in their order, or none.
  void sortMany() {
    Case* lists[32] = {};
    for (size_t i = 0; i < count_; ++i) {
      if (Case* list = cases_[i]; list->key() != nullptr) {
        list->nextInOrder = nullptr;
        size_t at = 0;
        for (; lists[at] != nullptr; ++at) {
          list = merged(std::exchange(lists[at], nullptr), list);
        }
        lists[at] = list;
      }
    }
    for (Case* list : lists) {
      inOrder_ = merged(list, inOrder_);
    }
    for (Case* one = inOrder_; one != nullptr; one = one->nextInOrder) {
      for (Case* next = one->nextInOrder; next != nullptr && next->key() == one->key();
           next = next->nextInOrder) {
        next->shareLock(*one);
        one->nextInOrder = next->nextInOrder;
      }
    }
  }

  static Case* merged(Case* left, Case* right) {
    Case* first = nullptr;
    Case** end = &first;
    while (left != nullptr && right != nullptr) {
      Case*& least = placeOf(*right) < placeOf(*left) ? right : left;
      *end = least;
      end = &least->nextInOrder;
      least = least->nextInOrder;
    }
    *end = left != nullptr ? left : right;
    return first;
  }

  const Cases cases_;
  const size_t count_;
  const size_t first_;
  Case* inOrder_ = nullptr;  // linked through nextInOrder
};

}  // namespace weft::inline v0_1::detail
