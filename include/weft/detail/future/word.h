// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

// Whether a Future is ready, and which listeners to tell, in one word that any thread may change at any time.
//
//   state           word                       set by
//   nobody          0                          the one listener, when it leaves
//   one listener    its address                a listener, from `nobody`
//   a room          its address | kRoom        a listener that comes second, or may give up, from either
//                                              of the above
//   ready           kReady                     the setter of the result, from `nobody` and `one listener`
//   ready, a room   address | kRoom | kReady   the setter, from `a room`
// Of several writers of a result, the first sets kClaimed beside one of the first three states. kReady stays.
//
// A room is for what one word cannot hold: several listeners, and waits that may end early by a deadline or a
// stop. It has a lock and a list, and the address of the listener that was there before. The setter closes
// the room: it takes all listeners over, under the lock. A later listener finds the room closed, and the
// future ready. The room stays until the state is destroyed, so that a waiter may leave it at any time. Most
// futures have no room.
//
// A listener that leaves, such as a loser of whenAny(), is taken out of where it is by then: of the word, by
// `nobody` in place of its address; of the open room, under its lock. Only the setter claims listeners, by
// making the future ready, or by closing the room.
//
// What must not happen:
//     setter                            listener
//                                       looks: not ready
//     makes it ready, finds nobody
//                                       registers, and waits forever
// It cannot: registering is a compare-exchange of that word, or a look at the room's `isOpen` under its lock.
// Nor may a listener be told twice, or used after it was told or has left. The thread that replaces its
// address by kReady has claimed it. The thread that makes a room copies the address without dereferencing it;
// another listener that has that address by then is the right one.
//
// Rejected: a stack of listeners in the word. A timed wait cannot be taken out of it.
// Rejected: a lock bit beside the list. Every future would pay for it with two more words.
// Rejected: a room for every future. It would be a second allocation.
//
// Listener: aligned to 8.
// List: pushBack(Listener&)      appends a listener that may leave
//       remove(Listener&)        takes it out
//       pushClaimed(Listener&)   appends a listener that must be told, and may not leave any more
//       takeAll(List&)           the same for all listeners of another list
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
    typename Sync::template Var<bool> isOpen{true};         // guarded by lock, and so is the list
    typename Sync::template Var<Listener*> first{nullptr};  // the listener before the room; guarded by lock
    List list;
  };

  // Any thread. Returns: whether the result is there, and may be read.
  bool isReady() const {
    // (1) acquire: sees the result; pairs with (3).
    return (word_.load(std::memory_order_acquire) & kReady) != 0;
  }

  // Requires: the caller has all handles. Returns: whether nobody listens, and the result is not there.
  // relaxed: no other thread changes it meanwhile, except to publish.
  bool isUntouched() const { return word_.load(std::memory_order_relaxed) == 0; }

  // Any thread. Returns: whether the caller is the first, and so must write the result and publish() it.
  bool claim() {
    // (6) relaxed: publishes nothing; the others learn only that they came too late.
    return (word_.fetch_or(kClaimed, std::memory_order_relaxed) & (kClaimed | kReady)) == 0;
  }

  // Called once, by the thread that has written the result. Hands over the listeners to tell.
  // Memory ordering: a thread that finds the future ready, or is told, sees what came before.
  void publish(List& listeners) {
    Word old = 0;
    // (3) acq_rel: publishes the result; sees the listener, or the room, complete; pairs with (1, 2, 4, 5).
    while (!word_.compare_exchange_weak(old, (old & kRoom) != 0 ? old | kReady : kReady,
                                        std::memory_order_acq_rel, std::memory_order_relaxed)) {
    }
    if ((old & kRoom) != 0) [[unlikely]] {
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

  // As publish(), if no other thread can reach the state, and nobody listens.
  void publishAlone() {
    // relaxed: one thread at work.
    word_.store((word_.load(std::memory_order_relaxed) & ~kClaimed) | kReady, std::memory_order_relaxed);
  }

  // Any thread: registers `listener`. `makeRoom()` gives a new room, `freeRoom(Room*)` takes one back.
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

  // Any thread, while the state exists: takes back a listen().
  // Returns: whether `listener` was not told, and never will be. If false, it was or is about to be.
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

  // Any thread. Returns: the room, made if there is none. Null if the future is ready.
  template <class MakeRoom, class FreeRoom>
  Room* enter(const MakeRoom& makeRoom, const FreeRoom& freeRoom) {
    // (5) acquire, here and on failure: sees the result, the room, or the listener; pairs with (2, 3, 4).
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

  // At the end of the state. Returns: the room, or null.
  Room* room() const {
    // relaxed: no other thread is left.
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

}  // namespace weft::inline v0_1::detail
