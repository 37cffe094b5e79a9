// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/forkjoin/run_on.h"
#include "weft/detail/parallel/for.h"
#include "weft/detail/parallel/partition.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {

namespace detail {

template <class Iterator>
inline constexpr bool kIsSteppable = requires(Iterator at) { at += 1; };

// The iterators of the output and of the inputs, advanced together.
template <class Out, class... In>
struct Together {
  using difference_type = std::ptrdiff_t;

  const Together& operator*() const { return *this; }
  Together& operator++() {
    ++out;
    std::apply([](auto&... each) { ((void)++each, ...); }, in);
    return *this;
  }
  Together& operator+=(difference_type n)
    requires(kIsSteppable<Out> && (kIsSteppable<In> && ...))
  {
    out += n;
    std::apply([n](auto&... each) { ((void)(each += n), ...); }, in);
    return *this;
  }

  Out out;
  std::tuple<In...> in;
};

template <class Out, class F, class Iterator, class... Others>
Out transformFrom(Out out, F& function, const Partition<Iterator>& range, Others... others) {
  detail::assertCallable(function, "parallelTransform");
  using Cursor = Together<Out, Iterator, Others...>;
  const Partition<Cursor> together{{out, {range.first, others...}}, range.count, range.grain, range.isStatic};
  const auto apply = [&function](const Cursor& at) {
    std::apply([&](const auto&... in) { *at.out = function(*in...); }, at.in);
  };
  detail::forEachOf(together, apply, {}, "parallelTransform");
  detail::skip(out, range.count);
  return out;
}

template <class Out, class F, class Iterator, class... Others>
Out transformTo(Out out, F& function, const Partition<Iterator>& range, Others... others) {
  if constexpr (detail::assertElementFunction<F, const Iterator, const Others...>()) {
    using Result = std::invoke_result_t<F&, decltype(*std::declval<const Iterator&>()),
                                        decltype(*std::declval<const Others&>())...>;
    if constexpr (detail::assertOutput<Out, Result>() && (detail::assertMultipass<Others>() && ...)) {
      return detail::transformFrom(out, function, range, others...);
    }
  }
  return out;
}

}  // namespace detail

// Writes function(element) for each element of a range to `out`, which may be its begin. See parallelFor().
// Returns: the end of what was written.
//
//   weft::parallelTransform(names, lengths.begin(), [](const std::string& name) { return name.size(); });
// Requires: `out` is a forward iterator to as many assignable elements, not to the bits of a vector<bool>.
template <detail::Partitionable Range, class Out, class F>
Out parallelTransform(Range&& range, Out out, F&& function) {
  return detail::transformTo(out, function, detail::partition(std::forward<Range>(range)));
}
template <class T, class Out, class F>
Out parallelTransform(std::initializer_list<T> elements, Out out, F&& function) {
  return detail::transformTo(out, function, detail::partition(elements));
}

// With two ranges, writes function(a, b) for each pair of elements.
//
//   weft::parallelTransform(a, b, sums.begin(), std::plus<>());
// The first range may be two iterators, and the second one its first iterator, as for std::transform.
// Errors: std::invalid_argument if the second range is shorter than the first.
template <class First, class Second, class Out, class F>
  requires(!Executor<First>)
Out parallelTransform(First&& first, Second&& second, Out out, F&& function) {
  if constexpr (detail::Partitionable<First> && detail::Partitionable<Second>) {
    const auto range = detail::partition(std::forward<First>(first));
    const auto other = detail::partition(std::forward<Second>(second));
    if (other.count < range.count) [[unlikely]] {
      detail::throwOrDie(
          std::invalid_argument("parallelTransform() got a second range that is shorter than the first."));
    }
    return detail::transformTo(out, function, range, other.first);
  } else {
    return detail::transformTo(out, function, detail::partition(first, second));
  }
}
template <class Begin, class End, detail::Endpoint Other, class Out, class F>
  requires detail::Endpoints<Begin, End>
Out parallelTransform(Begin begin, End end, Other other, Out out, F&& function) {
  return detail::transformTo(out, function, detail::partition(begin, end), other);
}

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
