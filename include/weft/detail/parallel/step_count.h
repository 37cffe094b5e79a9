// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <type_traits>

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

  // After `count` steps. kMayStop, here and below: whether a stop may throw.
  template <bool kMayStop = true>
  void add(std::ptrdiff_t count) {
    left_ -= count;
    if (left_ <= 0) [[unlikely]] {
      letOthersRun<kMayStop>();
    }
  }

  // Calls run(begin, end) for [begin, end), piece by piece.
  template <bool kMayStop = true, class Iterator, class Run>
  void inPieces(Iterator begin, Iterator end, Run&& run) {
    while (begin != end) {
      const auto count = std::min<std::ptrdiff_t>(end - begin, left_);
      const Iterator next = begin + count;
      run(begin, next);
      add<kMayStop>(count);
      begin = next;
    }
  }

  // Ends a piece.
  template <bool kMayStop = true>
  void letOthersRun() {
    left_ = kPiece;
    detail::letOthersRunInTurn();
    if constexpr (kMayStop) {
      stop_.throwIfStopped();
    }
  }

 private:
  std::ptrdiff_t left_ = kPiece;
  [[no_unique_address]] Stop stop_;
};

}  // namespace weft::inline v0_1::detail
