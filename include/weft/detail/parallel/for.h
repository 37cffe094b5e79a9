// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <stop_token>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/forkjoin/run_on.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/split_loop.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {

namespace detail {

struct Nothing {};

template <class F>
struct ForBody {
  using Result = Nothing;

  template <class Cursor>
  Cursor run(Cursor from, size_t count, Nothing&) {
    for (; count != 0; --count, (void)++from) {
      function(*from);
    }
    return from;
  }
  void append(Nothing&, Nothing&&) {}

  F& function;
};

// Returns: the grain that gives each thread that may take part one piece.
inline size_t grainForEachThread(size_t count) {
  const LocalDeque* local = count != 0 ? ownLocalDeque() : nullptr;
  const size_t numThreads = local != nullptr ? local->numOthers + size_t{1} : 1;
  return std::max<size_t>((count + numThreads - 1) / numThreads, 1);
}

template <class Iterator, class F>
void forEachOf(const Partition<Iterator>& range, F& function, const std::stop_token& token,
               const char* what) {
  if constexpr (detail::assertElementFunction<F, Iterator>()) {
    detail::assertCallable(function, what);
    ForBody<F> body{function};
    Nothing nothing;
    LoopOver<ForBody<F>, Iterator> loop(body, token, what);
    if (range.isStatic) {
      loop.evenly(range.first, range.count, range.grain, detail::grainForEachThread(range.count), true,
                  nothing);
    } else {
      loop.lazily(range.first, range.count, range.grain, nothing);
    }
  }
}

}  // namespace detail

// Calls function(element) for each element of a range, on the caller's fiber or thread and on those of idle
// workers. The range: a container, two iterators or numbers, an irange(), a list in braces, or a partitioner.
//
//   weft::parallelFor(0, image.height(), [&](int y) { render(image.row(y)); });
//   weft::parallelFor(names, [](std::string& name) { normalize(name); });
// The range is split while it runs, if a worker is idle and the rest is worth it (unless a partitioner
// changes that): a small loop costs next to nothing, and a long loop is shared, whatever its elements cost.
// Without a bound scheduler this is a plain loop. Neighbouring elements are called in their order on one
// thread. Suspends the fiber until all calls have returned, and runs nothing else on this stack meanwhile.
// Once `token` is asked to stop, no pieces begin, running ones end, and nothing is thrown.
// Requires: `function` may be called on several threads at the same time. No call waits for a later one.
// Errors: leaves the rest out, and throws the first element's exception once running calls have ended.
// Memory ordering: afterwards the caller sees what the calls have written.
// Lifetime: the range and the function are used in place, not copied.
template <detail::Partitionable Range, class F>
void parallelFor(Range&& range, F&& function, const std::stop_token& token = {}) {
  detail::forEachOf(detail::partition(std::forward<Range>(range)), function, token, "parallelFor");
}
template <detail::Endpoint Begin, class End, class F>
  requires(detail::Endpoint<End> || detail::Endpoints<Begin, End>)
void parallelFor(Begin begin, End end, F&& function, const std::stop_token& token = {}) {
  detail::forEachOf(detail::partition(begin, end), function, token, "parallelFor");
}
template <class T, class F>
void parallelFor(std::initializer_list<T> elements, F&& function, const std::stop_token& token = {}) {
  detail::forEachOf(detail::partition(elements), function, token, "parallelFor");
}

// Runs the loop as a task of `executor`, while the caller waits, as all parallel algorithms do if they are
// given one. The workers of a Scheduler or a PoolExecutor share the loop. Elsewhere it is a plain loop.
//
//   weft::parallelFor(weft::defaultExecutor(), 0, image.height(), [&](int y) { render(image.row(y)); });
// If the caller's thread is bound to that scheduler, it takes part.
// Requires: the executor needs neither the caller's thread nor what the caller holds, such as a lock.
// Errors: also what executor.schedule() throws, and TaskNotExecuted if the executor drops the task.
template <Executor E, class... Args>
auto parallelFor(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelFor(std::forward<Args>(args)...); });
}
template <Executor E, class Element, class... Args>
auto parallelFor(E&& executor, std::initializer_list<Element> elements, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelFor(elements, std::forward<Args>(args)...); });
}

template <class First, class Second, class... Args>
  requires detail::NoFirstArgument<First>
void parallelFor(First&&, Second&&, Args&&...) {
  detail::assertFirstArgument<First>();
}

// A part of a plane: the rows [rowBegin, rowEnd) of the columns [columnBegin, columnEnd).
struct Block2D {
  std::ptrdiff_t rowBegin, rowEnd, columnBegin, columnEnd;
};

namespace detail {

// Returns: how many blocks a side has; the last may be smaller.
inline std::ptrdiff_t blocksAlong(std::ptrdiff_t length, std::ptrdiff_t block) {
  return length <= 0 ? 0 : (length - 1) / block + 1;
}

// An iterator over the blocks of a plane, row by row.
class BlockIterator {
 public:
  using difference_type = std::ptrdiff_t;

  BlockIterator(const Block2D& plane, std::ptrdiff_t blockRows, std::ptrdiff_t blockColumns)
      : plane_(plane),
        rows_(blockRows),
        columns_(blockColumns),
        perRow_(detail::blocksAlong(plane.columnEnd - plane.columnBegin, columns_)) {}

  Block2D operator*() const {
    const std::ptrdiff_t row = plane_.rowBegin + index_ / perRow_ * rows_;
    const std::ptrdiff_t column = plane_.columnBegin + index_ % perRow_ * columns_;
    return {row, std::min(plane_.rowEnd - row, rows_) + row, column,
            std::min(plane_.columnEnd - column, columns_) + column};
  }
  BlockIterator& operator++() { return *this += 1; }
  BlockIterator& operator+=(difference_type n) {
    index_ += n;
    return *this;
  }

 private:
  Block2D plane_;
  std::ptrdiff_t rows_;
  std::ptrdiff_t columns_;
  std::ptrdiff_t perRow_;
  std::ptrdiff_t index_ = 0;
};

}  // namespace detail

// Returns: `plane` in blocks of that many rows and columns, of which the last may be smaller.
//
//   weft::parallelFor(weft::blocks2D({0, height, 0, width}, 64, 64),
//                     [&](const weft::Block2D& block) { transpose(block); });
// Errors: std::invalid_argument if a block's side is not positive, or if counts exceed a std::ptrdiff_t.
inline auto blocks2D(const Block2D& plane, std::ptrdiff_t blockRows, std::ptrdiff_t blockColumns) {
  if (blockRows <= 0 || blockColumns <= 0) [[unlikely]] {
    detail::throwOrDie(std::invalid_argument("blocks2D() needs blocks of at least one row and one column."));
  }
  std::ptrdiff_t rows = 0, columns = 0, blocks = 0;
  if (__builtin_sub_overflow(plane.rowEnd, plane.rowBegin, &rows) ||
      __builtin_sub_overflow(plane.columnEnd, plane.columnBegin, &columns) ||
      __builtin_mul_overflow(detail::blocksAlong(rows, blockRows), detail::blocksAlong(columns, blockColumns),
                             &blocks)) [[unlikely]] {
    detail::throwOrDie(std::invalid_argument(
        "blocks2D() has more rows, columns or blocks than a std::ptrdiff_t can count. Give larger blocks."));
  }
  return Partition<detail::BlockIterator>{detail::BlockIterator(plane, blockRows, blockColumns),
                                          static_cast<size_t>(blocks)};
}

}  // namespace weft::inline v0_1
