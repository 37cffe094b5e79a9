// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "weft/detail/irange.h"
#include "weft/detail/raise.h"

// Reached through weft/parallel.h: what the parallel algorithms run over.
namespace weft {

// How a range is cut into pieces that are run in a row by one thread; see autoPartitioner() and
// staticPartitioner().
template <class Iterator>
struct Partition {
  Iterator first;
  size_t count;
  size_t grain = 0;  // 0: chosen
  bool isStatic = false;
};

namespace detail {

template <class T>
inline constexpr bool kIsPartition = false;
template <class Iterator>
inline constexpr bool kIsPartition<Partition<Iterator>> = true;

// What the algorithms take as a whole: a container, an array, a view, or a partitioner.
template <class T>
concept Partitionable = kIsPartition<std::remove_cvref_t<T>> || requires(T& range) {
  std::begin(range);
  std::end(range);
};

// What they take in twos: the ends of a range.
template <class T>
concept Endpoint = std::integral<T> || requires(T at) {
  *at;
  ++at;
};

// Two that belong together: these, and operations, tell the ends of a range, of which the first may be the
// name of an array, from an array and what follows it.
template <class Begin, class End>
concept Endpoints = (std::integral<Begin> && std::integral<End>) ||
                    (!std::integral<Begin> && Endpoint<Begin> &&
                     requires(Begin begin, End end) { begin != end; });

template <class Op, class T>
concept Operation = std::invocable<Op&, T, T>;

// A range is walked more than once: to be split, if not to be counted.
template <class Iterator>
concept IsMultipass = !requires {
  typename std::iterator_traits<Iterator>::iterator_category;
}
|| requires {
  typename Iterator::iterator_concept;
}
|| !std::same_as<typename std::iterator_traits<Iterator>::iterator_category, std::input_iterator_tag>;

template <class Iterator, class End>
constexpr size_t countBetween(Iterator first, const End& last) {
  static_assert(IsMultipass<Iterator>,
                "weft's parallel algorithms need forward iterators at least: what an input iterator has read "
                "is gone. Read it into "
                "a container first.");
  if constexpr (requires { last - first; }) {
    return last - first > 0 ? static_cast<size_t>(last - first) : 0;
  } else {
    size_t count = 0;
    for (; first != last; ++first) {
      ++count;
    }
    return count;
  }
}

template <class Range>
constexpr auto partition(Range&& range) {
  if constexpr (kIsPartition<std::remove_cvref_t<Range>>) {
    return range;
  } else {
    auto first = std::begin(range);
    return Partition<decltype(first)>{first, countBetween(first, std::end(range))};
  }
}

// A number, for loops over all numbers between two: without a step, such a loop becomes vector instructions.
template <class Int>
struct Index {
  using difference_type = std::ptrdiff_t;

  constexpr Int operator*() const { return value; }
  constexpr Index& operator++() {
    ++value;
    return *this;
  }
  constexpr Index& operator+=(difference_type n) {
    value = static_cast<Int>(static_cast<uint64_t>(value) + static_cast<uint64_t>(n));
    return *this;
  }

  Int value;
};

template <class Begin, class End>
constexpr auto partition(Begin begin, End end) {
  constexpr bool kMatch = std::integral<Begin> == std::integral<End>;
  static_assert(
      kMatch,
      "a range that begins with a number ends with one, and one that begins with an iterator with an "
      "iterator.");
  if constexpr (!kMatch) {
    return Partition<Index<int>>{{0}, 0};
  } else if constexpr (std::integral<Begin>) {
    const auto numbers = irange(begin, end);
    using Int = std::common_type_t<Begin, End>;
    return Partition<Index<Int>>{{static_cast<Int>(begin)}, numbers.size()};
  } else {
    return Partition<Begin>{begin, countBetween(begin, end)};
  }
}

template <class Range>
auto partitionWithGrain(Range&& range, std::ptrdiff_t grain, bool isStatic) {
  if (grain <= 0) [[unlikely]] {
    raise(
        std::invalid_argument("a grain is how many elements one thread runs in a row, and is at least 1; it "
                              "was zero or negative. Leave it out to have one "
                              "chosen."));
  }
  auto result = partition(std::forward<Range>(range));
  result.grain = static_cast<size_t>(grain);
  result.isStatic = isStatic;
  return result;
}

}  // namespace detail

// Returns: `range` for any parallel algorithm, to be split where and when somebody is idle, and again where a
// part was taken: what they do with a range anyway. `grain` says how many elements are worth a thread of
// their own, even if it must be woken: pieces of so many are run in a row. Without it the time that the
// elements take is measured, and what is not worth it is not split.
//
//   weft::parallelFor(weft::autoPartitioner(files, 1), [](const File& file) { convert(file); });
//
// Errors: std::invalid_argument where the grain is zero or negative. Lifetime: refers to the range.
template <detail::Partitionable Range>
auto autoPartitioner(Range&& range) {
  return detail::partition(std::forward<Range>(range));
}
template <detail::Partitionable Range>
auto autoPartitioner(Range&& range, std::ptrdiff_t grain) {
  return detail::partitionWithGrain(std::forward<Range>(range), grain, false);
}

// The same, split at once into pieces of `grain` elements, and not again; without a grain, into one piece for
// each thread. For elements that are known to take the same time each.
template <detail::Partitionable Range>
auto staticPartitioner(Range&& range) {
  auto result = detail::partition(std::forward<Range>(range));
  result.isStatic = true;
  return result;
}
template <detail::Partitionable Range>
auto staticPartitioner(Range&& range, std::ptrdiff_t grain) {
  return detail::partitionWithGrain(std::forward<Range>(range), grain, true);
}

}  // namespace weft
