// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <functional>
#include <initializer_list>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/forkjoin/run_on.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/reduce.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {

// Makes one value of the elements of a range: their sum, for example, or the largest.
//
//   const double sum = weft::parallelReduce(values, 0.0);
//   const int largest = weft::parallelReduce(0, n, INT_MIN, [](int a, int b) { return std::max(a, b); });
// Range, splitting, suspension, errors and lifetimes are those of parallelFor(). With a partitioner that has
// a grain, the parentheses depend only on the grain and on the number of elements. So floating-point sums are
// equal each time.
// Returns: `reduce(init, reduce(a, reduce(b, ...)))` in the order of the elements, with parentheses anywhere.
// Requires: an element converts implicitly to T, the type of `init`. T can be moved and assigned. reduce(T,
// T) and reduce(T, element) give a T, are associative, and may be called on several threads at the same time.
// Errors: TaskCanceled if a stop of `token` is requested before it returns, since the value lacks elements.
template <detail::Partitionable Range, class T, detail::Operation<T> Reduce = std::plus<>>
T parallelReduce(Range&& range, T init, Reduce&& reduce = {}, const std::stop_token& token = {}) {
  return detail::reduceOf(detail::partition(std::forward<Range>(range)), std::move(init), detail::kIdentity,
                          reduce, token);
}
template <class Begin, class End, class T, detail::Operation<T> Reduce = std::plus<>>
  requires detail::Endpoints<Begin, End>
T parallelReduce(Begin begin, End end, T init, Reduce&& reduce = {}, const std::stop_token& token = {}) {
  return detail::reduceOf(detail::partition(begin, end), std::move(init), detail::kIdentity, reduce, token);
}
template <class Element, class T, detail::Operation<T> Reduce = std::plus<>>
T parallelReduce(std::initializer_list<Element> elements, T init, Reduce&& reduce = {},
                 const std::stop_token& token = {}) {
  return detail::reduceOf(detail::partition(elements), std::move(init), detail::kIdentity, reduce, token);
}

// As parallelReduce(), with map(element) in the place of each element.
//
//   const auto sizeOf = [](const File& file) { return file.size(); };
//   const size_t total = weft::parallelMapReduce(files, size_t{0}, sizeOf);
// Requires: `map` may be called on several threads at the same time.
template <detail::Partitionable Range, class T, class Map, detail::Operation<T> Reduce = std::plus<>>
T parallelMapReduce(Range&& range, T init, Map&& map, Reduce&& reduce = {},
                    const std::stop_token& token = {}) {
  return detail::reduceOf(detail::partition(std::forward<Range>(range)), std::move(init), map, reduce, token);
}
template <class Begin, class End, class T, class Map, detail::Operation<T> Reduce = std::plus<>>
  requires detail::Endpoints<Begin, End>
T parallelMapReduce(Begin begin, End end, T init, Map&& map, Reduce&& reduce = {},
                    const std::stop_token& token = {}) {
  return detail::reduceOf(detail::partition(begin, end), std::move(init), map, reduce, token);
}
template <class Element, class T, class Map, detail::Operation<T> Reduce = std::plus<>>
T parallelMapReduce(std::initializer_list<Element> elements, T init, Map&& map, Reduce&& reduce = {},
                    const std::stop_token& token = {}) {
  return detail::reduceOf(detail::partition(elements), std::move(init), map, reduce, token);
}

template <detail::Partitionable Range, class T, class Reduce>
  requires(!detail::Operation<Reduce, T> && !detail::Endpoints<std::decay_t<Range>, T>)
T parallelReduce(Range&&, T init, Reduce&&, const std::stop_token& = {}) {
  static_assert(detail::kAlwaysFalse<Reduce>,
                "parallelReduce(range, init, reduce): reduce cannot be called with two values "
                "of the type of `init`. A stop token comes after it.");
  return init;
}
template <detail::Partitionable Range, class T, class Map, class Reduce>
  requires(!detail::Operation<Reduce, T> && !detail::Endpoints<std::decay_t<Range>, T>)
T parallelMapReduce(Range&&, T init, Map&&, Reduce&&, const std::stop_token& = {}) {
  static_assert(detail::kAlwaysFalse<Reduce>,
                "parallelMapReduce(range, init, map, reduce): reduce cannot be called with two values "
                "of the type of `init`. A stop token comes after it.");
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

// Calls parallelReduce(args...) in a task of `executor`, as parallelFor() with an executor does.
template <Executor E, class... Args>
auto parallelReduce(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelReduce(std::forward<Args>(args)...); });
}
template <Executor E, class Element, class... Args>
auto parallelReduce(E&& executor, std::initializer_list<Element> elements, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelReduce(elements, std::forward<Args>(args)...); });
}

// Calls parallelMapReduce(args...) in a task of `executor`, as parallelFor() with an executor does.
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

#include "weft/detail/base/macros_end.h"
