// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/fork/run_on.h"
#include "weft/detail/parallel/pipeline_core.h"
#include "weft/executor.h"

// Included by weft/parallel.h.
namespace weft {

// A stage of parallelPipeline().
template <StageOrder kStageOrder, class F>
struct Stage {
  static constexpr StageOrder kOrder = kStageOrder;
  F function;
};

// Return: `function` as a stage of parallelPipeline().
template <class F>
Stage<StageOrder::Serial, std::decay_t<F>> serialStage(F&& function) {
  detail::assertCallable(function, "serialStage()");
  return {std::forward<F>(function)};
}
template <class F>
Stage<StageOrder::SerialOutOfOrder, std::decay_t<F>> serialOutOfOrderStage(F&& function) {
  detail::assertCallable(function, "serialOutOfOrderStage()");
  return {std::forward<F>(function)};
}
template <class F>
Stage<StageOrder::Parallel, std::decay_t<F>> parallelStage(F&& function) {
  detail::assertCallable(function, "parallelStage()");
  return {std::forward<F>(function)};
}

// Takes items through stages, at most `maxTokens` items at the same time. The first stage is called without
// arguments, one call at a time, and returns a std::optional: the next item, or nothing at the end. Each
// further stage is called with what the stage before returned, as an rvalue. The last stage may return
// nothing.
//
//   weft::parallelPipeline(8,
//                          weft::serialStage([&] { return reader.next(); }),  // std::optional<Block>
//                          weft::parallelStage([](Block block) { return compress(std::move(block)); }),
//                          weft::serialStage([&](Packed packed) { writer.append(packed); }));
//
// A serial stage sees the items in the order in which the first stage made them. If a stage waits, other
// items go on. Allocates memory for each token, and none for an item. If no scheduler is bound, or no worker
// is idle, one item is taken through after the other. Suspends the fiber until all items are through.
// Requires: a parallel stage may be called on several threads at the same time.
// Errors: an exception that escapes a stage is thrown here once all stages have returned. If several stages
// throw, the exception of the earliest item is thrown. All other items are dropped where they are.
// std::invalid_argument if maxTokens is less than 1.
template <class... Stages>
void parallelPipeline(std::ptrdiff_t maxTokens, Stages&&... stages) {
  static_assert(sizeof...(Stages) >= 1, "a parallelPipeline() needs at least one stage.");
  static_assert(
      std::tuple_element_t<0, std::tuple<std::remove_cvref_t<Stages>...>>::kOrder != StageOrder::Parallel,
      "the first stage of a parallelPipeline() must be a serialStage(): it makes one item after the other.");
  if (maxTokens < 1) [[unlikely]] {
    detail::throwOrDie(std::invalid_argument(
        "parallelPipeline() needs at least one token to take an item through its stages."));
  }
  detail::Pipeline<std::remove_reference_t<Stages>...> pipeline(std::tie(stages...));
  pipeline.run(static_cast<size_t>(maxTokens));
}

// As a task of `executor`; see parallelFor().
template <Executor E, class... Args>
auto parallelPipeline(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelPipeline(std::forward<Args>(args)...); });
}

}  // namespace weft
