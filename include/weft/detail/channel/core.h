// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "weft/detail/base/shared.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/channel/side.h"
#include "weft/detail/channel/value.h"
#include "weft/detail/wait/waiter.h"

// The protocol of Channel<T>, for values of any type.
//
// A ring has a side for senders, the tail, and one for receivers, the head: see ChannelSide. kOthersWait at
// the tail says that receivers wait, at the head that senders wait. kClosed is only used at the tail.
//
// The fast path: a sender locks the tail by one compare-exchange, makes the value in its slot, and unlocks
// the tail with the new number by one store. A receiver does that at the head. Each side keeps the other
// side's number as last seen, and reads it again only if the ring looks full (or empty) by it. So one sender
// and one receiver that run at the same time seldom touch each other's cache lines. If the move of a value
// throws, the value is not counted, and nothing else has to be undone.
//
// Waiting, handing a value to a waiter, and closing take both locks ("a section"), the tail's first; without
// a ring only the tail's.
//
//   receivers wait   only while the ring is empty; the next sender hands its value to the first of them
//   senders wait     only while the ring is full; the next receiver moves the first one's value into the
//                    ring, or takes it where there is no ring
// What must not happen: a receiver finds the ring empty and begins to wait, while a sender, which has not
// seen it wait, sends into the ring and goes on. It cannot: the receiver sets kOthersWait in the word that
// the sender changes by compare-exchange, under that word's lock and with the number of values in view. So
// neither side needs a fence. The head works the same way.
//
// A section ends with the store that shows its effect, its last access to the channel: to the head if it took
// a value out of the ring, else to the tail. Then it wakes the waiters that it claimed. The fast path's last
// access is its store. So a thread that sees the effect of a call may destroy the channel.
//
// Rejected: a sequence number in each slot (Vyukov 2010). Two senders can then fill slots at the same time,
// but it needs a mark for a value whose move has thrown, a wait for a half filled slot, and a fence between
// filling a slot and looking for waiters.
// Rejected: one lock for both sides, as in Go. Its cache line then travels twice for each value.
namespace weft::inline v0_1::detail {

// Host: static bool claim(Waiter&)       whether the caller may go on with it: see select_node.h
//       static Waiter& owner(Waiter&)    the waiter to wake once it is claimed
//       static void wake(Waiter&)
template <class Sync, class Host>
class ChannelCore {
 public:
  ChannelCore(const ValueType& valueType, size_t maxSize, size_t numSlots, unsigned char* storage)
      : type_(valueType),
        capacity_(maxSize),
        mask_(numSlots == 0 ? 0 : numSlots - 1),
        ahead_(1 + 3 * kCacheLine / valueType.size),
        slots_(storage) {}
  // Closed and without room: nothing succeeds without a section.
  constexpr explicit ChannelCore(MovedFrom)
      : type_(valueTypeOf<char>), capacity_(0), mask_(0), ahead_(0), slots_(nullptr), tail_(Side::kClosed) {}
  ChannelCore(const ChannelCore&) = delete;

  // The fast paths, for a thread `who`. put(slot) makes a value; get(slot) takes it and always destroys it.
  // Return: false if only a section can tell.
  template <class Put>
  bool tryPut(uintptr_t who, Put&& put) {
    Word word = 0;
    if (capacity_ == 0 || !tail_.lockUnless(Side::kOthersWait | Side::kClosed, word)) {
      return false;
    }
    tail_.noteUser(who);
    const uint64_t at = Side::position(word);
    if (at - tail_.seenOther.get() >= capacity_) {
      tail_.seenOther.set(head_.numPassed());
      if (at - tail_.seenOther.get() >= capacity_) {
        tail_.unlock(word);
        return false;
      }
    }
    detail::prefetchForWrite(slot(at + ahead_));
    detail::callAndEnd(
        [&]() noexcept(noexcept(put(slot(at)))) {
          put(slot(at));
          word += Side::kOne;
        },
        [&] { tail_.unlock(word); });
    return true;
  }

  template <class Get>
  bool tryGet(uintptr_t who, Get&& get) {
    Word word = 0;
    if (capacity_ == 0 || !head_.lockUnless(Side::kOthersWait, word)) {
      return false;
    }
    head_.noteUser(who);
    const uint64_t at = Side::position(word);
    // Sections may have received more than was last seen here.
    if (at >= head_.seenOther.get()) {
      head_.seenOther.set(tail_.numPassed());
      if (at >= head_.seenOther.get()) {
        head_.unlock(word);
        return false;
      }
    }
    if (at + ahead_ < head_.seenOther.get()) {
      __builtin_prefetch(slot(at + ahead_));
    }
    word += Side::kOne;
    detail::callAndEnd([&]() noexcept(noexcept(get(slot(at)))) { get(slot(at)); },
                       [&] { head_.unlock(word); });
    return true;
  }

  // Has both locks. Wakes at its end the waiters that it claimed.
  class Section {
   public:
    explicit Section(ChannelCore& channel) : Section(channel, std::defer_lock) { lock(); }
    Section(ChannelCore& channel, std::defer_lock_t) : core_(channel) {}
    ~Section() {
      if (isLocked_) {
        unlock();
      }
      for (Waiter* waiter = claimed_.front(); waiter != nullptr;) {
        Waiter& woken = *waiter;
        waiter = woken.next;
        Host::wake(woken);
      }
    }
    Section(const Section&) = delete;

    void lock() {
      core_.tail_.lockUnless(0, tail_);
      if (core_.capacity_ != 0) {
        core_.head_.lockUnless(0, head_);
      }
      received_ = Side::position(head_);
      isLocked_ = true;
    }

    void unlock() {
      isLocked_ = false;
      const uint64_t head = (head_ & ~Side::kOthersWait) | (core_.senders_.isEmpty() ? 0 : Side::kOthersWait);
      const uint64_t tail =
          (tail_ & ~Side::kOthersWait) | (core_.receivers_.isEmpty() ? 0 : Side::kOthersWait);
      // The store that shows the effect is the last access.
      const bool hasReceived = Side::position(head_) != received_;
      if (core_.capacity_ != 0 && !hasReceived) {
        core_.head_.unlock(head);
      }
      core_.tail_.unlock(tail);
      if (hasReceived) {
        core_.head_.unlock(head);
      }
    }

   private:
    friend ChannelCore;

    // Returns: the first waiter of `list`, claimed, or null.
    Waiter* claimFirst(WaitList& list) {
      while (Waiter* waiter = list.popFront()) {
        if (Host::claim(*waiter)) {
          claimed_.pushClaimed(Host::owner(*waiter));
          return waiter;
        }
      }
      return nullptr;
    }

    ChannelCore& core_;
    uint64_t tail_ = 0, head_ = 0;  // the words while they are locked, and their next ones
    uint64_t received_ = 0;         // the head's position before
    WaitList claimed_;
    bool isLocked_ = false;
  };

  // Within a section.
  ChannelEnd send(Section& section, Transfer& mine) {
    if ((section.tail_ & Side::kClosed) != 0) {
      return ChannelEnd::Closed;
    }
    if (Waiter* receiver = section.claimFirst(receivers_)) {
      receiver->mark = static_cast<uint8_t>(ChannelEnd::Retry);
      mine.type->hand(transferOf(*receiver).value, mine.value);
      receiver->mark = static_cast<uint8_t>(ChannelEnd::Done);
      return ChannelEnd::Done;
    }
    if (Side::position(section.tail_) - Side::position(section.head_) >= capacity_) {
      return ChannelEnd::WouldWait;
    }
    mine.type->put(slot(Side::position(section.tail_)), mine.value);
    section.tail_ += Side::kOne;
    return ChannelEnd::Done;
  }

  ChannelEnd receive(Section& section, Transfer& mine) {
    if (Side::position(section.tail_) != Side::position(section.head_)) {
      struct Refill {
        ~Refill() { section.core_.refill(section); }
        Section& section;
      } refill{section};
      section.head_ += Side::kOne;
      type_.get(mine.value, slot(Side::position(section.head_) - 1));
      return ChannelEnd::Done;
    }
    while (Waiter* sender = section.claimFirst(senders_)) {
      sender->mark = static_cast<uint8_t>(ChannelEnd::Done);
      Transfer& theirs = transferOf(*sender);
      if (theirs.type == &type_) {
        theirs.type->hand(mine.value, theirs.value);
        return ChannelEnd::Done;
      }
      // A conversion is the sender's affair, as if there were a slot between them.
      theirs.error.capture([&] { theirs.type->hand(mine.value, theirs.value); });
      if (!theirs.error) {
        return ChannelEnd::Done;
      }
    }
    return (section.tail_ & Side::kClosed) != 0 ? ChannelEnd::Closed : ChannelEnd::WouldWait;
  }

  void close(Section& section) {
    section.tail_ |= Side::kClosed;
    for (WaitList* list : {&senders_, &receivers_}) {
      while (Waiter* waiter = section.claimFirst(*list)) {
        waiter->mark = static_cast<uint8_t>(ChannelEnd::Closed);
      }
    }
  }

  // Within a section: the waiters, with their Transfer in `data`. The wake brings the result, in `mark`.
  WaitList& senders() { return senders_; }
  WaitList& receivers() { return receivers_; }

  bool isClosed() const { return tail_.isClosed(); }
  // An estimate.
  size_t size() const {
    const uint64_t received = head_.estimate();
    const uint64_t sent = tail_.estimate();
    return sent > received ? sent - received : 0;
  }
  size_t capacity() const { return capacity_; }
  const ValueType& type() const { return type_; }
  // For hints.
  ChannelSide<Sync>& sendersSide() { return tail_; }
  ChannelSide<Sync>& receiversSide() { return head_; }

  // Requires: no other thread uses the channel any more.
  // Returns: whether there were no waiters.
  bool destroyValues() {
    const uint64_t sent = tail_.estimate();
    for (uint64_t at = head_.estimate(); at != sent; ++at) {
      type_.destroy(slot(at));
    }
    return senders_.isEmpty() && receivers_.isEmpty();
  }

 private:
  using Side = ChannelSide<Sync>;
  using Word = typename Side::Word;

  static Transfer& transferOf(const Waiter& waiter) { return *static_cast<Transfer*>(waiter.data); }
  unsigned char* slot(uint64_t at) const { return slots_ + (at & mask_) * type_.size; }

  // Moves values of waiting senders into the ring while it has room.
  void refill(Section& section) {
    while (Side::position(section.tail_) - Side::position(section.head_) < capacity_) {
      Waiter* sender = section.claimFirst(senders_);
      if (sender == nullptr) {
        return;
      }
      Transfer& theirs = transferOf(*sender);
      sender->mark = static_cast<uint8_t>(ChannelEnd::Done);
      theirs.error.capture([&] { theirs.type->put(slot(Side::position(section.tail_)), theirs.value); });
      section.tail_ += theirs.error ? 0 : Side::kOne;
    }
  }

  friend struct LayoutAccess;
  const ValueType& type_;
  const uint64_t capacity_;
  const uint64_t mask_;
  const uint64_t ahead_;  // slots from the one in use to the one that is prefetched: three lines, or one slot
  unsigned char* const slots_;

  // Two cache lines apart, since processors fetch pairs of lines. Sections guard the lists.
  alignas(2 * kCacheLine) Side tail_;
  alignas(2 * kCacheLine) Side head_;
  alignas(2 * kCacheLine) WaitList senders_;
  WaitList receivers_;
};

}  // namespace weft::inline v0_1::detail
