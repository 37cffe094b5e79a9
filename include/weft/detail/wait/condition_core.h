// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/base/sync.h"
#include "weft/detail/wait/wait_word.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// The word and the list behind ConditionVariable, which has no state.
//
// A waiter queues before it releases the lock that guards the condition. Whoever changes the condition under
// that lock afterwards sees in the word that somebody waits. So a notify with no waiters is one load.
template <class List = WaitList, class Sync = StdSync>
class ConditionCore {
 public:
  // relaxed: the lock of the condition orders it.
  bool isAwaited() const { return word_.bits.load(std::memory_order_relaxed) != 0; }

  template <class Waiter>
  void queue(Waiter& self) {
    word_.lock();
    word_.list.pushBack(self);
    word_.unlockTo(0);
  }
  template <class Waiter>
  bool giveUp(Waiter& self) {
    return word_.giveUp(self);
  }

  // Each returns whom to wake. The last access to the core.
  auto* claimFirst() {
    word_.lock();
    auto* first = word_.list.popFront();
    word_.unlockTo(0);
    return first;
  }
  List claimAll() {
    word_.lock();
    List claimed = word_.claimAll();
    word_.unlockTo(0);
    return claimed;
  }

 private:
  WaitWord<uint32_t, List, Sync> word_;
};

}  // namespace weft::inline v0_1::detail
