// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/base/sync.h"
#include "weft/detail/wait/wait_word.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// Who holds the lock behind SharedMutex, one writer or many readers, and whose turn it is. SharedLock decides
// when waiters look, and when they lose patience.
//
//   kWriter        held by one writer alone
//   n * kReader    held by n readers together
//   n * kPending   n of these holds were granted to waiters that have not come yet
//   kMissing       a waiter that lost its grant has not come yet
//   kWaiters       newcomers queue behind the waiters, except readers that may pass
//   n * kPass      passed by n readers since a waiter last had its turn
//
// While nobody waits, taking and releasing are one compare-exchange each. All else is a section: lock()
// begins it, and settle() ends it and hands the lock on: to the first waiter, if that waiter writes, or to
// all readers before the next writer. So outside of sections the lock is never free while somebody is in the
// list, and waiters are served in the order in which they came.
//
// Waiters get a grant, which counts as a hold, but is theirs for good only when they have come and confirmed
// it by one step (6). Until then anybody may take back all unconfirmed grants by one step, too (7). A waiter
// whose grant was taken back is missing, and numMissing_ counts it. Its wake is on the way. When it comes, it
// finds kMissing, and a grant that is older than the last epoch.
//
// Readers that come while others hold the lock may pass waiting writers. Otherwise each writer that waits
// would make all readers wait, to be woken one after the other. kMaxPasses readers may pass until one of the
// waiters has its turn; then all queue. So neither readers nor writers starve.
//
// What must not happen: the last reader leaves, and then looks for waiters in a mutex that is gone, since the
// only waiter gave up in between, took the free lock, released it and destroyed it. So a last reader that
// sees kWaiters or kLocked takes the list's lock in the step in which it leaves. So while kLocked is set, the
// numbers of readers and of unconfirmed grants may fall, but not the number of readers to zero, and no other
// reader or writer comes: what settle() finds holds until it is done.
//
// Rejected: releasing the lock to nobody, as weft::mutex does: where many want it for short sections, most
// wakes are in vain. Rejected: a fetch_sub for leaving readers: the last would have to come back.
//
// Waiter::mark is How, Waiter::data the epoch of the grant.
template <class List = WaitList, class Sync = StdSync, unsigned kMaxPasses = 64>
class SharedWord {
 public:
  using Word = uint64_t;
  enum How : uint8_t { kExclusive = 0, kShared = 1 };  // Waiter::mark

  // Returns: whether the lock was free, and is taken now.
  bool tryLock() {
    Word expected = 0;
    // (1) acquire: sees what the holders before wrote; pairs with (3, 4) and with unlockBy().
    return base_.bits.compare_exchange_strong(expected, kWriter, std::memory_order_acquire,
                                              std::memory_order_relaxed);
  }

  // Returns: whether the lock was free or shared, without waiters that may not be passed, and is shared now.
  // Also fails while somebody is missing, or the list is locked.
  bool tryLockShared() {
    Word old = base_.bits.load(std::memory_order_relaxed);  // relaxed: a guess for the compare-exchange
    while ((old & (kWriter | kMissing | Base::kLocked)) == 0 && mayPass(old)) {
      // (2) acquire: sees what the last writer wrote; pairs with (3) and with unlockBy().
      if (base_.bits.compare_exchange_weak(old, old + kReader + pass(old), std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // Releases an exclusive hold if nobody waits. Then that is the last access to the word.
  // Returns: whether it did; if not, call unlock().
  bool tryUnlock() {
    Word expected = kWriter;
    // (3) release: the next holders see what this one wrote; pairs with (1, 2) and the next lockBit.
    return base_.bits.compare_exchange_strong(expected, 0, std::memory_order_release,
                                              std::memory_order_relaxed);
  }

  // Releases an exclusive hold. Returns: the waiters to which the lock is granted, to be woken.
  List unlock() {
    lock();
    return settle(Word{0} - kWriter);
  }

  // Releases a shared hold. `granted` gets the waiters to which the lock is granted, to be woken.
  // Returns: false if nobody shares the lock.
  bool unlockShared(List& granted) {
    uint32_t round = 0;
    Word old = base_.bits.load(std::memory_order_relaxed);  // relaxed: a guess for the compare-exchange
    while (old >= kReader) {
      const bool isLast = old < 2 * kReader;
      if (!isLast || (old & Base::kBits) == 0) {
        // (4) release: before the next writer; pairs with (1, 5) and the next lockBit. The last access.
        if (base_.bits.compare_exchange_weak(old, old - kReader, std::memory_order_release,
                                             std::memory_order_relaxed)) {
          return true;
        }
      } else if ((old & Base::kLocked) != 0) {
        Sync::relax(round);
        old = base_.bits.load(std::memory_order_relaxed);
        // (5) acquire: takes the list's lock, as lockBit does, and sees that the other readers have read;
        // pairs with (4). settle() releases what this one has read.
      } else if (base_.bits.compare_exchange_weak(old, (old - kReader) | Base::kLocked,
                                                  std::memory_order_acquire, std::memory_order_relaxed)) {
        granted = settle(0);
        return true;
      }
    }
    return false;
  }

  // For a woken waiter. Returns: whether its grant is confirmed; if not, perhaps it was taken back.
  bool confirm() {
    Word old = seen();
    while ((old & kMissing) == 0) {
      // (6) relaxed: the wake has shown what the last holders wrote.
      if (base_.bits.compare_exchange_weak(old, old - kPending, std::memory_order_relaxed,
                                           std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // relaxed: a hint; and for the destructor.
  Word seen() const { return base_.bits.load(std::memory_order_relaxed); }

  // Begins a section. Returns: the word.
  Word lock() { return base_.lock(); }

  // Returns: what a newcomer adds to `word` to take the lock, or 0 if it has to queue.
  static Word entry(Word word, How how) {
    const bool isFirst = (word & Base::kWaiters) == 0 || (how == kShared && mayPass(word));
    return isFree(word, how) && isFirst ? holdOf(how) + pass(word) : 0;
  }
  // Returns: whether no holder is in the way.
  static bool isFree(Word word, How how) {
    return (word & kWriter) == 0 && (how == kShared || word < kReader);
  }
  static Word holdOf(How how) { return how == kShared ? kReader : kWriter; }
  static bool isAnyMissing(Word word) { return (word & kMissing) != 0; }
  static bool areAnyPending(Word word) { return (word & kPendings) != 0; }

  // The rest is within a section.

  List& list() { return base_.list; }

  // Returns: how often grants were given while none was unconfirmed. It dates the unconfirmed ones.
  uint32_t numGrants() const { return numGrants_.get(); }

  // Takes back the unconfirmed grants. `word` gets the word. Returns: whether there were any.
  bool takeBack(Word& word) {
    word = seen();
    while (areAnyPending(word)) {
      const Word num = (word & kPendings) / kPending, hold = (word & kWriter) != 0 ? kWriter : kReader;
      const Word made = (word - num * (kPending + hold)) | kMissing;
      // (7) relaxed: the end of the section acquires and releases.
      if (base_.bits.compare_exchange_weak(word, made, std::memory_order_relaxed,
                                           std::memory_order_relaxed)) {
        word = made;
        numMissing_.set(numMissing_.get() + static_cast<uint32_t>(num));
        epoch_.set(epoch_.get() + 1);
        return true;
      }
    }
    return false;
  }

  // For a woken waiter. Returns: whether its grant was taken back.
  template <class Waiter>
  bool isMissing(const Waiter& self) const {
    return self.data != epoch();
  }
  // A missing waiter has come. Returns: what to add to the word for that.
  Word comeBack() {
    numMissing_.set(numMissing_.get() - 1);
    return numMissing_.get() == 0 ? Word{0} - kMissing : 0;
  }
  // Returns: what to add to the word to confirm a grant.
  static Word confirmation() { return Word{0} - kPending; }

  // Adds `change` to the word, grants the lock to the waiters whose turn it is, and ends the section. The
  // last access, unless somebody waits. Returns: these waiters, to be woken.
  List settle(Word change) {
    List granted;
    // As new as the step that began the section. Nobody changes the parts that are read here.
    const Word word = seen() + change;
    const auto grant = [&](How how) {
      list().front()->data = epoch();
      list().claimFront(granted);
      return holdOf(how) + kPending;
    };
    Word taken = 0;
    if (!list().isEmpty() && list().front()->mark == kExclusive) {
      taken = isFree(word, kExclusive) ? grant(kExclusive) : 0;
    } else if (isFree(word, kShared)) {
      while (!list().isEmpty() && list().front()->mark == kShared) {
        taken += grant(kShared);
      }
    }
    if (taken != 0 && !areAnyPending(word)) {
      numGrants_.set(numGrants_.get() + 1);
    }
    const Word gone = taken == 0 && !list().isEmpty() ? 0 : kPasses;
    base_.unlockBy([=](Word state) { return ((state & ~gone) + change) + taken; });
    return granted;
  }

 private:
  friend struct LayoutAccess;
  using Base = WaitWord<Word, List, Sync>;
  static constexpr Word kWriter = Base::kState, kMissing = 2 * kWriter, kPass = 2 * kMissing,
                        kPending = 128 * kPass, kPasses = kPending - kPass, kReader = kPending << 26,
                        kPendings = kReader - kPending;
  static_assert(kMaxPasses <= kPasses / kPass);

  static bool mayPass(Word word) {
    return (word & Base::kWaiters) == 0 || (word & kPasses) < kMaxPasses * kPass;
  }
  static Word pass(Word word) { return (word & Base::kWaiters) != 0 ? kPass : 0; }
  void* epoch() const { return reinterpret_cast<void*>(epoch_.get()); }

  template <class T>
  using Var = typename Sync::template Var<T>;

  Base base_;
  // Guarded by the section.
  Var<uintptr_t> epoch_{0};      // how often grants were taken back
  Var<uint32_t> numMissing_{0};  // kMissing says whether there are any
  Var<uint32_t> numGrants_{0};
};

}  // namespace weft::inline v0_1::detail
