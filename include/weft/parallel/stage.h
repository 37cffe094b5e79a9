// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <type_traits>
#include <utility>

#include "weft/detail/parallel/stage.h"

namespace weft::inline v0_1 {

// How many items a stage takes at the same time, and in which order.
enum class StageOrder {
  Serial,            // one item at a time, in the order in which the first stage made them
  SerialOutOfOrder,  // one item at a time, in any order
  Parallel,          // many items at the same time
};

// A stage of parallelPipeline().
template <StageOrder kStageOrder, class F>
struct Stage {
  static constexpr StageOrder kOrder = kStageOrder;  // how it takes its items
  F function;                                        // what it does with an item
};

// Makes of `function` a stage of parallelPipeline(): Serial, SerialOutOfOrder or Parallel.
template <class F>
Stage<StageOrder::Serial, std::decay_t<F>> serialStage(F&& function) {
  using Made = Stage<StageOrder::Serial, std::decay_t<F>>;
  return detail::makeStage<Made>(std::forward<F>(function), "serialStage()");
}
template <class F>
Stage<StageOrder::SerialOutOfOrder, std::decay_t<F>> serialOutOfOrderStage(F&& function) {
  using Made = Stage<StageOrder::SerialOutOfOrder, std::decay_t<F>>;
  return detail::makeStage<Made>(std::forward<F>(function), "serialOutOfOrderStage()");
}
template <class F>
Stage<StageOrder::Parallel, std::decay_t<F>> parallelStage(F&& function) {
  using Made = Stage<StageOrder::Parallel, std::decay_t<F>>;
  return detail::makeStage<Made>(std::forward<F>(function), "parallelStage()");
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
