// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>

#include "weft/debug.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/base/shared.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/detail/wait/wait_group_core.h"
#include "weft/export.h"
#include "weft/memory.h"

namespace weft::inline v0_1 {
namespace detail {
struct LayoutAccess;  // for reports
}

// Waits for several pieces of work: counts those that are not done, and lets fibers and threads wait until
// there are none.
//
//   weft::WaitGroup files;
//   for (const auto& path : paths) {
//     files.add();
//     weft::schedule([=] { read(path); files.done(); });
//   }
//   files.wait();
// A handle: copies share one counter and keep it alive.
class WaitGroup {
 public:
  // Makes a group that waits for `initialCount` pieces of work.
  // Requires: 0 <= initialCount < 2^30; otherwise a message ends the program.
  explicit(false) WaitGroup(ptrdiff_t initialCount = 0, Allocator* allocator = Allocator::Default)
      : state_(allocator, initialCount) {}

  // Adds `count` pieces of work. Neither suspends nor blocks. A wait() that must wait for them begins after
  // add().
  // Requires: 0 <= count, and the count of the group stays below 2^30; otherwise a message ends the program.
  void add(ptrdiff_t count = 1) const {
    const size_t old =
        state_->core.add(static_cast<uint32_t>(count), [this] { state_.checked(); }) / Core::kOne;
    // As size_t: a negative number is too large.
    const auto added = static_cast<size_t>(count);
    WEFT_ASSERT(added < Core::kMax && old + added < Core::kMax,
                "WaitGroup::add(%td) on top of %zu: add() takes 0 or more, and the count must stay below %u.",
                count, old, Core::kMax);
  }

  // Ends a piece of work. Neither suspends nor blocks.
  // Returns: whether it was the last piece.
  // Requires: the count is not zero; otherwise a message ends the program.
  // Memory ordering: after wait() the caller sees what was written before done().
  // Lifetime: the last copy may be destroyed once every wait() has returned, even if done() has not yet.
  bool done() const {
    State& state = *state_;
    if (state.core.tryEnd()) {
      state.wakeAll();
      return true;
    }
    const uint32_t old = state.core.end();
    if (old >= 2 * Core::kOne) [[likely]] {
      return false;
    }
    if (old < Core::kOne) [[unlikely]] {
      state_.checked();
    }
    WEFT_ASSERT(old >= Core::kOne,
                "WaitGroup: done() called too many times: "
                "it was called more often than add() and the initial count allow. "
                "Call it once for each piece of work, and call add() before the work is scheduled.");
    if (old != Core::kOne) {
      state.wakeAllAfterEnd();
    }
    return true;
  }

  // Returns: whether the count is zero. Neither suspends nor blocks.
  // Memory ordering: after true, the caller sees what was written before each done().
  [[nodiscard]] bool test() const {
    if (state_->core.isOver()) {
      return true;
    }
    state_.checked();
    return false;
  }

  // Suspends the fiber, or blocks the thread, until the count is zero.
  void wait() const {
    if (!state_->core.isOver()) {
      state_->wait();
    }
  }

  // As wait(), but also ends at a stop of `token`, after `duration`, or at `time`, never early by its clock.
  // Returns: false if the stop or the time came first. True if the count was zero at the call.
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

 private:
  friend detail::LayoutAccess;
  using Core = detail::WaitGroupCore<>;

  struct State : detail::SharedState {
    static constexpr const char* kName = "a WaitGroup";

    constexpr explicit State(detail::MovedFrom movedFromTag) : SharedState(nullptr), core(movedFromTag) {}
    State(Allocator* from, ptrdiff_t count) : SharedState(from), core(static_cast<uint32_t>(count)) {
      WEFT_ASSERT(count >= 0 && count < int64_t{Core::kMax}, "WaitGroup(%td): the count must be 0 to %u.",
                  count, Core::kMax - 1);
    }
    ~State() {
      WEFT_ASSERT(
          !core.isAwaited(),
          "a WaitGroup was destroyed while somebody waits for it. Keep a copy until wait() has returned.");
    }

    WEFT_EXPORT void wait();
    WEFT_EXPORT bool wait(detail::TimePoint deadline, const std::stop_token& token);
    WEFT_EXPORT void wakeAll();
    WEFT_EXPORT void wakeAllAfterEnd();

    bool queue(detail::Waiter& self);

    WEFT_EXPORT static detail::MovedFromState<State> movedFrom;

    Core core;
  };

  detail::Shared<State> state_;
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
