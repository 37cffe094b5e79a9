// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <ranges>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/detail/future/handle.h"
#include "weft/detail/future/state.h"
#include "weft/detail/future/when_state.h"
#include "weft/future/future.h"

// What whenAll(), whenAny() and firstSuccess() take, and how they take it over.
namespace weft::inline v0_1::detail {

// Calls fill(futures) once all memory is allocated, so that an exception leaves the futures where they are.
template <class Rule, class Futures, class Source, class Fill>
auto when(Source source, size_t count, const Fill& fill) {
  using State = WhenState<Rule, Futures, Source>;
  struct Destroy {
    void operator()(State* state) const { NodeMemory<State>::destroy(*state); }
  };
  std::unique_ptr<State, Destroy> state(detail::makeState<State>(count, std::move(source)));
  fill(state->futures());
  return state.release()->begin();
}

template <class T>
inline constexpr bool kIsFuture = std::derived_from<std::remove_cvref_t<T>, FutureHandle>;

// Whether the first of these arguments is a stop source.
template <class...>
inline constexpr bool kBeginWithSource = false;
template <class First, class... More>
inline constexpr bool kBeginWithSource<First, More...> =
    std::same_as<std::remove_cvref_t<First>, std::stop_source>;

// Whether these arguments are a range, or its two ends.
template <class... Args>
inline constexpr bool kAreRange = false;
template <std::ranges::input_range Range>
inline constexpr bool kAreRange<Range> = !kIsFuture<Range>;
template <class Iterator, class End>
inline constexpr bool kAreRange<Iterator, End> = std::input_iterator<std::decay_t<Iterator>> &&
                                                 std::sentinel_for<std::decay_t<End>, std::decay_t<Iterator>>;

// Checks that each argument is a future that can be moved or copied into the tuple.
template <class... Futures>
constexpr bool assertTakenOver() {
  constexpr bool kAreFutures = (kIsFuture<Futures> && ...);
  constexpr bool kIsTakenOver = (std::is_constructible_v<std::decay_t<Futures>, Futures> && ...);
  static_assert(kAreFutures,
                "whenAll(), whenAny() and firstSuccess() take futures, or one range of futures: here is an "
                "argument of another type. Write whenAll(std::move(a), std::move(b)) or whenAll(vector). "
                "What is no future may be given as makeReadyFuture(value).");
  static_assert(kIsTakenOver || !kAreFutures,
                "whenAll(), whenAny() and firstSuccess() take futures over. "
                "Write whenAll(std::move(a), std::move(b)), or share() those that are needed elsewhere.");
  return kAreFutures && kIsTakenOver;
}

// Checks that firstSuccess() has one type of result.
template <class... Futures>
constexpr bool assertOneResult() {
  constexpr bool kIsAny = sizeof...(Futures) != 0;
  static_assert(kIsAny,
                "firstSuccess() without arguments does not know the type of its result. "
                "Give it a future, or a range of futures, which may be empty.");
  if constexpr (kIsAny) {
    using Result = typename CommonResult<std::tuple<std::decay_t<Futures>...>>::Type;
    constexpr bool kIsOne = (std::same_as<typename Unwrapped<std::decay_t<Futures>>::Result, Result> && ...);
    static_assert(kIsOne,
                  "firstSuccess() takes futures of one type, since its result is that of one of them. "
                  "Convert the others: write other.then([](auto value) { return T(value); }).");
    return kIsOne;
  } else {
    return false;
  }
}

template <class Rule, class... Futures>
constexpr bool assertArguments() {
  if constexpr (!detail::assertTakenOver<Futures...>()) {
    return false;
  } else if constexpr (std::same_as<Rule, FirstSuccessRule>) {
    return detail::assertOneResult<Futures...>();
  } else {
    return true;
  }
}

template <class Rule, class Source, class... Futures>
auto whenEach(Source source, Futures&&... futures) {
  if constexpr (detail::assertArguments<Rule, Futures...>()) {
    return detail::when<Rule, std::tuple<std::decay_t<Futures>...>>(
        std::move(source), sizeof...(Futures),
        [&](auto& taken) { taken = {std::forward<Futures>(futures)...}; });
  } else {
    return Future<void>();
  }
}

// Checks that the elements of a range are futures, which can be moved or copied out of it.
template <class Reference>
constexpr bool assertFutures() {
  constexpr bool kAreFutures = kIsFuture<Reference>;
  using Each = std::remove_cvref_t<Reference>;
  constexpr bool kCanBeTaken = !kAreFutures || std::is_copy_constructible_v<Each> ||
                               !std::is_const_v<std::remove_reference_t<Reference>>;
  static_assert(
      kAreFutures,
      "whenAll(), whenAny() and firstSuccess() take a range of futures: this one has other elements.");
  static_assert(kCanBeTaken,
                "whenAll(), whenAny() and firstSuccess() move futures out of the range, and cannot do so "
                "where it is const, as a list in braces is. Give them a std::vector that is not const, or "
                "share() the futures.");
  return kAreFutures && kCanBeTaken;
}

// Moves futures out of a range, and copies those that may be copied.
template <class Rule, class Source, class Iterator, class End>
auto takeRange(Source source, Iterator begin, const End& end) {
  using Each = std::iter_value_t<Iterator>;
  using Futures = std::vector<Each>;
  const auto collect = [&](Futures& futures) {
    for (; begin != end; ++begin) {
      if constexpr (std::is_copy_constructible_v<Each>) {
        futures.push_back(*begin);
      } else {
        futures.push_back(std::move(*begin));
      }
    }
  };
  if constexpr (std::forward_iterator<Iterator> || std::sized_sentinel_for<End, Iterator>) {
    const auto count = static_cast<size_t>(std::ranges::distance(begin, end));
    return detail::when<Rule, Futures>(std::move(source), count, [&](Futures& futures) {
      futures.reserve(count);
      collect(futures);
    });
  } else {
    Futures collected;
    collect(collected);
    return detail::when<Rule, Futures>(std::move(source), collected.size(),
                                       [&](Futures& futures) { futures = std::move(collected); });
  }
}

template <class Rule, class Source, class Iterator, class End>
auto whenRange(Source source, Iterator begin, const End& end) {
  if constexpr (detail::assertFutures<std::iter_reference_t<Iterator>>()) {
    return detail::takeRange<Rule>(std::move(source), std::move(begin), end);
  } else {
    return Future<void>();
  }
}

// `args`: a range, its two ends, or futures.
template <class Rule, class Source, class... Args>
auto whenOf(Source source, Args&&... args) {
  if constexpr (!kAreRange<Args...>) {
    return detail::whenEach<Rule>(std::move(source), std::forward<Args>(args)...);
  } else if constexpr (sizeof...(Args) == 1) {
    return detail::whenRange<Rule>(std::move(source), std::ranges::begin(args)..., std::ranges::end(args)...);
  } else {
    return detail::whenRange<Rule>(std::move(source), std::forward<Args>(args)...);
  }
}

}  // namespace weft::inline v0_1::detail
