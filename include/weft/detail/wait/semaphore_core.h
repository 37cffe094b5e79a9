// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/debug.h"
#include "weft/detail/base/shared.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/wait/select_node.h"
#include "weft/detail/wait/wait_word.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// The word and the list behind Semaphore. The word's state is the number of permits: 0 while somebody waits.
//
// Permits are taken by a compare-exchange, whatever the bits. They are given by a compare-exchange while both
// bits are clear, and under the lock otherwise, because waiters that are queueing or queued must be found. A
// waiter queues in a step that fails if the number has changed since the waiter looked at it.
//
// A waiter for several takes what there is out of the word while it queues, and so does who gives permits
// that are not enough for the first waiter: they are set aside in `aside_`. So nobody who comes later finds a
// permit in the word. The first waiter gets all of its permits at once, or, if it gives up, leaves them to
// those behind it.
//
// A select's node waits for one permit. Whoever would give it that permit claims the select first, and drops
// the node if another case has happened. So a permit leaves for a waiter that takes it, or stays.
template <class List = WaitList, class Sync = StdSync>
class SemaphoreCore {
  using Word = WaitWord<uint32_t, List, Sync>;
  static constexpr uint32_t kOne = Word::kState;

 public:
  static constexpr uint32_t kMax = 1u << 30;

  explicit SemaphoreCore(uint32_t numPermits) : word_(numPermits * kOne) {}

  // No permit, and locked for ever.
  constexpr explicit SemaphoreCore(MovedFrom) : word_(Word::kBits) {}

  // Takes `count` permits if there are as many in the word. Returns: whether it did.
  // Requires: 0 < count < kMax.
  bool tryTake(uint32_t count = 1) {
    const uint32_t taken = count * kOne;
    uint32_t old = word_.bits.load(std::memory_order_relaxed);  // relaxed: a guess for the compare-exchange
    while (old >= taken) {
      // (1) acquire: sees what came before these permits were given; pairs with (2) and with unlockBy().
      if (word_.bits.compare_exchange_weak(old, old - taken, std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // Gives `count` permits if nobody waits. Then that is the last access to the core.
  // Requires: 0 <= count, and there is room; else a message ends the program.
  // Returns: whether it did; if not, call give().
  bool tryGive(ptrdiff_t count) {
    uint32_t old = word_.bits.load(std::memory_order_relaxed);  // relaxed: a guess for the compare-exchange
    for (check(old, count); (old & Word::kBits) == 0; check(old, count)) {
      // (2) release: publishes what came before to the taker; pairs with (1) and lockBit's acquire.
      if (word_.bits.compare_exchange_weak(old, old + static_cast<uint32_t>(count) * kOne,
                                           std::memory_order_release, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // Gives `count` permits, to the waiters first. Returns: whom to wake. The last access to the core.
  List give(ptrdiff_t count) {
    const uint32_t before = word_.lock();
    check(before + aside_.get() * kOne, count);  // one of the two is 0
    return serve(static_cast<uint32_t>(count));
  }

  // Takes `count` permits, or queues `self`. Returns: whether it took them. Requires: 0 < count < kMax.
  template <class Waiter>
  bool takeOrQueue(Waiter& self, uint32_t count = 1) {
    word_.lock();
    self.data = asData(count);
    const bool isFirst = word_.list.isEmpty();  // otherwise the state is 0, and `aside_` the first waiter's
    return word_.settle(self, [&](uint32_t& state) {
      const bool isEnough = isFirst && state >= count * kOne;
      if (isFirst) {
        aside_.set(isEnough ? 0 : state / kOne);
      }
      state = isEnough ? state - count * kOne : 0;
      return isEnough;
    });
  }

  // Takes `self` out of the list. `served` gets whom to wake: those for whom `self` has left enough.
  // Returns: whether `self` was in the list; if not, a wake is owed to it.
  template <class Waiter>
  bool giveUp(Waiter& self, List& served) {
    if (!word_.lockIfAwaited()) {
      return false;
    }
    const bool wasThere = detail::removeIfLinked(word_.list, self);
    served = serve(0);
    return wasThere;
  }

  // For a select, whose other nodes may be claimed meanwhile: takes a permit if that claims the select, or
  // queues its `node`. Returns: whether it took one. If others have claimed the select, it may do neither.
  template <class Waiter>
  bool takeOrLink(Waiter& node) {
    word_.lock();
    // Under the lock nobody gives, so that a permit that is not there does not come. It is taken before the
    // claim, since others take permits meanwhile, and a claim cannot be undone.
    if (tryTake()) {
      const bool isClaimed = claim(node);
      serve(isClaimed ? 0 : 1);  // to nobody, since nobody waits while there is a permit
      return isClaimed;
    }
    node.data = asData(1);
    word_.list.pushBack(node);
    word_.unlockTo(0);
    return false;
  }

  // Takes the `node` of a select out, if it is linked. Waits for a section that uses it. Nobody's turn comes:
  // no permits are set aside for a node, since one is all that it wants.
  template <class Waiter>
  void unlink(Waiter& node) {
    word_.lock();
    detail::removeIfLinked(word_.list, node);
    word_.unlock();
  }

  // For the destructor.
  bool isAwaited() const { return !word_.list.isEmpty(); }

 private:
  // How many permits a waiter waits for is its `data`.
  static void* asData(uint32_t count) { return reinterpret_cast<void*>(uintptr_t{count}); }
  template <class Waiter>
  static uint32_t countOf(const Waiter& waiter) {
    void* const data = waiter.data;
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(data));
  }

  // Within a section, which it ends. Serves waiters, in their order, from those set aside and `count` more.
  // Returns: whom to wake.
  List serve(uint32_t count) {
    uint32_t left = aside_.get() + count;
    List claimed;
    while (!word_.list.isEmpty() && countOf(*word_.list.front()) <= left) {
      auto& first = *word_.list.popFront();
      if (claim(first)) {
        left -= countOf(first);
        claimed.pushClaimed(ownerOf(first));
      }
    }
    const bool isAwaited = !word_.list.isEmpty();
    aside_.set(isAwaited ? left : 0);
    word_.unlockBy([added = isAwaited ? 0 : left * kOne](uint32_t state) { return state + added; });
    return claimed;
  }

  static void check(uint32_t before, ptrdiff_t count) {
    // As a size_t, a negative number is too large.
    const auto added = static_cast<size_t>(count);
    const size_t there = size_t{before} / kOne;
    WEFT_ASSERT(
        added < kMax && there + added < kMax,
        "Semaphore::release(%td) on top of %zu: release() takes 0 or more, and the count must stay below %u.",
        count, there, kMax);
  }

  Word word_;
  typename Sync::template Var<uint32_t> aside_{0};  // permits kept for the first waiter; guarded by the lock
};

}  // namespace weft::inline v0_1::detail
