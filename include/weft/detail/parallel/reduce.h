// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/cancellation.h"
#include "weft/detail/base/callable.h"
#include "weft/detail/parallel/element_function.h"
#include "weft/detail/parallel/for.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/split_loop.h"
#include "weft/parallel/partition.h"

namespace weft::inline v0_1::detail {

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
T reduceFrom(const Partition<Iterator>& range, T init, Map& map, Reduce& reduce,
             const std::stop_token& token) {
  detail::assertCallable(map, "parallelReduce");
  detail::assertCallable(reduce, "parallelReduce");
  if (range.count == 0) {
    weft::interruptionPoint(token);
    return init;
  }
  using Body = ReduceBody<T, Map, Reduce>;
  Body body{map, reduce};
  typename Body::Result total;
  LoopOver<Body, Iterator> loop(body, token, "parallelReduce");
  if (range.grain != 0 || range.isStatic) {
    loop.evenly(range.first, range.count, range.grain, detail::grainForEachThread(range.count), false, total);
  } else {
    loop.lazily(range.first, range.count, 0, total);
  }
  weft::interruptionPoint(token);  // the total may lack elements
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
T reduceOf(const Partition<Iterator>& range, T init, Map& map, Reduce& reduce,
           const std::stop_token& token = {}) {
  if constexpr (detail::assertElementFunction<Map, Iterator>()) {
    using Mapped = std::invoke_result_t<Map&, decltype(*std::declval<Iterator&>())>;
    if constexpr (!detail::assertAssignable<T>()) {
      return init;
    } else if constexpr (detail::assertReducible<T, Mapped, Reduce>()) {
      return detail::reduceFrom(range, std::move(init), map, reduce, token);
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

}  // namespace weft::inline v0_1::detail
