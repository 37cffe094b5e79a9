// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "weft/detail/base/sync.h"
#include "weft/detail/park/parker.h"

// How workers without work search, sleep and are woken.
//
// States of a worker: busy -> searching -> announced (on the list of sleepers) -> asleep. `state_` counts the
// searching and the announced ones; the list itself is guarded by a spin lock, since going to sleep and
// waking cost microseconds anyway.
//
//   producer                              worker
//   P1 publish work in a shared queue     W1 leave the searchers, announce itself (one locked section)
//   P2 lightFence                         W2 heavyFence
//   P3 look at state_: nobody searching   W3 look at every queue again
//      but somebody announced: wake one   W4 sleep
//
// What must not happen: P3 sees no sleeper (or a searcher that has already passed the queue), W3 sees no
// work, and the work stays queued beside a sleeping worker. P2 and W2 are the two fences of the
// store-buffering litmus test: at least one side sees the other. The producer runs for every task and the
// sleeper once a sleep, so the price lies on the sleeper: lightFence is a compiler barrier, heavyFence a
// membarrier system call (Dice, Huang, Yang, "Asymmetric Dekker Synchronization", 2001), or both are
// sequentially consistent fences where the system has none. Beside a running thread the call takes 16 us, so
// it is left out where no worker runs (fenceAgainstProducers).
//
// A producer that sees a searcher wakes nobody. So a searcher that stops, for whatever reason, and was the
// last one must look once more, with the same fence, and wake another if it still sees work: it may be the
// work of a producer that relied on it. Only then does "no worker sleeps while a task that it may run is
// queued" hold, even when the searcher has found a long task for itself. That includes the one that finds it
// in W3, when it counts as a searcher no more.
//
// Rejected: waking one worker per task (a wake costs the producer 12 us on a virtual machine; searchers find
// the rest), waking a second one always when the last searcher finds work (simpler, but a sparse task then
// wakes two), a sequentially consistent fence in every push (15 ns a task).
namespace weft::detail {

template <class Sync = StdSync>
class IdleSet {
 public:
  // One per worker. Listed and unlisted under the set's lock only.
  struct Sleeper {
    Parker<Sync>* parker = nullptr;
    Sleeper* newer = nullptr;
    Sleeper* older = nullptr;
    bool listed = false;
  };

  IdleSet(uint32_t numWorkers, uint32_t maxSearchers)
      : numWorkers_(numWorkers), maxSearchers_(maxSearchers) {}

  // A worker, after publishing work in a queue that every worker may take from (P2, P3).
  void onPublish() {
    // (1) the publish before the look (P2); pairs with (3).
    Sync::lightFence();
    lookForSleeper();
  }

  // Returns: whether onPublish() would wake somebody. relaxed: a hint of what that would cost.
  bool wouldWake() const { return wantsWake(state_.load(std::memory_order_relaxed)); }

  // onPublish() for a thread that is no worker.
  void onPublishFromOutside() {
    // (4) seq_cst: the publish before the look, against either kind of fence; pairs with (2, 3).
    Sync::fence(std::memory_order_seq_cst);
    lookForSleeper();
  }

  // A thread that is no worker: from now on, until it leaves, its onPublish() is as good as a worker's.
  void addExternal() {
    // relaxed: the fence orders it.
    numExternals_.fetch_add(1, std::memory_order_relaxed);
    // (5) seq_cst: the count before all that the external thread publishes; pairs with (2).
    Sync::fence(std::memory_order_seq_cst);
  }
  // relaxed: it has published its last.
  void removeExternal() { numExternals_.fetch_sub(1, std::memory_order_relaxed); }

  // Worker: becomes a searcher, unless there are enough. Returns: whether it did.
  bool tryBeginSearch() {
    // relaxed: counts only; the queues are read under their own orders.
    uint32_t state = state_.load(std::memory_order_relaxed);
    while (searching(state) < maxSearchers_) {
      // relaxed: likewise.
      if (state_.compare_exchange_weak(state, state + kOneSearching, std::memory_order_relaxed,
                                       std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // Searcher, stopping because it has found something to do. The last one hands its duty on.
  template <class Host>
  void endSearch(Host& host) {
    // relaxed: the fence orders it against the look at the queues.
    const uint32_t old = state_.fetch_sub(kOneSearching, std::memory_order_relaxed);
    if (searching(old) == 1 && sleeping(old) != 0) {
      fenceAgainstProducers(sleeping(old) + 1 == numWorkers_);
      handOn(host);
    }
  }

  // A worker that is busy now but was, up to a heavyFence, the searcher on whom producers may have relied.
  template <class Host>
  void handOn(Host& host) {
    if (host.seesSharedWork()) {
      wakeOne();
    }
  }

  // Worker: lists itself as the newest sleeper (W1), and fences (W2). A searcher stops being one in the same
  // step.
  void addSleeper(Sleeper& self, bool wasSearching) {
    fenceAgainstProducers(list(self, wasSearching) == numWorkers_);
  }

  // Worker: takes itself off the list. Returns: true if a waker had taken it off before, and so made it a
  // searcher.
  bool removeSleeper(Sleeper& self) {
    const std::lock_guard<typename Sync::Lock> guard(lock_);
    if (!self.listed) {
      return true;
    }
    unlink(self);
    // relaxed: under the lock; producers only compare it.
    state_.fetch_sub(kOneSleeping, std::memory_order_relaxed);
    return false;
  }

  // Wakes the worker that went to sleep last, as a searcher, if nobody searches. Touches nothing of the set
  // or of the worker after the wake but the parker, which outlives both.
  [[gnu::noinline]] void wakeOne() {
    Parker<Sync>* parker = nullptr;
    {
      const std::lock_guard<typename Sync::Lock> guard(lock_);
      // relaxed: under the lock.
      if (!wantsWake(state_.load(std::memory_order_relaxed)) || newest_ == nullptr) {
        return;
      }
      Sleeper& chosen = *newest_;
      parker = chosen.parker;
      unlink(chosen);
      // relaxed: likewise.
      state_.fetch_add(kOneSearching - kOneSleeping, std::memory_order_relaxed);
    }
    parker->unpark();
  }

 private:
  static constexpr uint32_t kOneSearching = 1;
  static constexpr uint32_t kOneSleeping = 1u << 16;
  static uint32_t searching(uint32_t state) { return state & 0xffff; }
  static uint32_t sleeping(uint32_t state) { return state >> 16; }
  static bool wantsWake(uint32_t state) { return searching(state) == 0 && sleeping(state) != 0; }

  void lookForSleeper() {
    // relaxed: the fence before orders it.
    if (wantsWake(state_.load(std::memory_order_relaxed))) [[unlikely]] {
      wakeOne();
    }
  }

  // The worker's side of P2. `othersSleep`: state_ said that every other worker was on the list. Those have
  // published what they had to, and one that has left the list since did so by a later change of state_, so
  // that it sees this worker's change when it publishes; only threads that are no workers may not, and their
  // fence is a full one, or they are external threads.
  void fenceAgainstProducers(bool othersSleep) {
    if (othersSleep) {
      // (2) seq_cst: the change of state_ before the look at the external threads and at the queues; pairs
      // with (4, 5).
      Sync::fence(std::memory_order_seq_cst);
      // relaxed: the fence orders it.
      if (numExternals_.load(std::memory_order_relaxed) == 0) {
        return;
      }
    }
    // (3) likewise, against light fences too; pairs with (1, 4).
    Sync::heavyFence();
  }

  // Returns: how many are listed now.
  uint32_t list(Sleeper& self, bool wasSearching) {
    const std::lock_guard<typename Sync::Lock> guard(lock_);
    self.listed = true;
    self.newer = nullptr;
    self.older = newest_;
    if (newest_ != nullptr) {
      newest_->newer = &self;
    }
    newest_ = &self;
    // relaxed: a fence follows (W2).
    return sleeping(state_.fetch_add(kOneSleeping - (wasSearching ? kOneSearching : 0),
                                     std::memory_order_relaxed)) +
           1;
  }

  void unlink(Sleeper& sleeper) {
    sleeper.listed = false;
    (sleeper.newer != nullptr ? sleeper.newer->older : newest_) = sleeper.older;
    if (sleeper.older != nullptr) {
      sleeper.older->newer = sleeper.newer;
    }
  }

  typename Sync::template Atomic<uint32_t> state_{0};  // searching | sleeping << 16
  typename Sync::template Atomic<uint32_t> numExternals_{0};
  const uint32_t numWorkers_;
  const uint32_t maxSearchers_;
  typename Sync::Lock lock_;
  Sleeper* newest_ = nullptr;  // guarded by lock_
};

// Looks for work until there is some for `host`'s worker, asleep in between. `searching`: whether the worker
// counts as a searcher already; it does not when this returns.
//
// Host: bool findOwnWork()        ready fibers, inbox, own tasks, due timers, or the order to end
//       bool findSharedWork()     injector, and one steal attempt at each victim; keeps what it finds
//       bool seesSharedWork()     whether any such queue looks non-empty
//       bool spinForWork()        both of these, again and again for a while
//       bool spinOnInbox()        a short wait for a wake from outside, without searching
//       bool tryParkInbox(), void cancelParkInbox()
//       void tidyUp()             may take long: called while nobody relies on this worker
//       void park()               until unparked, the worker's earliest timer, or the time to tidy up
template <class Sync, class Host>
void waitForSharedWork(IdleSet<Sync>& idle, typename IdleSet<Sync>::Sleeper& self, Host& host) {
  bool searching = false;
  for (;;) {
    if (!searching) {
      host.tidyUp();
    }
    searching = searching || idle.tryBeginSearch();
    bool found =
        searching ? host.spinForWork() : host.findOwnWork() || host.findSharedWork() || host.spinOnInbox();
    const bool hasLooked = !found;
    if (hasLooked) {
      idle.addSleeper(self, searching);
      searching = false;
      found = host.findOwnWork() || host.findSharedWork();
      if (!found && host.tryParkInbox()) {
        host.park();
        host.cancelParkInbox();
      }
      searching = idle.removeSleeper(self);
    }
    if (found && searching) {
      idle.endSearch(host);
    } else if (found && hasLooked) {
      idle.handOn(host);
    }
    if (found) {
      return;
    }
  }
}

}  // namespace weft::detail
