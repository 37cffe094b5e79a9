// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/future/after.h"

#include <optional>

#include "weft/cancellation.h"
#include "weft/detail/base/node_memory.h"
#include "weft/detail/future/launch.h"
#include "weft/detail/future/timer.h"
#include "weft/detail/future/within.h"

namespace weft::inline v0_1::detail {
namespace {

// The timer has a reference until it has expired. A stop takes it over by cancelling the timer.
struct AfterState final : FutureState<void>, Timer {
  struct Stop {
    void operator()() const noexcept {
      if (detail::cancelTimer(*state)) {
        detail::setCanceled(state->outcome.error());
        state->complete();
      }
    }
    AfterState* state;
  };

  explicit AfterState(TimePoint time) : FutureState<void>(&invokeThis, 2), Timer(time, &expireThis) {}

  static void invokeThis(TaskNode* node, TaskOp) {
    NodeMemory<AfterState>::destroy(*static_cast<AfterState*>(node));
  }
  static void expireThis(Timer& timer) { static_cast<AfterState&>(timer).complete(); }

  std::optional<std::stop_callback<Stop>> onStop;
};

}  // namespace

Future<void> afterDeadline(TimePoint deadline, const std::stop_token& token) {
  auto* const state = detail::makeState<AfterState>(deadline);
  Future<void> future = FutureAccess::make<void>(state);
  EscapedException error;
  error.capture([&] { detail::startTimer(*state); });
  if (error) {
    state->release();  // the timer's
    error.rethrow();
  }
  if (token.stop_possible()) {
    state->onStop.emplace(token, AfterState::Stop{state});
  }
  return future;
}

}  // namespace weft::inline v0_1::detail
