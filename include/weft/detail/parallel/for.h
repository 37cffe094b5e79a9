// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/fork/run_on.h"
#include "weft/detail/parallel/lazy_loop.h"
#include "weft/detail/parallel/partition.h"
#include "weft/executor.h"

// Reached through weft/parallel.h.
namespace weft {

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

// One piece for each thread that may take one.
inline size_t grainForEachThread(size_t count) {
  const ForkLane* lane = count != 0 ? forkLane() : nullptr;
  const size_t numThreads = lane != nullptr ? lane->numOthers + size_t{1} : 1;
  return std::max<size_t>((count + numThreads - 1) / numThreads, 1);
}

// Splits at multiples of the grain down to single pieces, in a tree that is the same each time, and forks
// wherever `mayFork(lane)`. A part's result is what body.run() makes of one piece, or body.append() of two
// parts that follow each other.
template <class Body, class Cursor, class MayFork>
class EvenSplit {
 public:
  using Result = typename Body::Result;

  EvenSplit(Body& body, size_t grain, const std::stop_token& token, MayFork mayFork)
      : body_(body), grain_(grain), token_(token), mayFork_(mayFork) {}
  EvenSplit(const EvenSplit&) = delete;
  EvenSplit& operator=(const EvenSplit&) = delete;

  Result run(Cursor from, size_t count) {
    Result result{};
    if (count <= grain_) {
      runPiece(from, count, result);
      return result;
    }
    const size_t numPieces = (count - 1) / grain_ + 1;
    const size_t first = (numPieces + 1) / 2 * grain_;
    Cursor middle = from;
    detail::skip(middle, first);
    const auto runSecond = [this, &middle, rest = count - first] { return run(middle, rest); };
    ForkLane* lane = forkLane();
    if (lane != nullptr && mayFork_(*lane)) {
      Child<decltype(runSecond)> second(runSecond);
      second.expose(lane);
      lane->announce();
      Outcome<Result> outcome;
      outcome.capture([&] { return run(from, first); });
      second.complete(lane);
      result = outcome.take();
      body_.append(result, second.outcome().take());
    } else {
      result = run(from, first);
      body_.append(result, runSecond());
    }
    return result;
  }

 private:
  void runPiece(Cursor from, size_t count, Result& result) {
    // relaxed, all of it: what is not begun any more is all that hangs on it.
    if (hasThrown_.load(std::memory_order_relaxed) || token_.stop_requested()) [[unlikely]] {
      return;
    }
    EscapedException exception;
    exception.capture([&] { body_.run(from, count, result); });
    if (exception) [[unlikely]] {
      hasThrown_.store(true, std::memory_order_relaxed);
      exception.rethrow();
    }
  }

  Body& body_;
  const size_t grain_;
  const std::stop_token& token_;
  MayFork mayFork_;
  std::atomic<bool> hasThrown_{false};  // false -> true, by whoever saw a piece throw
};

inline constexpr auto kForkAlways = [](const ForkLane&) { return true; };

template <class Iterator, class F>
void forEachOf(const Partition<Iterator>& range, F& function, const std::stop_token& token,
               const char* what) {
  if constexpr (!kIsRefused<Iterator>) {
    ForBody<F> body{function};
    Nothing nothing;
    if (range.isStatic) {
      const size_t grain = range.grain != 0 ? range.grain : detail::grainForEachThread(range.count);
      EvenSplit<ForBody<F>, Iterator, decltype(kForkAlways)>(body, grain, token, kForkAlways)
          .run(range.first, range.count);
    } else {
      LazyLoop<ForBody<F>, Iterator>(body, token, what).run(range.first, range.count, range.grain, nothing);
    }
  }
}

}  // namespace detail

// Calls function(element) for each element of a range, on the caller's fiber or thread and on those of idle
// workers: for the numbers in [begin, end), for what lies between two forward iterators, for a container, an
// irange(), a list in braces, or a partitioner.
//
//   weft::parallelFor(0, image.height(), [&](int y) { render(image.row(y)); });
//   weft::parallelFor(names, [](std::string& name) { normalize(name); });
//
// The range is split while it is run, where somebody is idle and the rest is worth it, so that a small loop
// costs next to nothing and a long one is shared whatever its elements cost. A partitioner says otherwise.
// Where no scheduler is bound this is a plain loop. Calls for elements near each other come in their order on
// one thread; no call may wait for that of a later element.
// Suspends the fiber until all calls have returned; runs nothing else on this stack meanwhile. With a `token`
// no further pieces are begun once a stop is requested; those that run are ended, and nothing is thrown.
// Errors: an exception that a call lets escape is thrown here, once all calls that had begun have ended;
// where several throw, that of the first element among them. The rest of the elements is left out then.
// Requires: `function` may be called on several threads at the same time. Memory ordering: what the calls
// have written is seen afterwards. Lifetime: the range and the function are used where they are.
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

// The same as a task of `executor`, while the caller waits: on a Scheduler or a PoolExecutor the workers
// share the loop; on an executor of other threads it is a plain loop. So all parallel algorithms take an
// executor.
//
//   weft::parallelFor(weft::defaultExecutor(), 0, image.height(), [&](int y) { render(image.row(y)); });
//
// Where the caller's thread is bound to that scheduler already, it takes part. Errors: also what
// executor.schedule() throws, and TaskNotExecuted where the executor drops the task. Requires: the executor
// needs neither the caller's thread nor anything that the caller holds.
template <Executor E, class... Args>
auto parallelFor(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelFor(std::forward<Args>(args)...); });
}
template <Executor E, class Element, class... Args>
auto parallelFor(E&& executor, std::initializer_list<Element> elements, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelFor(elements, std::forward<Args>(args)...); });
}

// A part of a plane: the rows [rowBegin, rowEnd) of the columns [columnBegin, columnEnd).
struct Block2D {
  std::ptrdiff_t rowBegin, rowEnd, columnBegin, columnEnd;
};

namespace detail {

// An iterator over the blocks of a plane, row by row of blocks.
class BlockIterator {
 public:
  using difference_type = std::ptrdiff_t;

  BlockIterator(const Block2D& plane, std::ptrdiff_t blockRows, std::ptrdiff_t blockColumns)
      : plane_(plane),
        rows_(blockRows),
        columns_(blockColumns),
        perRow_(ceil(plane.columnEnd - plane.columnBegin, columns_)) {}

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
  size_t numBlocks() const {
    return static_cast<size_t>(ceil(plane_.rowEnd - plane_.rowBegin, rows_) * perRow_);
  }

 private:
  static std::ptrdiff_t ceil(std::ptrdiff_t length, std::ptrdiff_t by) {
    return length <= 0 ? 0 : (length - 1) / by + 1;
  }

  Block2D plane_;
  std::ptrdiff_t rows_;
  std::ptrdiff_t columns_;
  std::ptrdiff_t perRow_;
  std::ptrdiff_t index_ = 0;
};

}  // namespace detail

// Returns: `plane` in blocks of that many rows and columns, fewer at its ends, for any parallel algorithm:
//
//   weft::parallelFor(weft::blocks2D({0, height, 0, width}, 64, 64), [&](const weft::Block2D& block) {
//   transpose(block); });
//
// Errors: std::invalid_argument where a block's side is zero or negative.
inline auto blocks2D(const Block2D& plane, std::ptrdiff_t blockRows, std::ptrdiff_t blockColumns) {
  if (blockRows <= 0 || blockColumns <= 0) [[unlikely]] {
    detail::throwOrDie(std::invalid_argument("blocks2D() needs blocks of at least one row and one column."));
  }
  const detail::BlockIterator first(plane, blockRows, blockColumns);
  return Partition<detail::BlockIterator>{first, first.numBlocks()};
}

}  // namespace weft
