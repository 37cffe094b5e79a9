// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/parallel_for.h"
#include "weft/detail/partition.h"

// Reached through weft/parallel.h.
namespace weft {

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

inline constexpr auto kForkWhereLittle = [](const ForkLane& lane) { return lane.offersLittle(); };

template <class Iterator, class T, class Map, class Reduce>
T reduceOf(const Partition<Iterator>& range, T init, Map& map, Reduce& reduce) {
  if (range.count == 0) {
    return init;
  }
  using Body = ReduceBody<T, Map, Reduce>;
  Body body{map, reduce};
  typename Body::Result total;
  if (range.grain != 0 || range.isStatic) {
    const size_t grain = range.grain != 0 ? range.grain : grainForEachThread(range.count);
    total = EvenSplit<Body, Iterator, decltype(kForkWhereLittle)>(body, grain, {}, kForkWhereLittle)
                .run(range.first, range.count);
  } else {
    LazyLoop<Body, Iterator>(body, {}, "parallelReduce").run(range.first, range.count, 0, total);
  }
  return reduce(std::move(init), std::move(*total));
}

// An element as it is.
struct Identity {
  template <class T>
  constexpr T&& operator()(T&& element) const noexcept {
    return std::forward<T>(element);
  }
};

inline constexpr Identity kIdentity;

}  // namespace detail

// Returns: reduce(init, reduce(a, reduce(b, ...))) over the elements of a range in their order, with
// parentheses anywhere; `init` is applied once, from the left.
//
//   const double sum = weft::parallelReduce(values, 0.0);
//   const int largest = weft::parallelReduce(0, n, INT_MIN, [](int a, int b) { return std::max(a, b); });
//
// The range is given, split and run as by parallelFor(), which see for suspension, errors and lifetimes.
// Where it has a partitioner with a grain, the parentheses depend on the grain and on the number of elements
// only: sums of floating-point numbers then come out the same each time, on any number of workers.
// Requires: an element converts to T, the type of `init`, which can be moved; reduce(T, T) and reduce(T,
// element) give a T, are associative, and may be called on several threads at the same time.
template <detail::Partitionable Range, class T, detail::Operation<T> Reduce = std::plus<>>
T parallelReduce(Range&& range, T init, Reduce&& reduce = {}) {
  return detail::reduceOf(detail::partition(std::forward<Range>(range)), std::move(init), detail::kIdentity,
                          reduce);
}
template <class Begin, class End, class T, detail::Operation<T> Reduce = std::plus<>>
requires detail::Endpoints<Begin, End> T parallelReduce(Begin begin, End end, T init, Reduce&& reduce = {}) {
  return detail::reduceOf(detail::partition(begin, end), std::move(init), detail::kIdentity, reduce);
}

// parallelReduce() over what `map` makes of each element:
//
//   const auto sizeOf = [](const File& file) { return file.size(); };
//   const size_t total = weft::parallelMapReduce(files, size_t{0}, sizeOf);
template <detail::Partitionable Range, class T, class Map, detail::Operation<T> Reduce = std::plus<>>
T parallelMapReduce(Range&& range, T init, Map&& map, Reduce&& reduce = {}) {
  return detail::reduceOf(detail::partition(std::forward<Range>(range)), std::move(init), map, reduce);
}
template <class Begin, class End, class T, class Map, detail::Operation<T> Reduce = std::plus<>>
requires detail::Endpoints<Begin, End> T parallelMapReduce(Begin begin, End end, T init, Map&& map,
                                                           Reduce&& reduce = {}) {
  return detail::reduceOf(detail::partition(begin, end), std::move(init), map, reduce);
}

}  // namespace weft
