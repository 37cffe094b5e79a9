// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "weft/detail/outcome.h"
#include "weft/detail/sync.h"
#include "weft/detail/waiter.h"

// The protocol of Channel<T>, for values of any type.
//
// A ring with a side for senders and one for receivers. Each side has one word: the number of values that have passed it, a
// lock, and flags.
//
//   tail   kLocked, kReceiversWait, kClosed     values sent into the ring       changed by the holder of its kLocked alone
//   head   kLocked, kSendersWait                values received from the ring   likewise
//
// The usual way: a sender locks the tail by one compare-exchange, makes the value in its slot, and gives the lock back with the
// new number, by one store; a receiver does the same at the head. Each remembers what it saw last of the other side's number and
// reads it again only when by that memory the ring is full (or empty), so that one sender and one receiver which run at the same
// time touch each other's lines rarely. A value whose move throws is not counted; nothing else has to be undone.
//
// Everything else takes both locks, first the tail's, then the head's ("a section"): waiting, handing over to whoever waits,
// closing. A channel without a ring has no use for the head's lock.
//
//   receivers wait   only while the ring is empty; the sender that comes next hands its value to the first of them
//   senders wait     only while the ring is full; the receiver that comes next moves the first one's value into the ring, or
//                    without a ring takes it
//
// What must not happen: a receiver finds the ring empty and goes to wait, while a sender, which has not seen it wait, sends into
// the ring and goes on. It cannot: kReceiversWait is set in the word that the sender changes by compare-exchange, under that
// word's lock and with the number of values in view. So there is no fence on either side. Likewise kSendersWait in the head.
//
// A section ends with the store to the tail, its last access to the channel; those it has claimed are woken after that. The
// usual way's last access is its store. So whoever learns from one of these that a call has had its effect may destroy the
// channel while that call is still returning.
//
// Rejected: slots with a sequence number each (Vyukov 2010), which let two senders fill slots at the same time, but need a mark
// for a value whose move has thrown, a wait for a slot half filled, and a fence between filling a slot and looking for waiters;
// one lock for both sides, as in Go, whose line then travels twice for each value.
namespace weft::detail {

// How to move values of one type. `to` is a receiver's std::optional<T>.
struct ValueType {
  size_t size;
  size_t alignment;
  void (*put)(void* slot, void* from);  // from a sender's T
  void (*get)(void* to, void* slot);    // destroys the slot's value, also when it throws
  void (*hand)(void* to, void* from);   // from a sender's T
  void (*destroy)(void* slot);
};

// What a waiter of a channel gives or wants: in its frame, with Waiter::data pointing to it.
struct Transfer {
  void* value = nullptr;   // a sender's T, a receiver's std::optional<T>
  EscapedException error;  // of the move of a sender's value by another
};

enum class ChannelEnd : uint8_t {
  Done,
  Closed,
  WouldWait,  // nothing was changed
  Retry,      // a move to the waiter threw at the sender: begin anew
};

// Host: static bool claim(Waiter&)       whether the caller may go on with it: see waiter.h
//       static Waiter& owner(Waiter&)    whom to wake once it is claimed
//       static void wake(Waiter&)
template <class Sync, class Host>
class ChannelCore {
 public:
  ChannelCore(const ValueType& valueType, size_t maxSize, size_t numSlots, unsigned char* storage)
      : type_(valueType), capacity_(maxSize), mask_(numSlots == 0 ? 0 : numSlots - 1),
        ahead_(1 + 3 * kCacheLine / valueType.size), slots_(storage) {}
  ChannelCore(const ChannelCore&) = delete;
  ChannelCore& operator=(const ChannelCore&) = delete;

  // The usual ways. put(slot) makes a value, get(slot) takes it and destroys the slot's, also when it throws. Return: false
  // where only a section can tell.
  template <class Put>
  bool tryPut(uintptr_t who, Put&& put) {
    Word old = 0;
    if (capacity_ == 0 || !lockUnless(tail_, kReceiversWait | kClosed, old)) {
      return false;
    }
    Side side{tail_, old};
    note(who, sender_);
    if (position(old) - seenHead_.get() >= capacity_) {
      // (1) acquire: the slot's value was taken and destroyed; pairs with (4, 6).
      seenHead_.set(position(head_.load(std::memory_order_acquire)));
      if (position(old) - seenHead_.get() >= capacity_) {
        return false;
      }
    }
    prefetchForWrite(slot(position(old) + ahead_));
    put(slot(position(old)));
    side.word = old + kOne;
    return true;
  }

  template <class Get>
  bool tryGet(uintptr_t who, Get&& get) {
    Word old = 0;
    if (capacity_ == 0 || !lockUnless(head_, kSendersWait, old)) {
      return false;
    }
    Side side{head_, old};
    note(who, receiver_);
    // What was received in sections may be beyond what was seen here last.
    if (position(old) >= seenTail_.get()) {
      // (2) acquire: the value is complete; pairs with (4, 5).
      seenTail_.set(position(tail_.load(std::memory_order_acquire)));
      if (position(old) == seenTail_.get()) {
        return false;
      }
    }
    side.word = old + kOne;
    if (position(old) + ahead_ < seenTail_.get()) {
      __builtin_prefetch(slot(position(old) + ahead_));
    }
    get(slot(position(old)));
    return true;
  }

  // Both locks. Those who are claimed meanwhile are woken at the end.
  class Section {
   public:
    explicit Section(ChannelCore& channel) : Section(channel, std::defer_lock) { lock(); }
    Section(ChannelCore& channel, std::defer_lock_t) : core_(channel) {}
    ~Section() {
      if (isLocked_) {
        unlock();
      }
      wake();
    }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

    void lock() {
      core_.lockUnless(core_.tail_, 0, tail_);
      if (core_.capacity_ != 0) {
        core_.lockUnless(core_.head_, 0, head_);
      }
      isLocked_ = true;
    }

    void unlock() {
      isLocked_ = false;
      if (core_.capacity_ != 0) {
        const Word sendersWait = core_.senders_.isEmpty() ? 0 : kSendersWait;
        // (6) release: the section, and what came before receive(), is seen by whoever reads the head next; pairs with (1, 3).
        core_.head_.store((head_ & ~kSendersWait) | sendersWait, std::memory_order_release);
      }
      const Word receiversWait = core_.receivers_.isEmpty() ? 0 : kReceiversWait;
      // (5) release: likewise, what came before send() and close(). The channel may be gone after it; pairs with (2, 3, 7).
      core_.tail_.store((tail_ & ~kReceiversWait) | receiversWait, std::memory_order_release);
    }

    void wake() {
      while (Waiter* waiter = claimed_) {
        claimed_ = waiter->next;
        Host::wake(*waiter);
      }
    }

   private:
    friend ChannelCore;

    // Returns: the first of `list`, claimed, or null.
    Waiter* claimFirst(WaitList& list) {
      while (Waiter* waiter = list.popFront()) {
        if (Host::claim(*waiter)) {
          Waiter& owner = Host::owner(*waiter);
          owner.next = nullptr;
          (claimed_ == nullptr ? claimed_ : lastClaimed_->next) = &owner;
          lastClaimed_ = &owner;
          return waiter;
        }
      }
      return nullptr;
    }

    ChannelCore& core_;
    uint64_t tail_ = 0, head_ = 0;
    Waiter* claimed_ = nullptr;
    Waiter* lastClaimed_ = nullptr;
    bool isLocked_ = false;
  };

  // Within a section.
  ChannelEnd send(Section& section, Transfer& mine) {
    if ((section.tail_ & kClosed) != 0) {
      return ChannelEnd::Closed;
    }
    if (Waiter* receiver = section.claimFirst(receivers_)) {
      receiver->mark = static_cast<uint8_t>(ChannelEnd::Retry);
      type_.hand(transferOf(*receiver).value, mine.value);
      receiver->mark = static_cast<uint8_t>(ChannelEnd::Done);
      return ChannelEnd::Done;
    }
    if (position(section.tail_) - position(section.head_) >= capacity_) {
      return ChannelEnd::WouldWait;
    }
    type_.put(slot(position(section.tail_)), mine.value);
    section.tail_ += kOne;
    return ChannelEnd::Done;
  }

  ChannelEnd receive(Section& section, Transfer& mine) {
    if (position(section.tail_) != position(section.head_)) {
      struct Refill {
        ~Refill() { section.core_.refill(section); }
        Section& section;
      } refill{section};
      section.head_ += kOne;
      type_.get(mine.value, slot(position(section.head_) - 1));
      return ChannelEnd::Done;
    }
    if (Waiter* sender = section.claimFirst(senders_)) {
      sender->mark = static_cast<uint8_t>(ChannelEnd::Done);
      type_.hand(mine.value, transferOf(*sender).value);
      return ChannelEnd::Done;
    }
    return (section.tail_ & kClosed) != 0 ? ChannelEnd::Closed : ChannelEnd::WouldWait;
  }

  void close(Section& section) {
    section.tail_ |= kClosed;
    for (WaitList* list : {&senders_, &receivers_}) {
      while (Waiter* waiter = section.claimFirst(*list)) {
        waiter->mark = static_cast<uint8_t>(ChannelEnd::Closed);
      }
    }
  }

  // Within a section: those who wait, each with its Transfer in `data`. The end comes with the wake, in `mark`.
  WaitList& senders() { return senders_; }
  WaitList& receivers() { return receivers_; }

  bool isClosed() const {
    // (7) acquire: sees what came before close(); pairs with (5).
    return (tail_.load(std::memory_order_acquire) & kClosed) != 0;
  }
  // relaxed: an estimate.
  size_t size() const {
    const uint64_t received = position(head_.load(std::memory_order_relaxed));
    const uint64_t sent = position(tail_.load(std::memory_order_relaxed));
    return sent > received ? static_cast<size_t>(sent - received) : 0;
  }
  // relaxed, both: hints. Who has last sent and received the usual way, or 0.
  uintptr_t lastSender() const { return sender_.load(std::memory_order_relaxed); }
  uintptr_t lastReceiver() const { return receiver_.load(std::memory_order_relaxed); }
  const ValueType& type() const { return type_; }
  size_t capacity() const { return capacity_; }

  // Requires: nobody else uses it any more. Returns: whether nobody waited.
  bool destroyValues() {
    // relaxed, both: as required.
    const uint64_t sent = position(tail_.load(std::memory_order_relaxed));
    for (uint64_t at = position(head_.load(std::memory_order_relaxed)); at != sent; ++at) {
      type_.destroy(slot(at));
    }
    return senders_.isEmpty() && receivers_.isEmpty();
  }

 private:
  using Word = uint64_t;
  using Atomic = typename Sync::template Atomic<Word>;
  static constexpr Word kLocked = 1, kReceiversWait = 2, kSendersWait = 2, kClosed = 4, kOne = 8;

  // Ends the usual way.
  struct Side {
    ~Side() {
      // (4) release: the value is made, or taken, before the other side counts it; the last access to the channel; pairs with
      // (1, 2, 3).
      atomic.store(word, std::memory_order_release);
    }
    Atomic& atomic;
    Word word;
  };

  // relaxed, both: a hint.
  static void note(uintptr_t who, typename Sync::template Atomic<uintptr_t>& last) {
    if (last.load(std::memory_order_relaxed) != who) {
      last.store(who, std::memory_order_relaxed);
    }
  }

  static constexpr uint64_t position(Word word) { return word / kOne; }
  static Transfer& transferOf(const Waiter& waiter) { return *static_cast<Transfer*>(waiter.data); }
  unsigned char* slot(uint64_t at) const { return slots_ + (at & mask_) * type_.size; }

  // Sets kLocked of `word`, which was `old`. Returns: false, and has not, where one of the bits `unless` is set.
  static bool lockUnless(Atomic& word, Word unless, Word& old) {
    uint32_t round = 0;
    // relaxed: only a guess for the compare-exchange.
    old = word.load(std::memory_order_relaxed);
    for (;;) {
      if ((old & unless) != 0) {
        return false;
      }
      if ((old & kLocked) != 0) {
        Sync::relax(round);
        old = word.load(std::memory_order_relaxed);
        // (3) acquire: sees what the holder before wrote; pairs with (4, 5, 6).
      } else if (word.compare_exchange_weak(old, old | kLocked, std::memory_order_acquire, std::memory_order_relaxed)) {
        return true;
      }
    }
  }

  // Moves values of waiting senders to where there is room now.
  void refill(Section& section) {
    while (position(section.tail_) - position(section.head_) < capacity_) {
      Waiter* sender = section.claimFirst(senders_);
      if (sender == nullptr) {
        return;
      }
      Transfer& theirs = transferOf(*sender);
      sender->mark = static_cast<uint8_t>(ChannelEnd::Done);
      theirs.error.capture([&] { type_.put(slot(position(section.tail_)), theirs.value); });
      section.tail_ += theirs.error ? 0 : kOne;
    }
  }

  const ValueType& type_;
  const uint64_t capacity_;
  const uint64_t mask_;
  const uint64_t ahead_;  // slots from the one in use to the one that is prefetched: three lines, or one slot
  unsigned char* const slots_;

  // The senders' line; seenHead_ is guarded by the tail's lock.
  alignas(2 * kCacheLine) Atomic tail_{0};
  typename Sync::template Var<uint64_t> seenHead_;
  typename Sync::template Atomic<uintptr_t> sender_{0};
  // The receivers' line; seenTail_ is guarded by the head's lock.
  alignas(2 * kCacheLine) Atomic head_{0};
  typename Sync::template Var<uint64_t> seenTail_;
  typename Sync::template Atomic<uintptr_t> receiver_{0};
  // Guarded by both; what a section changes of them is seen by the next.
  alignas(2 * kCacheLine) WaitList senders_;
  WaitList receivers_;
};

}  // namespace weft::detail
