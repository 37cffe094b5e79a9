// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/sync.h"

namespace weft::detail {

// Whether a Future is ready, and who is to be told: one word, which several may change at any time.
//
//   nobody          0                        the one listener, which leaves
//   one listener    its address              a listener, from `nobody`
//   a room          its address | kRoom      who comes second, or may give up, from either of the above
//   ready           kReady                   who sets the result; from `nobody` and `one listener`
//   ready, a room   address | kRoom | kReady the same, from `a room`
//
// kClaimed is set beside the first three by one who is about to write the result where several may want to:
// the first. Ready is for ever.
//
// A room is for whatever one word cannot hold: more than one listener, and waits that may end early, by a
// deadline or a stop token. It has a lock and a list, and keeps the address of the listener that was there
// before. Whoever makes the future ready closes it: takes all listeners over, under the lock; whoever comes
// later finds it closed, and the future ready. It stays until the state goes, so that one who waits in it may
// leave it at any time.
//
// A listener that leaves, as those of whenAny() do that have lost, is taken out of wherever it is by now: the
// word, where its address is replaced by `nobody`; or the room, under the lock, while that is open. Only the
// setter claims listeners, by making the future ready, or by closing the room.
//
// Most futures have one listener at most, and no room.
//
// What must not happen:
//     setter                            listener
//                                       looks: not ready
//     makes it ready, finds nobody
//                                       registers, and waits for ever
// It cannot: registering is a compare-exchange of the very word, or a look at the room's `isOpen` under its
// lock. Nor may a listener be told twice, or used after it was told or has left: who replaces its address by
// kReady has claimed it, and who makes a room takes the address along without a look at what is there. Should
// another listener stand at that address meanwhile, it is the one that is meant.
//
// Rejected: a stack of listeners in the word, from which a timed wait cannot be taken out; a lock bit beside
// the list, which every future would pay for with two more words; a room for every future, which would be a
// second allocation.
//
// List: pushBack(Listener&) appends one that may leave, and remove(Listener&) takes it out;
// pushClaimed(Listener&), and takeAll(List&) for all of another list, append those that are to be told, and
// may leave no more. Listener: aligned to 8.
template <class Listener, class List, class Sync = StdSync>
class FutureWord {
 public:
  struct Room {
    // Returns: false, and leaves nothing, if the future is ready.
    bool add(Listener& listener) {
      lock.lock();
      const bool added = isOpen.get();
      if (added) {
        list.pushBack(listener);
      }
      lock.unlock();
      return added;
    }

    // Returns: false if the room is closed.
    bool remove(Listener& listener) {
      lock.lock();
      const bool removed = isOpen.get();
      if (removed && first.get() == &listener) {
        first.set(nullptr);
      } else if (removed) {
        list.remove(listener);
      }
      lock.unlock();
      return removed;
    }

    typename Sync::Lock lock;
    typename Sync::template Var<bool> isOpen{true};         // guarded by lock, as is the list
    typename Sync::template Var<Listener*> first{nullptr};  // who was there before the room; guarded by lock
    List list;
  };

  FutureWord() = default;
  FutureWord(const FutureWord&) = delete;
  FutureWord& operator=(const FutureWord&) = delete;

  // Any thread. Returns: whether the result is there, and may be read.
  bool isReady() const {
    // (1) acquire: sees the result; pairs with (3).
    return (word_.load(std::memory_order_acquire) & kReady) != 0;
  }

  // Whoever has all handles. Returns: whether nobody listens, and the result is not there.
  // relaxed: nobody else changes it meanwhile, but to publish.
  bool isUntouched() const { return word_.load(std::memory_order_relaxed) == 0; }

  // Any thread. Returns: whether the caller is the first, and so has to write the result and to publish() it.
  bool claim() {
    // (6) relaxed: publishes nothing; the others learn only that they came too late.
    return (word_.fetch_or(kClaimed, std::memory_order_relaxed) & (kClaimed | kReady)) == 0;
  }

  // Whoever has written the result; once. Hands over those who are to be told. Memory ordering: what came
  // before is seen by whoever finds it ready, or is told.
  void publish(List& listeners) {
    Word old = 0;
    // (3) acq_rel: publishes the result, and sees the listener, or the room, complete; pairs with (1, 2, 4,
    // 5).
    while (!word_.compare_exchange_weak(old, (old & kRoom) != 0 ? old | kReady : kReady,
                                        std::memory_order_acq_rel, std::memory_order_relaxed)) {
    }
    if ((old & kRoom) != 0) {
      Room* room = roomIn(old);
      room->lock.lock();
      room->isOpen.set(false);
      if (Listener* first = room->first.get()) {
        listeners.pushClaimed(*first);
      }
      listeners.takeAll(room->list);
      room->lock.unlock();
    } else if (Listener* only = listenerIn(old)) {
      listeners.pushClaimed(*only);
    }
  }

  // The only one who can reach the state, and nobody listens: as publish().
  void publishAlone() {
    // relaxed, all of it: one thread at work.
    word_.store((word_.load(std::memory_order_relaxed) & ~kClaimed) | kReady, std::memory_order_relaxed);
  }

  // Any thread: has `listener` told. `makeRoom()` gives a new room, `freeRoom(Room*)` takes one back.
  // Returns: false, and leaves nothing, if the future is ready.
  template <class MakeRoom, class FreeRoom>
  bool listen(Listener& listener, const MakeRoom& makeRoom, const FreeRoom& freeRoom) {
    // relaxed: only a guess for the compare-exchange.
    Word old = word_.load(std::memory_order_relaxed) & kClaimed;
    do {
      // (2) release: the listener is complete; pairs with (3, 5).
      if (word_.compare_exchange_weak(old, old | reinterpret_cast<Word>(&listener), std::memory_order_release,
                                      std::memory_order_relaxed)) {
        return true;
      }
    } while ((old & ~kClaimed) == 0);
    Room* room = enter(makeRoom, freeRoom);
    return room != nullptr && room->add(listener);
  }

  // Any thread, while the state exists: the end of what listen() began. Returns: whether `listener` is not
  // told, and never will be; else it was told, or is about to be.
  bool leave(Listener& listener) {
    // (7) acquire: sees the room; pairs with (4).
    Word old = word_.load(std::memory_order_acquire);
    while ((old & (kReady | kRoom)) == 0) {
      // (8) acquire, for the sake of a failure: sees the room; pairs with (4).
      if (word_.compare_exchange_weak(old, old & kClaimed, std::memory_order_acquire,
                                      std::memory_order_acquire)) {
        return true;
      }
    }
    return (old & kRoom) != 0 && roomIn(old)->remove(listener);
  }

  // Any thread. Returns: the room, which is made if there is none; null if the future is ready.
  template <class MakeRoom, class FreeRoom>
  Room* enter(const MakeRoom& makeRoom, const FreeRoom& freeRoom) {
    // (5) acquire, here and on failure: sees the result, the room, or the listener; pairs with
    // (2, 3, 4).
    Word old = word_.load(std::memory_order_acquire);
    while ((old & (kReady | kRoom)) == 0) {
      Room* fresh = makeRoom();
      fresh->first.set(listenerIn(old));  // which is not touched: it may be told at this moment
      // (4) release: the room is complete; pairs with (3, 5, 7, 8).
      if (word_.compare_exchange_strong(old, reinterpret_cast<Word>(fresh) | kRoom | (old & kClaimed),
                                        std::memory_order_release, std::memory_order_acquire)) {
        return fresh;
      }
      freeRoom(fresh);
    }
    return (old & kReady) != 0 ? nullptr : roomIn(old);
  }

  // For the end of the state. Returns: the room, or null.
  Room* room() const {
    // relaxed: nobody else is left.
    const Word word = word_.load(std::memory_order_relaxed);
    return (word & kRoom) != 0 ? roomIn(word) : nullptr;
  }

 private:
  using Word = uintptr_t;
  static constexpr Word kReady = 1, kClaimed = 2, kRoom = 4, kFlags = 7;

  static Listener* listenerIn(Word word) { return reinterpret_cast<Listener*>(word & ~kFlags); }
  static Room* roomIn(Word word) { return reinterpret_cast<Room*>(word & ~kFlags); }

  typename Sync::template Atomic<Word> word_{0};
};

}  // namespace weft::detail
