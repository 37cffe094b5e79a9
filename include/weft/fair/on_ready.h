// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <concepts>
#include <type_traits>
#include <utility>

#include "weft/detail/channel/cases.h"
#include "weft/detail/fair/coro_case.h"
#include "weft/fair/coro.h"
#include "weft/fair/task.h"
#include "weft/select.h"

namespace weft::inline v0_1 {

// A case of select() that waits until the body of `task`, a fair::CoroTask, has ended, as task.wait() does.
// It calls handler(task), with the task itself, or handler().
//
//   weft::select(weft::onReady(task, [] { std::puts("ended"); }),
//                weft::onTimeout(std::chrono::seconds(1), [&] { scheduler.wakeup(&task); }));
// A body that has ended can always happen: a loop around select() leaves the case out then.
// Requires: the caller is not the body; otherwise a message ends the program. A step should not wait.
// Memory ordering: the handler sees what the body did.
// Lifetime: refers to `task`, which must live until select() returns, or as long as an AnyCase of it.
template <class T, class Handler = detail::Ignore>
  requires std::derived_from<std::remove_cvref_t<T>, fair::Task>
[[nodiscard]] auto onReady(T&& task, Handler handler = {}) {
  constexpr bool kEnds = std::derived_from<std::remove_cvref_t<T>, fair::CoroTask>;
  constexpr bool kLives =
      !kEnds || (std::is_lvalue_reference_v<T> && !std::is_const_v<std::remove_reference_t<T>>);
  constexpr bool kCanBeCalled =
      !kEnds || !kLives || std::invocable<Handler&, fair::CoroTask&> || std::invocable<Handler&>;
  static_assert(
      kEnds,
      "onReady(task, handler): only a fair::CoroTask knows when it ends. "
      "Let the last step of a fair::Task signal a weft::Event, and write onSignal(event, handler).");
  static_assert(kLives,
                "onReady(task, handler) refers to the task, which must live until select() has returned. "
                "Give it a variable that is not const, without std::move().");
  static_assert(kCanBeCalled,
                "onReady(task, handler): the handler takes the task by reference, or nothing. "
                "Write onReady(task, [&](auto& ended) { ... }).");
  if constexpr (kEnds && kLives && kCanBeCalled) {
    return detail::SubjectCase<detail::CoroCase, Handler>("onReady()", std::move(handler), task);
  } else {
    return detail::PlainCase<detail::Ignore>(detail::Ignore());
  }
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
