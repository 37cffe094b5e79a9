// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <cstdint>
#include <stop_token>

#include "weft/detail/base/deadline.h"
#include "weft/detail/base/shared.h"
#include "weft/detail/wait/event_core.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/export.h"
#include "weft/memory.h"

namespace weft::inline v0_1 {
namespace detail {
struct LayoutAccess;  // for reports
struct SelectAccess;
}  // namespace detail

// A flag that fibers and threads wait for.
//
//   weft::Event loaded(weft::Event::Mode::Manual);
//   weft::schedule([=] { load(); loaded.signal(); });
//   loaded.wait();
// A handle: copies share one event and keep it alive. Waiters are woken first in, first out.
// Lifetime: the last copy may be destroyed once every wait() has returned, even if signal() has not yet.
class Event {
 public:
  // How long a signal lasts.
  enum class Mode : uint8_t {
    Auto,    // a signal lets one wait() return, and is used up by it
    Manual,  // a signal lets every wait() return until clear()
  };

  // Makes an event, which is signalled if `initialState` is true.
  explicit(false)
      Event(Mode mode = Mode::Auto, bool initialState = false, Allocator* allocator = Allocator::Default)
      : state_(allocator, mode, initialState) {}

  // Signals the event, which may be signalled already. Neither suspends nor blocks.
  // Memory ordering: the wait() or test() that finds the signal sees what was written before signal().
  void signal() const { state_->signal(); }

  // Takes back a signal that no wait() or test() has used.
  void clear() const { state_.checked().clear(); }

  // Suspends the fiber, or blocks the thread, until the event is signalled.
  void wait() const { state_->wait(); }

  // As wait(), but also ends at a stop of `token`, after `duration` or at `time`; never early by that clock.
  // Returns: false if one of these came first. An event that is signalled already wins.
  bool wait(const std::stop_token& token) const { return state_->wait(detail::kNever, token); }
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& duration, const std::stop_token& token = {}) const {
    return state_->wait(detail::deadlineAfter(duration), token);
  }
  template <class Clock, class Duration>
  bool wait_until(const std::chrono::time_point<Clock, Duration>& time,
                  const std::stop_token& token = {}) const {
    return detail::waitUntilByClock(
        time, token, [&](detail::TimePoint deadline) { return state_->wait(deadline, token); });
  }

  // Returns: whether the event was signalled. Uses up the signal of an Auto event.
  bool test() const { return state_.checked().tryWait(); }

  // Returns: whether the event is signalled. Uses nothing up.
  bool isSignalled() const { return state_.checked().core.isSignalled(); }

  // Returns: an event that is signalled whenever one of the events [begin, end) is, or already was. It
  // forwards signals without using them up, and keeps its sources alive. Duplicates count once.
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
  friend detail::LayoutAccess;
  friend detail::SelectAccess;
  struct Forward;
  class Targets;

  struct State : detail::SharedState {
    static constexpr bool kMayBeUpgraded = true;  // by a source that signals an event made by any()

    static constexpr const char* kName = "an Event";

    constexpr explicit State(detail::MovedFrom movedFromTag) : SharedState(nullptr), core(movedFromTag) {}
    State(Allocator* from, Mode mode, bool isSignalled)
        : SharedState(from), core(mode == Mode::Auto, isSignalled) {}
    WEFT_EXPORT void signal();
    WEFT_EXPORT void clear();
    WEFT_EXPORT bool tryWait();
    WEFT_EXPORT void wait();
    WEFT_EXPORT bool wait(detail::TimePoint deadline, const std::stop_token& token);
    WEFT_EXPORT static void forward(State& source, State& any);

    // Called by Shared.
    WEFT_EXPORT static void free(State* state) noexcept;

    void signalSlow();
    void signalAndCollect(Targets& targets);
    static bool isForwarded(const State& source, const State& any);
    bool queue(detail::Waiter& self);

    WEFT_EXPORT static detail::MovedFromState<State> movedFrom;

    detail::EventCore<> core;
    union {
      Forward* forwards = nullptr;  // to events made by any() from this one; guarded by the core's lock
      State* nextToFree;            // of an event that any() did not make, once its last handle is gone
    };
    Forward* sources = nullptr;  // of this event, if any() made it
  };

  detail::Shared<State> state_;
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
