// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select.h"

#include <cstddef>
#include <memory>
#include <new>
#include <stop_token>
#include <utility>

#include "scheduler/core/waiter_inl.h"
#include "scheduler/fibers/fiber_control_block.h"
#include "weft/debug.h"
#include "weft/detail/base/random.h"
#include "weft/detail/channel/select_core.h"
#include "weft/detail/wait/stoppable.h"

namespace weft::inline v0_1::detail {

struct SelectAccess {
  using EventState = Event::State;

  static EventState& stateOf(const Event& event) { return event.state_.checked(); }
};

namespace {

using EventState = SelectAccess::EventState;

// Returns: the index of the case where a select begins to look, which may be any of its cases.
size_t randomBelow(size_t count) {
  thread_local uint64_t random = 0x9e3779b97f4a7c15u ^ reinterpret_cast<uintptr_t>(&currentFiber);
  random = nextRandom(random);
  return ((random >> 32) * count) >> 32;
}

ChannelState& channelOf(void* primitive) { return *static_cast<ChannelState*>(primitive); }
EventState& eventOf(void* primitive) { return *static_cast<EventState*>(primitive); }

}  // namespace

SelectCase::SelectCase(Kind kind, ChannelState& channel, void* value) : kind_(kind), primitive_(&channel) {
  transfer_.value = value;
  transfer_.type = &channel.type();
}

SelectCase::SelectCase(const Event& event) : kind_(Kind::Signal), primitive_(&SelectAccess::stateOf(event)) {}

inline void SelectCase::lock() {
  holder_ = this;
  if (kind_ == Kind::Signal) {
    signalled_ = eventOf(primitive_).core.lock();
  } else {
    section_ = ::new (roomForSection_) ChannelState::Section(channelOf(primitive_));
  }
}

inline void SelectCase::unlock() {
  if (kind_ == Kind::Signal) {
    eventOf(primitive_).core.unlock(signalled_);
  } else {
    section_->unlock();
  }
}

inline void SelectCase::wake() {
  if (section_ != nullptr) {
    std::exchange(section_, nullptr)->~Section();
  }
}

inline bool SelectCase::act() {
  if (kind_ == Kind::Signal) {
    const bool happens = holder_->signalled_ != 0;
    holder_->signalled_ = happens && eventOf(primitive_).core.isAuto() ? 0 : holder_->signalled_;
    return happens;
  }
  ChannelState& channel = channelOf(primitive_);
  ChannelState::Section& section = *holder_->section_;
  end_ = kind_ == Kind::Send ? channel.ChannelCore::send(section, transfer_)
                             : channel.ChannelCore::receive(section, transfer_);
  return end_ != ChannelEnd::WouldWait;
}

inline bool SelectCase::tryAlone() {
  if (isOfChannel()) [[likely]] {
    struct Alone {
      ~Alone() { one.wake(); }
      SelectCase& one;
    } alone{*this};
    lock();
    return act();
  }
  if (kind_ == Kind::Signal) {
    return eventOf(primitive_).core.tryWait();
  }
  switch (kind_) {
    case Kind::Time:
      return deadline_ != kNever && TimePoint::clock::now() >= deadline_;
    case Kind::Stop:
      return token_->stop_requested();
    case Kind::OneSided:
    case Kind::Active:
      return static_cast<OneSidedCase*>(this)->tryTake();
    case Kind::Send:
    case Kind::Receive:
    case Kind::Signal:
    case Kind::Otherwise:
      break;
  }
  return false;
}

inline WaitList& SelectCase::waiters() {
  if (kind_ == Kind::Signal) {
    return eventOf(primitive_).core.list();
  }
  return kind_ == Kind::Send ? channelOf(primitive_).senders() : channelOf(primitive_).receivers();
}

inline void SelectCase::link() {
  node.data = &transfer_;
  if (kind_ == Kind::Signal) {
    eventOf(primitive_).core.hasSelects = true;
  }
  waiters().pushBack(node);
}

inline bool SelectCase::takeOrLink() { return static_cast<OneSidedCase*>(this)->takeOrLink(); }

inline void SelectCase::unlinkAlone() { static_cast<OneSidedCase*>(this)->unlink(); }

inline ChannelEnd SelectCase::arrive() {
  if (isOfChannel()) {
    return static_cast<ChannelEnd>(node.mark);
  }
  const bool isOver = !isOneSided() || static_cast<OneSidedCase*>(this)->arrive();
  return isOver ? ChannelEnd::Done : ChannelEnd::Retry;
}

inline void SelectCase::unlink() {
  lock();
  if (node.isLinked) {
    waiters().remove(node);
  }
  unlock();
  wake();
}

void SelectCase::keepAll(std::stop_token& token) {
  if (kind_ == Kind::Signal) {
    eventOf(primitive_).retain();
  } else if (primitive_ != nullptr) {
    channelOf(primitive_).retain();
  } else if (kind_ == Kind::Stop) {
    token = *token_;
    token_ = &token;
  } else if (isOneSided()) {
    static_cast<OneSidedCase*>(this)->keep();
  }
}

void SelectCase::letGo() {
  if (kind_ == Kind::Signal) {
    (void)Shared<EventState>::adopt(&eventOf(primitive_));
  } else if (primitive_ != nullptr) {
    (void)Shared<ChannelState>::adopt(&channelOf(primitive_));
  }
}

// As the host of blockStoppable(), with a look at the active cases now and then.
template <class Look>
struct ActiveHost {
  static void block(Waiter& self) { detail::block(self, "select", nullptr); }
  bool blockUntil(Waiter& self) const {
    for (;;) {
      TimePoint next = deadline;
      if (look(next)) {
        return true;
      }
      // A wait that looks again but never gives up may be part of a deadlock. A wait that gives up is not.
      const bool isWoken = deadline == kNever ? blockForLock(self, next, "select", nullptr)
                                              : detail::blockUntil(self, next, "select", nullptr);
      if (isWoken || next == deadline) {
        return isWoken;
      }
    }
  }
  static void wake(Waiter& waiter) { detail::wake(waiter); }
  static bool isOwn(const Waiter& waiter) { return isOwnWaiter(waiter); }
  template <class F>
  std::stop_callback<F> onStop(const F& function) const {
    return std::stop_callback<F>(token, function);
  }

  const Look& look;
  const TimePoint deadline;
  const std::stop_token token;
};
template <class Look>
ActiveHost(const Look&, TimePoint, std::stop_token) -> ActiveHost<Look>;

// Knows which of the cases end the wait by themselves. Cases: see SelectCore.
template <class Cases>
class Selection {
 public:
  Selection(Cases cases, size_t count)
      : cases_(cases), count_(count), core_(cases, count, randomBelow(count)) {
    for (size_t i = 0; i < count; ++i) {
      const SelectCase& one = *cases[i];
      if (one.kind_ == SelectCase::Kind::Time &&
          (time_ == kNone || one.deadline_ < cases[time_]->deadline_)) {
        time_ = i;
      } else if (one.kind_ == SelectCase::Kind::Stop) {
        WEFT_ASSERT(stop_ == kNone,
                    "select() was given more than one onStop(). "
                    "Make one std::stop_source stop with the others, by a std::stop_callback, "
                    "and wait for that one.");
        stop_ = i;
      } else if (one.kind_ == SelectCase::Kind::Otherwise) {
        otherwise_ = i;
      } else if (one.kind_ == SelectCase::Kind::Active) {
        hasActive_ = true;
      }
    }
  }

  size_t run() {
    for (;;) {
      size_t chosen = core_.tryEachAlone();
      chosen = chosen == kNone ? otherwise_ : chosen;
      if (chosen == kNone) {
        chosen = waitForOne();
      }
      SelectCase& one = *cases_[chosen];
      if (one.end_ != ChannelEnd::Retry) {
        return chosen;
      }
      one.end_ = ChannelEnd::Done;  // a one-sided case that happens next time does not set it
    }
  }

 private:
  static constexpr size_t kNone = SelectCore<SelectCase, Cases>::kNone;
  static constexpr uint32_t kLimit = UINT32_MAX - 1;

  size_t waitForOne() {
    Waiter& self = inlined::currentWaiter();
    SelectChoice<> choice;
    size_t chosen = core_.tryOrLink(self, choice);
    if (chosen == kNone) {
      const WaitEnd end = wait(self, choice);
      core_.unlink(end == WaitEnd::Woken ? choice.get() : kNone);
      if (end != WaitEnd::Woken) {
        return end == WaitEnd::TimedOut ? time_ : stop_;
      }
      chosen = choice.get();
      SelectCase& one = *cases_[chosen];
      one.transfer_.error.rethrow();
      one.end_ = one.arrive();
    }
    return chosen;
  }

  WaitEnd wait(Waiter& self, SelectChoice<>& choice) const {
    if (hasActive_) [[unlikely]] {
      return waitActively(self, choice);
    }
    if (time_ == kNone && stop_ == kNone) [[likely]] {
      inlined::block(self, "select", nullptr);
      return WaitEnd::Woken;
    }
    return blockStoppable(
        self, deadline(), token(), [&] { return choice.tryChoose(kLimit); }, "select", nullptr);
  }

  TimePoint deadline() const { return time_ == kNone ? kNever : cases_[time_]->deadline_; }
  std::stop_token token() const { return stop_ == kNone ? std::stop_token() : *cases_[stop_]->token_; }

  [[gnu::noinline]] WaitEnd waitActively(Waiter& self, SelectChoice<>& choice) const {
    forEachActive([](ActiveCase& one) {
      one.begin();
      return false;
    });
    const auto look = [this](TimePoint& next) {
      return forEachActive([&](ActiveCase& one) { return one.look(next); });
    };
    const WithoutHandler withoutHandler;
    const ActiveHost host{look, deadline(), token()};
    return blockStoppableBy<StdSync>(self, host, [&] { return choice.tryChoose(kLimit); });
  }

  template <class Call>
  bool forEachActive(const Call& call) const {
    for (size_t i = 0; i < count_; ++i) {
      SelectCase& one = *cases_[i];
      if (one.kind_ == SelectCase::Kind::Active && call(static_cast<ActiveCase&>(one))) {
        return true;
      }
    }
    return false;
  }

  const Cases cases_;
  const size_t count_;
  SelectCore<SelectCase, Cases> core_;
  size_t time_ = kNone, stop_ = kNone, otherwise_ = kNone;
  bool hasActive_ = false;
};

size_t selectOne(SelectCase* const* cases, size_t count) { return Selection(cases, count).run(); }

// A list of cases as SelectCore takes it.
struct AnyCases {
  const std::shared_ptr<ErasedCase>& at(size_t i) const { return first[i].erased_; }
  SelectCase* operator[](size_t i) const { return &at(i)->it; }

  AnyCase* first;
};

size_t selectFrom(AnyCase* first, size_t count) {
  const AnyCases cases{first};
  WEFT_ASSERT(count > 0, "select() was given an empty list of cases: it needs something to wait for.");
  for (size_t i = 0; i < count; ++i) {
    WEFT_ASSERT(cases.at(i) != nullptr, "select(): case %zu of the list was moved from. Take it out.", i);
    WEFT_ASSERT(!cases.at(i)->isUsedUp,
                "select(): case %zu of the list is an onSend() whose value was sent. "
                "Put a new case in its place, or take it out.",
                i);
  }
  const size_t chosen = Selection(cases, count).run();
  // The handler may change the list.
  const std::shared_ptr<ErasedCase> kept = cases.at(chosen);
  kept->run();
  return chosen;
}

}  // namespace weft::inline v0_1::detail
