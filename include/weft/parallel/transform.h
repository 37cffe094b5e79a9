// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <initializer_list>
#include <stdexcept>
#include <stop_token>
#include <utility>

#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/forkjoin/run_on.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/stop.h"
#include "weft/detail/parallel/transform.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {

// Writes function(element) for each element of a range to `out`, which may be where the range begins. Range,
// splitting, suspension, errors and lifetimes are those of parallelFor().
//
//   weft::parallelTransform(names, lengths.begin(), [](const std::string& name) { return name.size(); });
// Returns: the end of what was written. After a stop of `token`, elements before it may be as they were.
// Requires: `out` is a forward iterator to as many assignable elements, not to the bits of a vector<bool>.
// `function` may be called on several threads at the same time.
template <detail::Partitionable Range, class Out, class F>
Out parallelTransform(Range&& range, Out out, F&& function, const std::stop_token& token = {}) {
  return detail::transformTo(out, function, token, detail::partition(std::forward<Range>(range)));
}
template <class T, class Out, class F>
Out parallelTransform(std::initializer_list<T> elements, Out out, F&& function,
                      const std::stop_token& token = {}) {
  return detail::transformTo(out, function, token, detail::partition(elements));
}

// With two ranges, writes function(a, b) for each pair of elements.
//
//   weft::parallelTransform(a, b, sums.begin(), std::plus<>());
// The first range may be two iterators, and the second one its first iterator, as for std::transform.
// Errors: std::invalid_argument if the second range is shorter than the first.
template <class First, class Second, class Out, class F>
  requires(!Executor<First> && !detail::StopToken<F>)
Out parallelTransform(First&& first, Second&& second, Out out, F&& function,
                      const std::stop_token& token = {}) {
  if constexpr (detail::Partitionable<First> && detail::Partitionable<Second>) {
    const auto range = detail::partition(std::forward<First>(first));
    const auto other = detail::partition(std::forward<Second>(second));
    if (other.count < range.count) [[unlikely]] {
      detail::throwOrDie(
          std::invalid_argument("parallelTransform() got a second range that is shorter than the first."));
    }
    return detail::transformTo(out, function, token, range, other.first);
  } else {
    return detail::transformTo(out, function, token, detail::partition(first, second));
  }
}
template <class Begin, class End, detail::Endpoint Other, class Out, class F>
  requires(detail::Endpoints<Begin, End> && !detail::StopToken<F>)
Out parallelTransform(Begin begin, End end, Other other, Out out, F&& function,
                      const std::stop_token& token = {}) {
  return detail::transformTo(out, function, token, detail::partition(begin, end), other);
}

// Calls parallelTransform(args...) in a task of `executor`, as parallelFor() with an executor does.
template <Executor E, class... Args>
auto parallelTransform(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelTransform(std::forward<Args>(args)...); });
}
template <Executor E, class Element, class... Args>
auto parallelTransform(E&& executor, std::initializer_list<Element> elements, Args&&... args) {
  return detail::runOn(executor,
                       [&] { return weft::parallelTransform(elements, std::forward<Args>(args)...); });
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
