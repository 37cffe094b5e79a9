// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <concepts>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/future/launch.h"
#include "weft/future/future.h"

namespace weft::inline v0_1 {

// Schedules function() as a task on the bound scheduler, or else on defaultExecutor(). Takes one allocation,
// pooled if function and result are small. Neither suspends nor blocks.
// Returns: the future of what the function returns, or of the result of the future that it returns.
// Memory ordering: the function sees what came before.
template <class F>
auto async(F&& function) {
  return detail::launchCall(detail::BoundOrDefaultExecutor(), std::forward<F>(function));
}

// Schedules by executor.schedule(TaskHandle), and throws what that throws.
template <class E, class F>
  requires(!std::same_as<std::remove_cvref_t<E>, std::stop_token>)
auto async(E&& executor, F&& function) {
  return detail::launchCall(executor, std::forward<F>(function));
}
template <class E, class F>
auto async(E&& executor, std::stop_token token, F&& function) {
  return detail::launchCall(executor, std::forward<F>(function), std::move(token));
}

// Does not call the function if a stop of `token` comes before it begins: then the future throws
// TaskCanceled. The function may take the token.
template <class F>
auto async(std::stop_token token, F&& function) {
  return detail::launchCall(detail::BoundOrDefaultExecutor(), std::forward<F>(function), std::move(token));
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
