// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/parallel/element_function.h"
#include "weft/detail/parallel/for.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/split_loop.h"
#include "weft/parallel/partition.h"

namespace weft::inline v0_1::detail {

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
Out transformFrom(Out out, F& function, const std::stop_token& token, const Partition<Iterator>& range,
                  Others... others) {
  detail::assertCallable(function, "parallelTransform");
  using Cursor = Together<Out, Iterator, Others...>;
  const Partition<Cursor> together{{out, {range.first, others...}}, range.count, range.grain, range.isStatic};
  const auto apply = [&function](const Cursor& at) {
    std::apply([&](const auto&... in) { *at.out = function(*in...); }, at.in);
  };
  detail::forEachOf(together, apply, token, "parallelTransform");
  detail::skip(out, range.count);
  return out;
}

template <class Out, class F, class Iterator, class... Others>
Out transformTo(Out out, F& function, const std::stop_token& token, const Partition<Iterator>& range,
                Others... others) {
  if constexpr (detail::assertElementFunction<F, const Iterator, const Others...>()) {
    using Result = std::invoke_result_t<F&, decltype(*std::declval<const Iterator&>()),
                                        decltype(*std::declval<const Others&>())...>;
    if constexpr (detail::assertOutput<Out, Result>() && (detail::assertMultipass<Others>() && ...)) {
      return detail::transformFrom(out, function, token, range, others...);
    }
  }
  return out;
}

}  // namespace weft::inline v0_1::detail
