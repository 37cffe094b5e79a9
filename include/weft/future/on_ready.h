// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <concepts>
#include <type_traits>
#include <utility>

#include "weft/detail/channel/cases.h"
#include "weft/detail/future/handle.h"
#include "weft/detail/future/ready_case.h"
#include "weft/select.h"

namespace weft::inline v0_1 {

// A case of select() that waits until `future`, a Future or SharedFuture, has a value or an exception. It
// calls handler(future), with the future itself, or handler().
//
//   weft::Future<Page> page = weft::async([&] { return fetch(url); });
//   weft::select(weft::onReady(page, [&](weft::Future<Page>& ready) { show(ready.get()); }),
//                weft::onTimeout(std::chrono::seconds(1), [] { std::puts("still loading"); }));
// A future that is ready can always happen: a loop around select() leaves the case out then.
// Requires: future.valid() when select() is called; otherwise a message ends the program.
// Lifetime: refers to `future`, which must live until select() returns, or as long as an AnyCase of it.
template <class F, class Handler = detail::Ignore>
[[nodiscard]] auto onReady(F&& future, Handler handler = {}) {
  using Given = std::remove_reference_t<F>;
  constexpr bool kIsFuture = std::derived_from<std::remove_cv_t<Given>, detail::FutureHandle>;
  constexpr bool kLives = !kIsFuture || std::is_lvalue_reference_v<F>;
  constexpr bool kCanBeCalled =
      !kIsFuture || !kLives || std::invocable<Handler&, Given&> || std::invocable<Handler&>;
  static_assert(kIsFuture, "onReady(future, handler): the first argument is a Future or a SharedFuture.");
  static_assert(kLives,
                "onReady(future, handler) refers to the future, which must live until select() has returned. "
                "Give the temporary a name, and pass that without std::move().");
  static_assert(kCanBeCalled,
                "onReady(future, handler): the handler takes the future by reference, or nothing. "
                "Write onReady(future, [&](auto& ready) { ... }).");
  if constexpr (kIsFuture && kLives && kCanBeCalled) {
    return detail::SubjectCase<detail::ReadyCase<Given>, Handler>("onReady()", std::move(handler), future);
  } else {
    return detail::PlainCase<detail::Ignore>(detail::Ignore());
  }
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
