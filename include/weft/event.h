// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>

#include "weft/detail/base/deadline.h"
#include "weft/detail/base/shared.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/detail/wait/waiter.h"
#include "weft/export.h"
#include "weft/memory.h"

namespace weft {
namespace detail {
struct SelectAccess;
}

// A flag that fibers and threads wait for.
//
//   weft::Event loaded(weft::Event::Mode::Manual);
//   weft::schedule([=] { load(); loaded.signal(); });
//   loaded.wait();
//
// A handle: copies share one event, and capturing one by value keeps it alive. Waiters are woken first in,
// first out.
// Lifetime: the last copy may be destroyed as soon as every wait() has returned, also while signal() is still
// returning.
class Event {
 public:
  enum class Mode : uint8_t {
    Auto,    // a signal lets one wait() return, and is used up by it
    Manual,  // a signal lets every wait() return until clear()
  };

  explicit(false)
      Event(Mode mode = Mode::Auto, bool initialState = false, Allocator* allocator = Allocator::Default)
      : state_(allocator, mode, initialState) {}

  // Signals the event. Signalling one that is signalled already changes nothing. Neither suspends nor blocks.
  // Memory ordering: what was written before signal() is seen after the wait() or test() that finds the
  // signal.
  void signal() const { state_->signal(); }

  // Takes a signal back that nobody has used.
  void clear() const { state_->clear(); }

  // Suspends the fiber, or blocks the thread, until the event is signalled.
  void wait() const { state_->wait(detail::kNever); }

  // As wait(), at most for `duration`. Returns: false when the time was up first.
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& duration) const {
    return state_->wait(detail::deadlineAfter(duration));
  }

  // As wait(), at most until `time`; never early by its clock. Returns: false when the time was up first.
  template <class Clock, class Duration>
  bool wait_until(const std::chrono::time_point<Clock, Duration>& time) const {
    return detail::waitUntilByClock(time,
                                    [this](detail::TimePoint deadline) { return state_->wait(deadline); });
  }

  // The same, but not beyond a stop that is requested by `token`. Returns: false when the stop, or the time,
  // came first; an event that is signalled already wins.
  bool wait(const std::stop_token& token) const { return state_->wait(detail::kNever, token); }
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& duration, const std::stop_token& token) const {
    return state_->wait(detail::deadlineAfter(duration), token);
  }
  template <class Clock, class Duration>
  bool wait_until(const std::chrono::time_point<Clock, Duration>& time, const std::stop_token& token) const {
    return detail::waitUntilByClock(
        time, token, [&](detail::TimePoint deadline) { return state_->wait(deadline, token); });
  }

  // Returns: whether the event was signalled; uses up the signal of an Auto event.
  bool test() const { return state_->tryWait(); }

  // Returns: whether the event is signalled; uses nothing up.
  bool isSignalled() const { return state_->isSignalled(); }

  // Returns: an event that is signalled whenever one of the events [begin, end) is, or is so already. It
  // forwards without using up the signals of its sources, and keeps them alive.
  template <class Iterator>
  static Event any(Mode mode, const Iterator& begin, const Iterator& end) {
    Event result(mode, false);
    for (Iterator it = begin; it != end; ++it) {
      State::forward(*it->state_, *result.state_);
    }
    return result;
  }
  template <class Iterator>
  static Event any(const Iterator& begin, const Iterator& end) {
    return any(Mode::Auto, begin, end);
  }

 private:
  friend detail::SelectAccess;
  struct Forward;

  struct State : detail::SharedState {
    static constexpr bool kMayBeUpgraded = true;  // by a source that signals an event made by any()

    State(Allocator* from, Mode eventMode, bool isSignalled)
        : SharedState(from), word(isSignalled ? kSignalled : 0), mode(eventMode) {}
    WEFT_EXPORT ~State();

    WEFT_EXPORT void signal();
    WEFT_EXPORT void clear();
    WEFT_EXPORT bool tryWait();
    WEFT_EXPORT bool wait(detail::TimePoint deadline);
    WEFT_EXPORT bool wait(detail::TimePoint deadline, const std::stop_token& token);
    // (1) acquire: as test(); pairs with the releases in event.cpp.
    bool isSignalled() const { return (word.load(std::memory_order_acquire) & kSignalled) != 0; }
    WEFT_EXPORT static void forward(State& source, State& any);

    struct ListLock;
    uintptr_t lock();
    void unlock(uintptr_t signalled);
    void signalSlow();
    detail::Waiter* claimFirst();
    void wakeAndUnlock(uintptr_t wasSignalled);
    bool waitSlow(detail::Waiter& self);

    // kListed: waiters or forwards is not empty. Without any of the three bits: the address of the only
    // waiter, or null.
    static constexpr uintptr_t kSignalled = 1, kLocked = 2, kListed = 4, kBits = 7;

    std::atomic<uintptr_t> word;  // changed by compare-exchange while unlocked, and by the holder of kLocked
    const Mode mode;
    bool hasSelects = false;      // waiters may contain a SelectNode; guarded by kLocked
    uint32_t numForwards = 0;     // guarded by kLocked
    detail::WaitList waiters;     // guarded by kLocked
    Forward* forwards = nullptr;  // to events made by any() from this one; guarded by kLocked
    Forward* sources = nullptr;   // of an event made by any(): its own
  };

  detail::Shared<State> state_;
};

}  // namespace weft
