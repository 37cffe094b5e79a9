// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/base/sync.h"
#include "weft/detail/wait/wait_word.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// The word and the list behind Once.
//
//   0 -> kRunning      by the first caller
//   kRunning -> kDone  by the runner, when its function has returned; all waiters are woken
//   kRunning -> 0      by the runner, when its function has thrown and nobody waits
//   kRunning           stays, if somebody waits then: the first waiter is woken, and is the next runner
//
// The first two are a compare-exchange if nobody waits and nobody has the lock. Only the runner ends its run,
// so the run goes on until the section of a waiter that queues ends.
template <class List = WaitList, class Sync = StdSync>
class OnceCore {
 public:
  // Mine: the caller runs its function, and then calls end(). Waits: the caller is queued, and blocks.
  enum class Turn : uint8_t { Mine, Done, Stopped, Waits };

  bool isDone() const {
    // (1) acquire: sees what the function has written; pairs with (3) and with unlockTo().
    return (word_.bits.load(std::memory_order_acquire) & kDone) != 0;
  }
  // relaxed: for the destructor.
  bool isRunning() const { return (word_.bits.load(std::memory_order_relaxed) & ~kDone) != 0; }

  // Returns: whether no function runs, and it is the caller's turn.
  bool tryBegin() {
    uint32_t expected = 0;
    // (2) acquire: sees what a function that threw has written; pairs with (3) and with unlockTo().
    return word_.bits.compare_exchange_strong(expected, kRunning, std::memory_order_acquire,
                                              std::memory_order_relaxed);
  }

  // `isStopped`: the caller does not wait.
  template <class Waiter>
  Turn begin(Waiter& self, bool isStopped) {
    self.mark = kIsDone;
    Turn turn = Turn::Done;
    word_.takeOrQueue(self, [&](uint32_t& state) {
      if ((state & kDone) == 0) {
        turn = (state & kRunning) == 0 ? Turn::Mine : isStopped ? Turn::Stopped : Turn::Waits;
        state |= kRunning;
      }
      return turn != Turn::Waits;
    });
    return turn;
  }

  // For a woken waiter. Returns: Mine or Done.
  template <class Waiter>
  static Turn turnOf(const Waiter& self) {
    return self.mark == kIsNext ? Turn::Mine : Turn::Done;
  }
  template <class Waiter>
  bool giveUp(Waiter& self) {
    return word_.giveUp(self);
  }

  // Called by the runner after its function. Ends the run if nobody waits. Then that is its last access.
  // Returns: whether it did; if not, call end().
  bool tryEnd(bool hasReturned) {
    uint32_t expected = kRunning;
    // (3) release: publishes what the function has written; pairs with (1, 2) and the acquire of lockBit.
    return word_.bits.compare_exchange_strong(expected, hasReturned ? kDone : 0, std::memory_order_release,
                                              std::memory_order_relaxed);
  }

  // Returns: whom to wake. The last access, unless somebody is the next runner.
  List end(bool hasReturned) {
    word_.lock();
    List claimed;
    uint32_t next = kDone;
    if (hasReturned) {
      claimed.claimAll(word_.list);
    } else if (word_.list.isEmpty()) {
      next = 0;
    } else {
      word_.list.front()->mark = kIsNext;
      word_.list.claimFront(claimed);
      next = kRunning;
    }
    word_.unlockTo(next);
    return claimed;
  }

 private:
  using Word = WaitWord<uint32_t, List, Sync>;
  static constexpr uint32_t kDone = Word::kState, kRunning = 2 * Word::kState;

  // The Waiter::mark of a waiter that was woken.
  static constexpr uint8_t kIsDone = 0, kIsNext = 1;

  Word word_;
};

}  // namespace weft::inline v0_1::detail
