// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <type_traits>

#include "weft/cancellation.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/forkjoin/fork_join.h"
#include "weft/detail/parallel/stop.h"

namespace weft::inline v0_1::detail {

// Whether Less is known to compare numbers in some instructions; others may take long.
template <class Less, class Value>
inline constexpr bool kIsCheap =
    std::is_arithmetic_v<Value> && (std::is_same_v<std::remove_cv_t<Less>, std::less<>> ||
                                    std::is_same_v<std::remove_cv_t<Less>, std::less<Value>> ||
                                    std::is_same_v<std::remove_cv_t<Less>, std::greater<>> ||
                                    std::is_same_v<std::remove_cv_t<Less>, std::greater<Value>>);

// Counts the steps of a sort: comparisons, or moves. A piece of kPiece steps, or up to twice as many where
// several are counted together, counts as a dequeue; then others run whose turn it is. For one fiber.
//
// 64 steps of 10 us are less than a millisecond, and 64 of a nanosecond ten times as much as a look. Steps
// that are known to be cheap make pieces of some microseconds.
//
// Once a stop is requested, the end of a piece throws TaskCanceled, as a comparator may.
template <bool kAreCheap, class Stop = NeverStops>
class StepCount {
 public:
  explicit StepCount(Stop stop = {}) : stop_(stop) {}

  static constexpr std::ptrdiff_t kPiece = kAreCheap ? 4096 : 64;

  // After `count` steps.
  void add(std::ptrdiff_t count) {
    left_ -= count;
    if (left_ <= 0) [[unlikely]] {
      letOthersRun();
    }
  }

  // Calls run(begin, end) for [begin, end), piece by piece. kMayStop: whether a stop may end that.
  template <bool kMayStop = true, class Iterator, class Run>
  void inPieces(Iterator begin, Iterator end, Run&& run) {
    while (begin != end) {
      const auto count = std::min<std::ptrdiff_t>(end - begin, left_);
      const Iterator next = begin + count;
      run(begin, next);
      if constexpr (kMayStop) {
        add(count);
      } else if (left_ -= count; left_ <= 0) [[unlikely]] {
        endPiece();
      }
      begin = next;
    }
  }

  // Ends a piece.
  void letOthersRun() {
    endPiece();
    if (stop_.isStopped()) [[unlikely]] {
      throwOrDie(TaskCanceled());
    }
  }

 private:
  void endPiece() {
    left_ = kPiece;
    detail::letOthersRunInTurn();
  }

  std::ptrdiff_t left_ = kPiece;
  [[no_unique_address]] Stop stop_;
};

}  // namespace weft::inline v0_1::detail
