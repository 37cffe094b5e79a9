// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <iterator>
#include <stop_token>
#include <utility>

#include "weft/detail/base/outcome.h"
#include "weft/detail/fork/fork.h"
#include "weft/detail/parallel/grain_estimator.h"

// A loop that is split while it runs, after Tzannes, Caragea, Barua and Vishkin, "Lazy Binary-Splitting: A
// Run-Time Adaptive Work-Stealing Scheduler" (PPoPP 2010).
//
// The caller runs the loop from its beginning, piece by piece. Between two pieces it looks at its deque.
// While the deque holds little, the caller exposes the later half of the rest there, as a forked child. A
// thief that takes the child does the same with it. If no thief takes it, its parent goes on with it as if it
// had never been split off. So a loop that no other thread joins is split into a few hundred parts, whatever
// its length.
//
// There are three differences from the paper:
// - The deque is filled up to a few children, not to one. A loop whose first iterations are its longest would
//   otherwise offer nothing during each of these once the one child is taken.
// - A loop without a given grain measures the cost of its iterations (grain_estimator.h), and exposes nothing
//   that is not worth it. To wake a thread for half of a tiny loop would cost more than the loop.
// - Between two pieces a fiber of the same thread that is ready, or whose timer is due, has its turn.
namespace weft::detail {

template <class Cursor>
constexpr void skip(Cursor& cursor, size_t count) {
  if constexpr (requires { cursor += static_cast<std::ptrdiff_t>(count); }) {
    cursor += static_cast<std::iter_difference_t<Cursor>>(count);
  } else {
    for (; count != 0; --count) {
      ++cursor;
    }
  }
}

// Body: Result                           the result of a part of the loop; default constructible
//       Cursor run(from, count, result)  runs `count` iterations and adds to the part's result;
//                                        returns where they end
//       void append(left, right)         adds to `left` the result of the part that follows it
template <class Body, class Cursor>
class LazyLoop {
 public:
  using Result = typename Body::Result;

  LazyLoop(Body& body, const std::stop_token& token, const char* what)
      : body_(body), token_(token), hasToken_(token.stop_possible()), what_(what) {}
  LazyLoop(const LazyLoop&) = delete;
  LazyLoop& operator=(const LazyLoop&) = delete;

  // With a grain of 0 the loop finds out itself after how many iterations to look at its deque.
  void run(Cursor from, size_t count, size_t grain, Result& result) {
    if (count == 0) {
      return;
    }
    ForkLane* lane = forkLane();
    const bool hasHelp = lane != nullptr && (lane->numOthers != 0 || grain != 0);
    if (!hasHelp && !hasToken_) {
      body_.run(from, count, result);
      return;
    }
    GrainEstimator pace(grain);
    pace.begin();
    runPieces(hasHelp ? lane : nullptr, from, count, result, pace);
  }

 private:
  struct Part : TaskNode {
    Part(LazyLoop& whole, Cursor begin, size_t length, const GrainEstimator& parents)
        : TaskNode{&runAsTask, nullptr, 0}, loop(whole), from(begin), count(length), pace(parents) {}

    static void runAsTask(TaskNode* node, TaskOp) {
      auto& self = *static_cast<Part*>(node);
      beginAsTask();
      self.loop.capture(self.exception, [&self] {
        self.pace.begin();
        self.loop.runPieces(forkLane(), self.from, self.count, self.result, self.pace);
      });
      detail::finishChild(self.completion);
    }

    LazyLoop& loop;
    Cursor from;
    size_t count;
    GrainEstimator pace;
    Result result{};
    EscapedException exception;
    ChildCompletion completion;
  };

  // Runs `count` iterations from `from` on. `lane` is null if there is no thread to share them with.
  void runPieces(ForkLane* lane, Cursor from, size_t count, Result& result, GrainEstimator& pace) {
    const size_t whole = count;
    while (!isStopped()) {
      if (lane != nullptr && lane->offersLittle() && pace.isWorthSharing(count, *lane)) {
        if (!runHalf(*lane, from, count, result, pace)) {
          return;
        }
        continue;
      }
      const size_t piece = pace.nextPiece(count, whole);
      from = body_.run(from, piece, result);
      count -= piece;
      if (count == 0) {
        return;
      }
      pace.note(piece);
      // A piece counts as a dequeue: between two of them those run whose turn it is, if there are any.
      if (lane != nullptr && lane->letOthersRunInTurn()) [[unlikely]] {
        pace.begin();
      }
    }
  }

  // Runs the first half, with the second half exposed.
  // Returns: whether the second half is left to do: `count` iterations from `from` on. If not, a thief has
  // done it.
  bool runHalf(ForkLane& lane, Cursor& from, size_t& count, Result& result, GrainEstimator& pace) {
    const size_t first = pace.firstHalf(count);
    Cursor middle = from;
    detail::skip(middle, first);
    Part second(*this, middle, count - first, pace);
    const bool isExposed = lane.expose(second);
    if (isExposed) {
      lane.announce();
    }
    EscapedException exception;
    capture(exception, [&] { runPieces(isExposed ? &lane : nullptr, from, first, result, pace); });
    if (isExposed) {
      assertStillBound(&lane);
    }
    const bool isLeft = !isExposed || lane.takeBack(second);
    if (!isLeft) {
      detail::waitForChild(second.completion, what_);
    }
    exception.rethrow();
    if (isLeft) {
      from = middle;
      count = second.count;
      pace.begin();
      return true;
    }
    second.exception.rethrow();
    body_.append(result, std::move(second.result));
    return false;
  }

  template <class F>
  void capture(EscapedException& exception, F&& function) {
    exception.capture(std::forward<F>(function));
    if (exception) [[unlikely]] {
      // relaxed, here and below: it only keeps other threads from beginning further pieces.
      hasThrown_.store(true, std::memory_order_relaxed);
    }
  }

  bool isStopped() const {
    return hasThrown_.load(std::memory_order_relaxed) || (hasToken_ && token_.stop_requested());
  }

  Body& body_;
  const std::stop_token& token_;
  const bool hasToken_;
  const char* const what_;
  std::atomic<bool> hasThrown_{false};  // false -> true, by a thread whose piece has thrown
};

}  // namespace weft::detail
