// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "weft/detail/base/throw_or_die.h"
#include "weft/executor.h"
#include "weft/parallel/irange.h"
#include "weft/parallel/partition.h"

namespace weft::inline v0_1::detail {

template <class T>
inline constexpr bool kIsPartition = false;
template <class Iterator>
inline constexpr bool kIsPartition<Partition<Iterator>> = true;

// A range as one argument: a container, an array, a view, or a partitioner.
template <class T>
concept Partitionable = kIsPartition<std::remove_cvref_t<T>> || requires(T& range) {
  std::begin(range);
  std::end(range);
};

// One end of a range.
template <class T>
concept Endpoint = std::integral<T> || requires(T at) {
  *at;
  ++at;
};

// Two ends that belong together. With Operation this tells a call with two ends, of which the first may be
// the name of an array, from a call with an array and a further argument.
template <class Begin, class End>
concept Endpoints =
    (std::integral<Begin> && std::integral<End>) ||
    (!std::integral<Begin> && Endpoint<Begin> && requires(Begin begin, End end) { begin != end; });

template <class Op, class T>
concept Operation = std::invocable<Op&, T, T>;

// A std::move_iterator calls itself an input iterator, since what it has given may be moved. But a walk moves
// nothing, and the algorithms take each element once.
template <class Iterator>
struct Walked : std::type_identity<Iterator> {};
template <class Iterator>
struct Walked<std::move_iterator<Iterator>> : std::type_identity<Iterator> {};

// The algorithms walk a range more than once, to split and maybe count it.
// Returns: whether the iterator says that it can be. One that says nothing must be copyable and comparable.
template <class Given>
constexpr bool isMultipass() {
  using Iterator = typename Walked<Given>::type;
  if constexpr (requires { typename Iterator::iterator_concept; }) {
    return std::derived_from<typename Iterator::iterator_concept, std::forward_iterator_tag>;
  } else if constexpr (requires { typename std::iterator_traits<Iterator>::iterator_category; }) {
    return std::derived_from<typename std::iterator_traits<Iterator>::iterator_category,
                             std::forward_iterator_tag>;
  } else {
    return std::copyable<Iterator> && requires(const Iterator& at) { at != at; };
  }
}

// The iterator of a range that a static_assert has refused. Its use gives no further errors.
struct Refused {};

template <class Iterator>
inline constexpr bool kIsRefused = std::is_same_v<Iterator, Refused>;

template <class Iterator>
constexpr bool assertMultipass() {
  static_assert(detail::isMultipass<Iterator>(),
                "weft's parallel algorithms need forward iterators at least: "
                "what an input iterator has read, or a channel has given, is gone. "
                "Read it into a container first.");
  return detail::isMultipass<Iterator>();
}

// Whether the algorithms can run over this range: it can be walked again, and it ends.
template <class Iterator, class End>
constexpr bool assertRange() {
  constexpr bool kIsMultipass = detail::assertMultipass<Iterator>();
  constexpr bool kEnds = !std::is_same_v<std::remove_cvref_t<End>, std::unreachable_sentinel_t>;
  static_assert(!kIsMultipass || kEnds,
                "weft's parallel algorithms split a range, and so need its end: this one is endless. "
                "Write a range with an end, such as std::views::iota(0, n) or irange(0, n).");
  return kIsMultipass && kEnds;
}

template <class Iterator, class End>
constexpr size_t countBetween(Iterator first, const End& last) {
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
  } else if constexpr (!detail::assertRange<decltype(std::begin(range)), decltype(std::end(range))>()) {
    return Partition<Refused>{};
  } else {
    auto first = std::begin(range);
    return Partition<decltype(first)>{first, detail::countBetween(first, std::end(range))};
  }
}

// An iterator over all numbers between two numbers. Having no step, it lets the compiler vectorize a loop.
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
  static_assert(kMatch,
                "a range that begins with a number ends with one, "
                "and a range that begins with an iterator ends with an iterator.");
  constexpr bool kAreBools = std::is_same_v<Begin, bool> && std::is_same_v<End, bool>;
  static_assert(!kAreBools,
                "weft's parallel algorithms do not count from one bool to another. "
                "Write int{begin}, int{end}, or give the elements in braces: parallelFor({false, true}, f).");
  if constexpr (!kMatch || kAreBools) {
    return Partition<Refused>{};
  } else if constexpr (std::integral<Begin>) {
    const auto numbers = weft::irange(begin, end);
    using Int = std::common_type_t<Begin, End>;
    return Partition<Index<Int>>{{static_cast<Int>(begin)}, numbers.size()};
  } else if constexpr (!detail::assertRange<Begin, End>()) {
    return Partition<Refused>{};
  } else {
    return Partition<Begin>{begin, detail::countBetween(begin, end)};
  }
}

// The type of the elements, without a reference or a proxy.
template <class Iterator>
struct Element {
  using type = std::remove_cvref_t<decltype(*std::declval<Iterator&>())>;
};
template <class Iterator>
  requires requires { typename std::iter_value_t<Iterator>; }
struct Element<Iterator> {
  using type = std::iter_value_t<Iterator>;
};
template <>
struct Element<Refused> {
  using type = int;
};

template <class Range>
struct FirstOf {
  using type = std::remove_cvref_t<decltype(std::begin(std::declval<Range&>()))>;
};
template <class Range>
  requires kIsPartition<std::remove_cv_t<Range>>
struct FirstOf<Range> {
  using type = decltype(Range::first);
};

// The elements of a range, or between two ends.
template <class Range, class...>
struct ElementBetween : Element<typename FirstOf<std::remove_reference_t<Range>>::type> {};
template <class Begin, class End>
struct ElementBetween<Begin, End> : Element<Begin> {};
template <std::integral Begin, std::integral End>
struct ElementBetween<Begin, End> : std::common_type<Begin, End> {};
template <class... Range>
using ElementOf = typename ElementBetween<Range...>::type;

// What no parallel algorithm begins with.
template <class T>
concept NoFirstArgument = !Partitionable<T> && !Endpoint<std::decay_t<T>> && !Executor<T>;

template <class First>
constexpr void assertFirstArgument() {
  static_assert(!NoFirstArgument<First>,
                "a parallel algorithm begins with a range, or its two ends: parallelFor(range, f). "
                "Before that it may have an executor, "
                "which is an object that has a member function schedule(weft::TaskHandle).");
}

// Asserts that `Out` is an iterator through which algorithms can write values of type T.
template <class Out, class T>
constexpr bool assertOutput() {
  constexpr bool kHasPlaces = detail::isMultipass<Out>() && !requires { typename Out::container_type; };
  constexpr bool kAreObjects = !kHasPlaces || std::is_reference_v<decltype(*std::declval<Out&>())> ||
                               !std::is_same_v<typename Element<Out>::type, bool>;
  constexpr bool kCanBeAssigned =
      !kHasPlaces || !kAreObjects || std::is_assignable_v<decltype(*std::declval<Out&>()), T>;
  static_assert(kHasPlaces,
                "weft's parallel algorithms write through forward iterators, "
                "since threads write at several places at the same time. "
                "Make room in the output before, and pass its begin() instead of an inserter.");
  static_assert(kAreObjects,
                "weft's parallel algorithms do not write to a vector<bool>: "
                "several threads would write to the bytes that its elements share. Use a vector<char>.");
  static_assert(kCanBeAssigned,
                "what a parallel algorithm writes cannot be assigned to the elements of its output.");
  return kHasPlaces && kAreObjects && kCanBeAssigned;
}

template <class Range>
auto partitionWithGrain(Range&& range, std::optional<std::ptrdiff_t> grain, bool isStatic) {
  if (grain && *grain <= 0) [[unlikely]] {
    throwOrDie(
        std::invalid_argument("a grain is how many elements one thread runs in a row, and is at least 1; "
                              "it was zero or negative. Leave it out to have one chosen."));
  }
  auto result = detail::partition(std::forward<Range>(range));
  if (grain) {
    result.grain = static_cast<size_t>(*grain);
  }
  result.isStatic = isStatic || (!grain && result.isStatic);
  return result;
}

}  // namespace weft::inline v0_1::detail
