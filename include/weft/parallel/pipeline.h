// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <cstddef>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/forkjoin/run_on.h"
#include "weft/detail/parallel/pipeline.h"
#include "weft/detail/parallel/pipeline_core.h"
#include "weft/executor.h"
#include "weft/parallel/stage.h"

namespace weft::inline v0_1 {

// Takes items through stages, at most `maxTokens` items at the same time. The first stage is called without
// arguments, one call at a time, and returns a std::optional: the next item, or nothing at the end. Each
// further stage gets what the stage before it returned, as an rvalue. The last stage may return nothing.
//
//   weft::parallelPipeline(8,
//                          weft::serialStage([&] { return reader.next(); }),  // std::optional<Block>
//                          weft::parallelStage([](Block block) { return compress(std::move(block)); }),
//                          weft::serialStage([&](Packed packed) { writer.append(packed); }));
// A serial stage sees the items in the order of the first stage. If a stage waits, other items go on.
// Allocates no memory. A large `maxTokens` costs nothing, since an item begins only once the one before it is
// made. Without a bound scheduler or idle workers the items go through one by one. Suspends the fiber until
// all items are through.
// Requires: a parallel stage may be called on several threads at the same time.
// Errors: once all stages have returned, throws the exception of the earliest item whose stage threw. The
// other items that have not reached the end are dropped. Throws std::invalid_argument if maxTokens is less
// than 1.
template <class... Stages>
void parallelPipeline(std::ptrdiff_t maxTokens, Stages&&... stages) {
  static_assert(
      sizeof...(Stages) >= 1,
      "a parallelPipeline() needs at least one stage: parallelPipeline(maxTokens, serialStage(f), ...).");
  if constexpr (sizeof...(Stages) == 0) {
    return;
  } else if constexpr (!detail::assertStages<std::remove_cvref_t<Stages>...>()) {
    return;
  } else {
    if (maxTokens < 1) [[unlikely]] {
      detail::throwOrDie(std::invalid_argument(
          "parallelPipeline() needs at least one token to take an item through its stages."));
    }
    detail::Pipeline<std::remove_reference_t<Stages>...> pipeline(std::tie(stages...));
    pipeline.run(static_cast<size_t>(maxTokens));
  }
}

template <class First, class... Args>
  requires(!Executor<First> && !std::is_convertible_v<First, std::ptrdiff_t>)
void parallelPipeline(First&&, Args&&...) {
  static_assert(detail::kAlwaysFalse<First>,
                "a parallelPipeline() begins with the number of items that may be on their way: "
                "parallelPipeline(maxTokens, serialStage(f), ...). Before that it may have an executor, "
                "which is an object that has a member function schedule(weft::TaskHandle).");
}

// Calls parallelPipeline(args...) in a task of `executor`, as parallelFor() with an executor does.
template <Executor E, class... Args>
auto parallelPipeline(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelPipeline(std::forward<Args>(args)...); });
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
