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
// searching and the announced workers. A spin lock guards the list.
//
//   producer                              worker
//   P1 publish work in a shared queue     W1 leave the searchers, announce itself (one locked section)
//   P2 lightFence                         W2 heavyFence
//   P3 look at state_: nobody searching   W3 look at every queue again
//      but somebody announced: wake one   W4 sleep
//
// What must not happen: P3 sees no sleeper (or a searcher that has already passed the queue), W3 sees no
// work, and the work stays queued beside a sleeping worker. P2 and W2 are the two fences of the
// store-buffering litmus test: at least one side sees the other. The producer's side runs for every task, the
// worker's side once a sleep, so the worker pays. heavyFence takes 16 us beside a running thread, so it is
// left out when no worker runs (fenceAgainstProducers).
//
// A producer that sees a searcher wakes nobody. So the last searcher that stops, for any reason, looks once
// more, with the same fence, and wakes another worker if it sees work: the producer of that work may have
// relied on it. Only then does "no worker sleeps while a task that it may run is queued" hold, even when the
// searcher has found a long task for itself. A worker that finds its task in W3 does this, too.
//
// Rejected:
// - Waking one worker per task. A wake costs the producer 12 us on a virtual machine.
// - Always waking a second worker when the last searcher finds work. A sparse task then wakes two workers.
// - A sequentially consistent fence in every push. It costs 15 ns a task.
namespace weft::inline v0_1::detail {

template <class Sync = StdSync>
class IdleSet {
 public:
  // One per worker. The set's lock guards the links.
  struct Sleeper {
    Parker<Sync>* parker = nullptr;
    Sleeper* newer = nullptr;
    Sleeper* older = nullptr;
    bool listed = false;
  };

  explicit IdleSet(uint32_t numWorkers) : numWorkers_(numWorkers) {}

  // Called by a worker after it has published work in a queue that every worker may take from (P2, P3).
  void onPublish() {
    // (1) the publish before the look (P2); pairs with (3).
    Sync::lightFenceWhereFree();
    const uint32_t state = state_.load(std::memory_order_relaxed);  // relaxed: the fence orders it
    if (state != 0 && (areFencesFull(state) || wantsWake(state))) [[unlikely]] {
      onPublishFromOutside();
    }
  }

  // Returns: whether onPublish() would wake a worker. relaxed: a hint.
  bool wouldWake() const { return wantsWake(state_.load(std::memory_order_relaxed)); }

  // onPublish() for a thread that is not a worker.
  void onPublishFromOutside() {
    // (4) seq_cst: the publish before the look, against either kind of fence; pairs with (2, 3).
    Sync::fence(std::memory_order_seq_cst);
    // relaxed: the fence orders it.
    if (wantsWake(state_.load(std::memory_order_relaxed))) [[unlikely]] {
      wakeOne();
    }
  }

  // Called by a thread that is not a worker. Until removeExternal(), it may call onPublish() as workers do.
  void addExternal() {
    numExternals_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the fence orders it
    // (5) seq_cst: the count before all that the thread publishes; pairs with (2).
    Sync::fence(std::memory_order_seq_cst);
  }
  // relaxed: the thread publishes nothing more.
  void removeExternal() { numExternals_.fetch_sub(1, std::memory_order_relaxed); }

  // Called by a worker that becomes a searcher. relaxed: only a count; the queues have orders of their own.
  void beginSearch() { state_.fetch_add(kOneSearching, std::memory_order_relaxed); }

  // Called by a searcher that has found something to do. The last searcher hands its duty on.
  template <class Host>
  void endSearch(Host& host) {
    // relaxed: the fence orders it against the look at the queues.
    const uint32_t old = state_.fetch_sub(kOneSearching, std::memory_order_relaxed);
    if (searching(old) == 1 && sleeping(old) != 0) {
      fenceAgainstProducers(sleeping(old) + 1 == numWorkers_);
      handOn(host);
    }
  }

  // Called by a busy worker that was a searcher until its heavyFence: producers may have relied on it.
  template <class Host>
  void handOn(Host& host) {
    if (host.seesSharedWork()) {
      wakeOne();
    }
  }

  // Called by a searcher: makes it the newest sleeper instead (W1), and fences (W2).
  void addSleeper(Sleeper& self) { fenceAgainstProducers(list(self) == numWorkers_); }

  // Called by a worker: takes it off the list.
  // Returns: true if a waker has taken it off before, and so made it a searcher.
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

  // If no worker searches, makes the newest sleeper a searcher, and wakes it. Its parker outlives it.
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
      state_.fetch_add(kOneSearching - kOneSleeping, std::memory_order_relaxed);  // relaxed: under the lock
    }
    parker->unpark();
  }

 private:
  static constexpr uint32_t kOneSearching = 1;
  static constexpr uint32_t kOneSleeping = 1u << 16;
  static constexpr uint32_t kFencesAreFull = 1u << 31;
  static uint32_t searching(uint32_t state) { return state & 0xffff; }
  static uint32_t sleeping(uint32_t state) { return (state & ~kFencesAreFull) >> 16; }
  static bool areFencesFull(uint32_t state) { return (state & kFencesAreFull) != 0; }
  static bool wantsWake(uint32_t state) { return searching(state) == 0 && sleeping(state) != 0; }

  // The worker's side of P2. `othersSleep`: all other workers were on the list. They have published what they
  // had to. One that leaves the list changes state_ later, and sees this worker's change. Other threads use a
  // full fence, or are in numExternals_.
  void fenceAgainstProducers(bool othersSleep) {
    if (othersSleep) {
      // (2) seq_cst: the change of state_ before the look at numExternals_ and the queues; pairs with (4, 5).
      Sync::fence(std::memory_order_seq_cst);
      // relaxed: the fence orders it.
      if (numExternals_.load(std::memory_order_relaxed) == 0) {
        return;
      }
    }
    // (3) the change of state_ before the look at the queues, against light fences too; pairs with (1, 4).
    Sync::heavyFence();
  }

  // Returns: how many workers are on the list now.
  uint32_t list(Sleeper& self) {
    const std::lock_guard<typename Sync::Lock> guard(lock_);
    self.listed = true;
    self.newer = nullptr;
    self.older = newest_;
    if (newest_ != nullptr) {
      newest_->newer = &self;
    }
    newest_ = &self;
    // relaxed: a fence follows (W2).
    return sleeping(state_.fetch_add(kOneSleeping - kOneSearching, std::memory_order_relaxed)) + 1;
  }

  void unlink(Sleeper& sleeper) {
    sleeper.listed = false;
    (sleeper.newer != nullptr ? sleeper.newer->older : newest_) = sleeper.older;
    if (sleeper.older != nullptr) {
      sleeper.older->newer = sleeper.newer;
    }
  }

  // searching | sleeping << 16 | kFencesAreFull if light fences are not free. Producers first test for 0.
  typename Sync::template Atomic<uint32_t> state_{Sync::isLightFenceFree() ? 0 : kFencesAreFull};
  typename Sync::template Atomic<uint32_t> numExternals_{0};
  const uint32_t numWorkers_;
  typename Sync::Lock lock_;
  Sleeper* newest_ = nullptr;  // guarded by lock_
};

// Looks for work until `host`'s worker has some, and sleeps in between. Before and after, it is no searcher.
//
// Host: bool findWork()           this worker's own work, or the order to end; else shared work; one attempt
//                               to steal from each victim; keeps what it finds
//       bool seesSharedWork()     whether a queue of all workers or a victim's looks non-empty
//       bool spinForWork()        findWork() again and again for a while
//       bool tryParkInbox(), void cancelParkInbox()
//       void tidyUp()             may take long; called while no producer relies on this worker
//       void park()               sleeps until unparked, the earliest timer, or the time to tidy up
template <class Sync, class Host>
void waitForSharedWork(IdleSet<Sync>& idle, typename IdleSet<Sync>::Sleeper& self, Host& host) {
  for (bool isSearching = false;;) {
    if (!isSearching) {
      host.tidyUp();
      idle.beginSearch();
    }
    if (host.spinForWork()) {
      idle.endSearch(host);
      return;
    }
    idle.addSleeper(self);
    const bool hasFound = host.findWork();
    if (!hasFound && host.tryParkInbox()) {
      host.park();
      host.cancelParkInbox();
    }
    isSearching = idle.removeSleeper(self);
    if (hasFound) {
      isSearching ? idle.endSearch(host) : idle.handOn(host);
      return;
    }
  }
}

}  // namespace weft::inline v0_1::detail
