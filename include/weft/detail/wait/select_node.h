// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/base/sync.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// Which of the events that a select waits for has happened. It lies in the frame of the waiter.
//
// A claimer that has unlinked one of the select's nodes, under the lock of the primitive, claims the select
// only if it moves this word from kNone. Otherwise it drops the node and takes the next waiter. So exactly
// one of the claimers, the deadline and the stop wins. The others have touched nothing but this word, under a
// lock that the select takes once more before it returns.
template <class Sync = StdSync>
class SelectChoice {
 public:
  // Any thread. Returns: whether `index` is now the choice.
  bool tryChoose(uint32_t index) {
    uint32_t expected = kNone;
    // (1) relaxed: the lock has brought the node, and the wake will bring what was done with it.
    return choice_.compare_exchange_strong(expected, index, std::memory_order_relaxed,
                                           std::memory_order_relaxed);
  }

  // For the owner, after it was woken or has chosen itself.
  uint32_t get() const { return choice_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  typename Sync::template Atomic<uint32_t> choice_{kNone};
};

// What a select links into a primitive, one for each case. A claim of the node wakes its owner.
template <class Sync = StdSync>
struct SelectNode : Waiter {
  SelectNode() { isOfSelect = true; }

  Waiter* owner = nullptr;
  SelectChoice<Sync>* choice = nullptr;
  uint32_t index = 0;
};

// For whoever has unlinked `waiter`. Returns: whether it has claimed it, and owes ownerOf(waiter) a wake.
template <class Sync = StdSync>
bool claim(Waiter& waiter) noexcept {
  if (!waiter.isOfSelect) [[likely]] {
    return true;
  }
  auto& node = static_cast<SelectNode<Sync>&>(waiter);
  return node.choice->tryChoose(node.index);
}

template <class Sync = StdSync>
Waiter& ownerOf(Waiter& waiter) noexcept {
  return !waiter.isOfSelect ? waiter : *static_cast<SelectNode<Sync>&>(waiter).owner;
}

}  // namespace weft::inline v0_1::detail
