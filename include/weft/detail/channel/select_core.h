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
//   3a each one-sided primitive, such as a semaphore, is locked, one after the other; if it has what its case
//      stands for, the select claims itself and takes that, and goes on to (5); if not, a node is linked
//   4  the fiber waits, until a claimer has chosen one of the nodes, or the time or a stop has
//   5  each primitive is locked, one after the other, and the nodes that are linked still are unlinked
// All nodes of channels and events become visible at once (3), and a select that looks for partners (2) is
// not visible itself. So two selects that face each other on the same channels cannot claim each other at the
// same time, which would leave both without a partner, or waiting for each other: the one that locks first is
// found by the other.
//
// A one-sided primitive has no selects on its other side, and the claim needs no partner. So its case needs
// no other lock. In (3a) a claimer may have chosen a node that was linked before. Then the claim fails, the
// case takes nothing, and the select waits for the wake that it is owed. These cases come last because (2)
// acts without a claim: no node may be visible by then.
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
//       bool isOneSided() const       for one without a key: whether it is of a one-sided primitive
//       bool takeOrLink()             unlocked: locks; takes what it stands for if claim(node), or links
//                                     `node`; returns whether it took it
//       void unlinkAlone()            of a one-sided primitive, unlocked: as unlink()
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
    return tryEach([](Case& one, size_t) { return one.tryAlone(); });
  }

  // Steps (2, 3, 3a). Returns: the index of the case that happened, or kNone: then `choice` will tell.
  template <class Choice>
  size_t tryOrLink(Waiter& self, Choice& choice) {
    sort();
    size_t done = kNone;
    {
      const Locked locked(*this);
      done = tryEach([](Case& one, size_t) { return one.key() != nullptr && one.act(); });
      for (uint32_t i = 0; done == kNone && i < count_; ++i) {
        if (Case& one = *cases_[i]; one.key() != nullptr) {
          prepare(i, self, choice);
          one.link();
        }
      }
    }
    if (hasOneSided_ && done == kNone) [[unlikely]] {
      done = takeOrLinkOneSided(self, choice);
    }
    return done;
  }

  // (5). `chosen`: kNone, or the case whose claimer unlinked its node and may have destroyed its primitive.
  void unlink(size_t chosen) {
    for (size_t i = 0; i < count_; ++i) {
      Case& one = *cases_[i];
      if (i == chosen) {
        continue;
      }
      if (one.key() != nullptr) {
        one.unlink();
      } else if (one.isOneSided()) {
        one.unlinkAlone();
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

  template <class Choice>
  void prepare(uint32_t index, Waiter& self, Choice& choice) {
    auto& node = cases_[index]->node;
    node.owner = &self;
    node.choice = &choice;
    node.index = index;
  }

  // Step (3a), and (5) if a case has happened. It begins with a random case, too: what comes to several at
  // the same time goes to the one that was linked first. Returns: as tryOrLink().
  template <class Choice>
  [[gnu::noinline]] size_t takeOrLinkOneSided(Waiter& self, Choice& choice) {
    const size_t taken = tryEach([&](Case& one, size_t index) {
      if (!one.isOneSided()) {
        return false;
      }
      prepare(static_cast<uint32_t>(index), self, choice);
      return one.takeOrLink();
    });
    if (taken != kNone) {
      unlink(taken);
    }
    return taken;
  }

  template <class Try>
  size_t tryEach(Try&& happens) {
    for (size_t i = 0; i < count_; ++i) {
      const size_t index = first_ + i < count_ ? first_ + i : first_ + i - count_;
      if (happens(*cases_[index], index)) {
        return index;
      }
    }
    return kNone;
  }

  // Links one case for each primitive, in the order of their addresses.
  void sort() {
    inOrder_ = nullptr;
    hasOneSided_ = false;
    if constexpr (!std::is_pointer_v<Cases>) {
      sortMany();
      return;
    }
    for (size_t i = 0; i < count_; ++i) {
      Case& one = *cases_[i];
      if (one.key() == nullptr) {
        hasOneSided_ |= one.isOneSided();
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
      } else {
        hasOneSided_ |= list->isOneSided();
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
  Case* inOrder_ = nullptr;   // linked through nextInOrder
  bool hasOneSided_ = false;  // known once they are sorted
};

}  // namespace weft::inline v0_1::detail
