// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <functional>
#include <initializer_list>
#include <stop_token>
#include <utility>

#include "weft/detail/forkjoin/run_on.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/scan.h"
#include "weft/detail/parallel/stop.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {

// Writes the running totals of a range to `out`, as std::inclusive_scan does: a, op(a, b),
// `op(op(a, b), c)`, ..., with parentheses anywhere. With `init`, each total begins with it. `out` may be
// where the range begins.
//
//   weft::parallelScan(lengths, ends.begin());
// Range, suspension, errors and lifetimes are those of parallelFor(). If workers share the scan, it calls
// `op` about twice for each element, and allocates a T for each stretch of some thousand elements (or of a
// grain).
// Returns: the end of what was written.
// Requires: T is the type of `init`, or else of the elements. T can be copied and assigned. op(T, T) gives a
// T, is associative, and may be called on several threads at the same time. `out` is a forward iterator to as
// many assignable elements, not to the bits of a vector<bool>.
// Errors: TaskCanceled if a stop of `token` is requested before it returns, since totals are missing.
template <detail::Partitionable Range, class Out,
          detail::Operation<detail::ElementOf<Range>> Op = std::plus<>>
Out parallelScan(Range&& range, Out out, Op&& op = {}, const std::stop_token& token = {}) {
  return detail::scanOf<detail::ElementOf<Range>>(detail::partition(std::forward<Range>(range)), out, op, {},
                                                  true, token);
}
template <detail::Partitionable Range, class Out, class Op, class T>
  requires(!detail::StopToken<T> && detail::Operation<Op, T>)
Out parallelScan(Range&& range, Out out, Op&& op, T init, const std::stop_token& token = {}) {
  return detail::scanOf<T>(detail::partition(std::forward<Range>(range)), out, op, std::move(init), true,
                           token);
}
template <class T, class Out, detail::Operation<T> Op = std::plus<>>
Out parallelScan(std::initializer_list<T> elements, Out out, Op&& op = {},
                 const std::stop_token& token = {}) {
  return detail::scanOf<T>(detail::partition(elements), out, op, {}, true, token);
}
template <class Element, class Out, class Op, class T>
  requires(!detail::StopToken<T> && detail::Operation<Op, T>)
Out parallelScan(std::initializer_list<Element> elements, Out out, Op&& op, T init,
                 const std::stop_token& token = {}) {
  return detail::scanOf<T>(detail::partition(elements), out, op, std::move(init), true, token);
}
template <class Begin, class End, detail::Endpoint Out, class Op = std::plus<>>
  requires detail::Endpoints<Begin, End>
Out parallelScan(Begin begin, End end, Out out, Op&& op = {}, const std::stop_token& token = {}) {
  return detail::scanOf<detail::ElementOf<Begin, End>>(detail::partition(begin, end), out, op, {}, true,
                                                       token);
}
template <class Begin, class End, class Out, class Op, class T>
  requires(detail::Endpoints<Begin, End> && !detail::StopToken<T>)
Out parallelScan(Begin begin, End end, Out out, Op&& op, T init, const std::stop_token& token = {}) {
  return detail::scanOf<T>(detail::partition(begin, end), out, op, std::move(init), true, token);
}

// Writes for each element the total of those before it, as std::exclusive_scan does: init, op(init, a), ...
// All else is as for parallelScan().
//
//   weft::parallelExclusiveScan(lengths, begins.begin(), size_t{0});
template <detail::Partitionable Range, class Out, class T, detail::Operation<T> Op = std::plus<>>
Out parallelExclusiveScan(Range&& range, Out out, T init, Op&& op = {}, const std::stop_token& token = {}) {
  return detail::scanOf<T>(detail::partition(std::forward<Range>(range)), out, op, std::move(init), false,
                           token);
}
template <class Element, class Out, class T, detail::Operation<T> Op = std::plus<>>
Out parallelExclusiveScan(std::initializer_list<Element> elements, Out out, T init, Op&& op = {},
                          const std::stop_token& token = {}) {
  return detail::scanOf<T>(detail::partition(elements), out, op, std::move(init), false, token);
}
template <class Begin, class End, class Out, class T, detail::Operation<T> Op = std::plus<>>
  requires detail::Endpoints<Begin, End>
Out parallelExclusiveScan(Begin begin, End end, Out out, T init, Op&& op = {},
                          const std::stop_token& token = {}) {
  return detail::scanOf<T>(detail::partition(begin, end), out, op, std::move(init), false, token);
}

// Calls parallelScan(args...) in a task of `executor`, as parallelFor() with an executor does.
template <Executor E, class... Args>
auto parallelScan(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelScan(std::forward<Args>(args)...); });
}
template <Executor E, class Element, class... Args>
auto parallelScan(E&& executor, std::initializer_list<Element> elements, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelScan(elements, std::forward<Args>(args)...); });
}

// Calls parallelExclusiveScan(args...) in a task of `executor`, as parallelFor() with an executor does.
template <Executor E, class... Args>
auto parallelExclusiveScan(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelExclusiveScan(std::forward<Args>(args)...); });
}
template <Executor E, class Element, class... Args>
auto parallelExclusiveScan(E&& executor, std::initializer_list<Element> elements, Args&&... args) {
  return detail::runOn(executor,
                       [&] { return weft::parallelExclusiveScan(elements, std::forward<Args>(args)...); });
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
