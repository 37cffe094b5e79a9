// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <concepts>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/future/launch.h"
#include "weft/future/future.h"

namespace weft::inline v0_1 {

// Schedules function() as a task, and gives its result as a future. The task runs on the scheduler that is
// bound to the calling thread. If none is bound, it runs on defaultExecutor(). Neither suspends nor blocks.
//
//   weft::Future<Image> image = weft::async([=] { return load(path); });
// Takes one allocation. It comes from a pool if function and result are small.
// Returns: the future of what the function returns. If that is a future, the future of its result.
// Memory ordering: the function sees what was written before async().
template <class F>
auto async(F&& function) {
  return detail::launchCall(detail::BoundOrDefaultExecutor(), std::forward<F>(function));
}

// Schedules the task by executor.schedule(TaskHandle), and throws what that throws. With `token`, as
// async(token, function).
template <class E, class F>
  requires(!std::same_as<std::remove_cvref_t<E>, std::stop_token>)
auto async(E&& executor, F&& function) {
  return detail::launchCall(executor, std::forward<F>(function));
}
template <class E, class F>
auto async(E&& executor, std::stop_token token, F&& function) {
  return detail::launchCall(executor, std::forward<F>(function), std::move(token));
}

// As async(function), but if a stop of `token` comes before the function begins, it is not called, and the
// future throws TaskCanceled. If the function takes a std::stop_token, it gets `token`.
template <class F>
auto async(std::stop_token token, F&& function) {
  return detail::launchCall(detail::BoundOrDefaultExecutor(), std::forward<F>(function), std::move(token));
}

template <class First, class Second, class Third, class... More>
  requires(sizeof...(More) > 0 || !std::convertible_to<Second, std::stop_token>)
Future<void> async(First&&, Second&&, Third&&, More&&...) {
  detail::assertNoArguments<detail::kAlwaysFalse<First>>();
  return {};
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
