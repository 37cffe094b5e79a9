// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

// One place in a row of tickets. Each ticket is called when all before it are done. Events of a ticket are
// bits of one word, set once and never cleared:
//
//   kCalled    all before it are done                        set by the step that passes the call on to it
//   kDone      its holder is done with it                    set by a holder
//   kLinked    the one after it is known, or never comes     set by the taker of that one, or the row's end
//   kDropped   no holder is left; implies kDone              set by the last holder
// The step that sets the last of kCalled, kDone and kLinked, in any order, passes the call on to the ticket
// after. The step that sets the last of all four bits frees the node. The read-modify-write that sets a bit
// tells, so exactly one step does each. A ticket that is done before its turn stays in the row.
//
// The rest of the word is a stack of listeners, which the step that sets kCalled takes over.
//
// What must not happen: a step sets kCalled on a ticket that is done already, and is about to pass the call
// on, while the last holder sees all three bits, drops the node and frees it. So each step reads the link to
// the ticket after first, and uses nothing of the node after the read-modify-write that lets others free it.
//
// Rejected: a reference of the row on the node, which costs one more read-modify-write a ticket; unlinking a
// ticket that is done early, which needs a lock for the row; calling the next ticket's holder in place, which
// recurses as deep as the row is long.
//
// Listener: aligned to 16 bytes, with a pointer `next`.
template <class Listener, class Sync = StdSync>
class TicketNode {
 public:
  // What a step leaves to its caller.
  struct Outcome {
    TicketNode* toCall = nullptr;  // call() it
    bool isOver = false;           // nobody else will touch the node: free it
  };

  // The newest of a row.
  TicketNode() = default;
  // A ticket that comes before `after`.
  explicit TicketNode(TicketNode* after) : word_(kLinked), after_(after) {}

  // Requires: made with a link.
  TicketNode* after() const { return after_.get(); }

  // Called once, on a ticket without a link: by the taker of `after`, or with null by the row's end.
  Outcome link(TicketNode* after) {
    after_.set(after);
    // (1) acq_rel: publishes the link; sees the work of this ticket and of those before it, which the caller
    // may have to pass on; pairs with (2, 3, 4, 5, 8).
    const Word old = word_.fetch_add(kLinked, std::memory_order_acq_rel);
    return outcome(old, old | kLinked, after);
  }

  // For a holder, any number of times. Whoever finds a later ticket called sees what was written before.
  Outcome done() { return finish(kDone); }

  // For the last holder, as its last access.
  Outcome drop() {
    // (5) acquire: the others' steps come before the node is freed; pairs with (1, 2, 3).
    if ((word_.load(std::memory_order_acquire) & kPast) == kPast) {
      return {nullptr, true};
    }
    return finish(kDone | kDropped);
  }

  // Called once, by the caller that found the ticket in an Outcome, or that took the first ticket of a row.
  // Hands over the listeners, oldest first.
  Outcome call(Listener*& listeners) {
    TicketNode* after = nullptr;
    // (4) acquire, here and on failure: sees the link; pairs with (1).
    Word old = word_.load(std::memory_order_acquire);
    do {
      after = linkIn(old);
      // (3) acq_rel: passes on the work of the tickets before to all who find this one called, and sees the
      // listeners and the work of this one; pairs with (1, 2, 5, 6, 7, 9).
    } while (!word_.compare_exchange_weak(old, (old & kFlags) | kCalled, std::memory_order_acq_rel,
                                          std::memory_order_acquire));
    // The next step changes the ticket after, whose memory was last used when it was taken.
    __builtin_prefetch(after, 1);
    listeners = reversed(listenersIn(old));
    return outcome(old, old | kCalled, after);
  }

  // For a holder: leaves `listener` to the caller of call(). Returns: false if it was called already.
  bool listen(Listener* listener) {
    // (7) acquire, here and on failure: sees the work of the tickets before; pairs with (3).
    Word old = word_.load(std::memory_order_acquire);
    do {
      if ((old & kCalled) != 0) {
        return false;
      }
      listener->next = listenersIn(old);
      // (6) release: the listener is complete; pairs with (3).
    } while (!word_.compare_exchange_weak(old, (old & kFlags) | reinterpret_cast<Word>(listener),
                                          std::memory_order_release, std::memory_order_acquire));
    return true;
  }

  // For a holder. Returns: whether the ticket was called; if so, the work of the tickets before it is seen.
  bool isCalled() const {
    // (9) acquire: sees the work of the tickets before; pairs with (3).
    return (word_.load(std::memory_order_acquire) & kCalled) != 0;
  }

 private:
  using Word = uintptr_t;
  static constexpr Word kCalled = 1, kDone = 2, kLinked = 4, kDropped = 8;
  static constexpr Word kPast = kCalled | kDone | kLinked, kFlags = kPast | kDropped;

  static Listener* listenersIn(Word word) { return reinterpret_cast<Listener*>(word & ~kFlags); }

  static Listener* reversed(Listener* listener) {
    Listener* oldestFirst = nullptr;
    while (listener != nullptr) {
      Listener* older = listener->next;
      listener->next = oldestFirst;
      oldestFirst = listener;
      listener = older;
    }
    return oldestFirst;
  }

  static Outcome outcome(Word old, Word now, TicketNode* after) {
    const bool passesCall = (old & kPast) != kPast && (now & kPast) == kPast;
    return {passesCall ? after : nullptr, (now & kFlags) == kFlags};
  }

  TicketNode* linkIn(Word word) const { return (word & kLinked) != 0 ? after_.get() : nullptr; }

  Outcome finish(Word flags) {
    // (8) acquire, here and on failure: sees the link; pairs with (1).
    Word old = word_.load(std::memory_order_acquire);
    TicketNode* after = nullptr;
    do {
      if ((old & flags) == flags) {
        return {};
      }
      after = linkIn(old);
      // (2) acq_rel: publishes the work of this ticket, and sees the work of those before it, which the
      // caller may have to pass on; pairs with (1, 3, 5).
    } while (
        !word_.compare_exchange_weak(old, old | flags, std::memory_order_acq_rel, std::memory_order_acquire));
    return outcome(old, old | flags, after);
  }

  typename Sync::template Atomic<Word> word_{0};
  // Written before kLinked is set, constant from then on.
  typename Sync::template Var<TicketNode*> after_{nullptr};
};

}  // namespace weft::inline v0_1::detail
