// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>

#include "weft/detail/base/deadline.h"
#include "weft/detail/channel/state.h"
#include "weft/detail/wait/select_node.h"
#include "weft/detail/wait/waiter.h"
#include "weft/export.h"

namespace weft::inline v0_1 {

class Event;

namespace detail {

// For a case that an AnyCase makes of another one, which is not used any more.
struct Erase {};

// One case of a select(), with what SelectCore needs of it. Used in place, by one select() at a time.
class SelectCase {
 public:
  SelectCase(const SelectCase&) = delete;

  const void* key() const { return primitive_; }
  bool isOneSided() const { return kind_ >= Kind::OneSided; }
  void lock();
  void unlock();
  void shareLock(SelectCase& other) { holder_ = &other; }
  void wake();
  bool act();
  bool tryAlone();
  void link();
  bool takeOrLink();
  void unlinkAlone();
  void unlink();

  // For an AnyCase: keeps the channel or event until letGo(), and the token in `token`.
  WEFT_EXPORT void keepAll(std::stop_token& token);
  WEFT_EXPORT void letGo();
  // Requires: this case has happened.
  bool hasSent() const { return kind_ == Kind::Send && end_ == ChannelEnd::Done; }

  SelectNode<> node;
  SelectCase* nextInOrder = nullptr;

 protected:
  enum class Kind : uint8_t { Send, Receive, Signal, Time, Stop, Otherwise, OneSided, Active };

  // `value`: a sender's T, a receiver's std::optional<T>.
  WEFT_EXPORT SelectCase(Kind kind, ChannelState& channel, void* value);
  WEFT_EXPORT explicit SelectCase(const Event& event);
  explicit SelectCase(TimePoint deadline) : kind_(Kind::Time), deadline_(deadline) {}
  explicit SelectCase(const std::stop_token& token) : kind_(Kind::Stop), token_(&token) {}
  explicit SelectCase(Kind kind = Kind::Otherwise) : kind_(kind) {}
  SelectCase(Erase, const SelectCase& from)
      : kind_(from.kind_), primitive_(from.primitive_), deadline_(from.deadline_), token_(from.token_) {
    transfer_.type = from.transfer_.type;
  }
  ~SelectCase() = default;

  void setValue(void* value) { transfer_.value = value; }
  bool isClosed() const { return end_ == ChannelEnd::Closed; }

 private:
  template <class Cases>
  friend class Selection;

  WaitList& waiters();
  bool isOfChannel() const { return kind_ <= Kind::Receive; }
  ChannelEnd arrive();

  const Kind kind_;
  ChannelEnd end_ = ChannelEnd::Done;
  void* primitive_ = nullptr;  // a ChannelState or an Event's state
  Transfer transfer_;
  TimePoint deadline_ = kNever;
  const std::stop_token* token_ = nullptr;
  SelectCase* holder_ = this;  // has the lock of the primitive
  // Of a channel, in the room below, until its claimed waiters are woken.
  ChannelState::Section* section_ = nullptr;
  alignas(ChannelState::Section) unsigned char roomForSection_[sizeof(ChannelState::Section)];
  uintptr_t signalled_ = 0;  // of an event, while it is locked
};

// A case of what no two selects face each other on: a semaphore, for instance. It locks what it waits for by
// itself, and `node` alone is linked there.
class OneSidedCase : public SelectCase {
 public:
  // Takes what the case stands for, if that is there. Returns: whether it did.
  virtual bool tryTake() = 0;
  // Takes it if that claims the select, by claim(node), under the lock of what the case waits for. Links
  // `node` if it is not there. Returns: whether it took it. If the select is claimed already, it takes
  // nothing, and may link.
  virtual bool takeOrLink() = 0;
  // Takes `node` out if it is linked. Waits for a claimer that uses it under the lock.
  virtual void unlink() = 0;
  // For an AnyCase: keeps what the case waits for, as long as the case exists.
  virtual void keep() = 0;
  // The case was chosen while the select waited, and all nodes are unlinked. Takes what the case stands for,
  // if who has chosen it could not. Returns: whether it is taken; if not, the select begins anew.
  virtual bool arrive() { return true; }

 protected:
  explicit OneSidedCase(Kind kind = Kind::OneSided) : SelectCase(kind) {}
  OneSidedCase(Erase erase, const OneSidedCase& from) : SelectCase(erase, from) {}
  ~OneSidedCase() = default;
};

// A one-sided case that takes part in the wait of its select.
class ActiveCase : public OneSidedCase {
 public:
  // The select begins to wait, with all nodes linked.
  virtual void begin() {}
  // Called when the select begins to wait, and again at the time that the last call gave, perhaps earlier.
  // Takes what the case stands for, if it can be had, and that claims the select. `next` is lowered to the
  // time of the next call. Returns: whether it took it.
  virtual bool look(TimePoint& next) = 0;

 protected:
  ActiveCase() : OneSidedCase(Kind::Active) {}
  ActiveCase(Erase erase, const ActiveCase& from) : OneSidedCase(erase, from) {}
  ~ActiveCase() = default;
};

// Waits for one of the cases. Returns: which one.
WEFT_EXPORT size_t selectOne(SelectCase* const* cases, size_t count);

}  // namespace detail
}  // namespace weft::inline v0_1
