// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/forkjoin/run_on.h"
#include "weft/detail/parallel/for.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/split_loop.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {

namespace detail {

template <class T, class Map, class Reduce>
struct ReduceBody {
  using Result = std::optional<T>;

  template <class Cursor>
  Cursor run(Cursor from, size_t count, Result& result) {
    if (!result) {
      result.emplace(map(*from));
      ++from;
      --count;
    }
    T total = std::move(*result);
    for (; count != 0; --count, (void)++from) {
      total = reduce(std::move(total), map(*from));
    }
    *result = std::move(total);
    return from;
  }

  void append(Result& left, Result&& right) {
    if (left && right) {
      *left = reduce(std::move(*left), std::move(*right));
    }
  }

  Map& map;
  Reduce& reduce;
};

template <class Iterator, class T, class Map, class Reduce>
T reduceFrom(const Partition<Iterator>& range, T init, Map& map, Reduce& reduce) {
  detail::assertCallable(map, "parallelReduce");
  detail::assertCallable(reduce, "parallelReduce");
  if (range.count == 0) {
    return init;
  }
  using Body = ReduceBody<T, Map, Reduce>;
  Body body{map, reduce};
  typename Body::Result total;
  const std::stop_token never;
  LoopOver<Body, Iterator> loop(body, never, "parallelReduce");
  if (range.grain != 0 || range.isStatic) {
    loop.evenly(range.first, range.count, range.grain, detail::grainForEachThread(range.count), false, total);
  } else {
    loop.lazily(range.first, range.count, 0, total);
  }
  return reduce(std::move(init), std::move(*total));
}

template <class T>
constexpr bool assertAssignable() {
  constexpr bool kCanBeAssigned = std::is_move_assignable_v<T>;
  static_assert(kCanBeAssigned,
                "parallelReduce() and the scans assign what the operation returns to a variable "
                "of the type of `init`: this type cannot be assigned, as one with a const member. "
                "Give it an operator=.");
  return kCanBeAssigned;
}

// `Mapped`: an element, or what the map function makes of it.
template <class T, class Mapped, class Reduce>
constexpr bool assertReducible() {
  constexpr bool kConverts = std::convertible_to<Mapped, T>;
  constexpr bool kCanBeCalled = !kConverts || std::is_invocable_r_v<T, Reduce&, T, Mapped>;
  constexpr bool kGivesT = !kConverts || !kCanBeCalled || std::is_invocable_r_v<T, Reduce&, T, T>;
  static_assert(kConverts,
                "parallelReduce() and the scans turn elements into the type of `init`, "
                "and these do not convert to it by themselves. "
                "Write parallelMapReduce() with a function that makes one of an element.");
  static_assert(
      kCanBeCalled,
      "the operation of a parallelReduce() or a scan is called with the type of `init` and an element, "
      "or with the type of `init` and what the function of parallelMapReduce() makes of an element. "
      "It returns what converts to the type of `init`.");
  static_assert(kGivesT,
                "the operation of a parallelReduce() or a scan is called with two values "
                "of the type of `init`. It returns what converts to the type of `init`.");
  return kConverts && kCanBeCalled && kGivesT;
}

template <class Iterator, class T, class Map, class Reduce>
T reduceOf(const Partition<Iterator>& range, T init, Map& map, Reduce& reduce) {
  if constexpr (detail::assertElementFunction<Map, Iterator>()) {
    using Mapped = std::invoke_result_t<Map&, decltype(*std::declval<Iterator&>())>;
    if constexpr (!detail::assertAssignable<T>()) {
      return init;
    } else if constexpr (detail::assertReducible<T, Mapped, Reduce>()) {
      return detail::reduceFrom(range, std::move(init), map, reduce);
    }
  }
  return init;
}

// The map function of parallelReduce().
struct Identity {
  template <class T>
  constexpr T&& operator()(T&& element) const noexcept {
    return std::forward<T>(element);
  }
};

inline constexpr Identity kIdentity;

}  // namespace detail

// Returns: reduce(init, reduce(a, reduce(b, ...))) in the order of elements, with parentheses anywhere.
//
//   const double sum = weft::parallelReduce(values, 0.0);
//   const int largest = weft::parallelReduce(0, n, INT_MIN, [](int a, int b) { return std::max(a, b); });
// Range, splitting, suspension, errors and lifetimes are those of parallelFor(). With a partitioner that has
// a grain, the parentheses depend only on that and on the number of elements: floating-point sums are equal
// each time.
// Requires: an element converts implicitly to T, the type of `init`. T can be moved and assigned. reduce(T,
// T) and reduce(T, element) give a T, are associative, and may be called on several threads at the same time.
template <detail::Partitionable Range, class T, detail::Operation<T> Reduce = std::plus<>>
T parallelReduce(Range&& range, T init, Reduce&& reduce = {}) {
  return detail::reduceOf(detail::partition(std::forward<Range>(range)), std::move(init), detail::kIdentity,
                          reduce);
}
template <class Begin, class End, class T, detail::Operation<T> Reduce = std::plus<>>
  requires detail::Endpoints<Begin, End>
T parallelReduce(Begin begin, End end, T init, Reduce&& reduce = {}) {
  return detail::reduceOf(detail::partition(begin, end), std::move(init), detail::kIdentity, reduce);
}
template <class Element, class T, detail::Operation<T> Reduce = std::plus<>>
T parallelReduce(std::initializer_list<Element> elements, T init, Reduce&& reduce = {}) {
  return detail::reduceOf(detail::partition(elements), std::move(init), detail::kIdentity, reduce);
}

// parallelReduce() over what `map` makes of each element.
//
//   const auto sizeOf = [](const File& file) { return file.size(); };
//   const size_t total = weft::parallelMapReduce(files, size_t{0}, sizeOf);
template <detail::Partitionable Range, class T, class Map, detail::Operation<T> Reduce = std::plus<>>
T parallelMapReduce(Range&& range, T init, Map&& map, Reduce&& reduce = {}) {
  return detail::reduceOf(detail::partition(std::forward<Range>(range)), std::move(init), map, reduce);
}
template <class Begin, class End, class T, class Map, detail::Operation<T> Reduce = std::plus<>>
  requires detail::Endpoints<Begin, End>
T parallelMapReduce(Begin begin, End end, T init, Map&& map, Reduce&& reduce = {}) {
  return detail::reduceOf(detail::partition(begin, end), std::move(init), map, reduce);
}
template <class Element, class T, class Map, detail::Operation<T> Reduce = std::plus<>>
T parallelMapReduce(std::initializer_list<Element> elements, T init, Map&& map, Reduce&& reduce = {}) {
  return detail::reduceOf(detail::partition(elements), std::move(init), map, reduce);
}

template <detail::Partitionable Range, class T, class Reduce>
  requires(!detail::Operation<Reduce, T> && !detail::Endpoints<std::decay_t<Range>, T>)
T parallelReduce(Range&&, T init, Reduce&&) {
  static_assert(detail::kAlwaysFalse<Reduce>,
                "parallelReduce(range, init, reduce): reduce cannot be called with two values "
                "of the type of `init`.");
  return init;
}
template <detail::Partitionable Range, class T, class Map, class Reduce>
  requires(!detail::Operation<Reduce, T> && !detail::Endpoints<std::decay_t<Range>, T>)
T parallelMapReduce(Range&&, T init, Map&&, Reduce&&) {
  static_assert(detail::kAlwaysFalse<Reduce>,
                "parallelMapReduce(range, init, map, reduce): reduce cannot be called with two values "
                "of the type of `init`.");
  return init;
}

template <class First, class Second, class... Args>
  requires detail::NoFirstArgument<First>
void parallelReduce(First&&, Second&&, Args&&...) {
  detail::assertFirstArgument<First>();
}
template <class First, class Second, class... Args>
  requires detail::NoFirstArgument<First>
void parallelMapReduce(First&&, Second&&, Args&&...) {
  detail::assertFirstArgument<First>();
}

template <Executor E, class... Args>
auto parallelReduce(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelReduce(std::forward<Args>(args)...); });
}
template <Executor E, class Element, class... Args>
auto parallelReduce(E&& executor, std::initializer_list<Element> elements, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelReduce(elements, std::forward<Args>(args)...); });
}

template <Executor E, class... Args>
auto parallelMapReduce(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelMapReduce(std::forward<Args>(args)...); });
}
template <Executor E, class Element, class... Args>
auto parallelMapReduce(E&& executor, std::initializer_list<Element> elements, Args&&... args) {
  return detail::runOn(executor,
                       [&] { return weft::parallelMapReduce(elements, std::forward<Args>(args)...); });
}

}  // namespace weft::inline v0_1
