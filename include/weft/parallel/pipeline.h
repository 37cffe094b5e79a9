// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/forkjoin/run_on.h"
#include "weft/detail/parallel/pipeline.h"
#include "weft/detail/parallel/stop.h"
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
// all items are through. A std::stop_token may follow the stages. Once a stop of it is requested, the first
// stage is not called any more, and the items on their way go on to the end; nothing is thrown.
// Requires: a parallel stage may be called on several threads at the same time.
// Errors: once all stages have returned, throws the exception of the earliest item whose stage threw. The
// other items that have not reached the end are dropped. Throws std::invalid_argument if maxTokens is less
// than 1.
template <class... Stages>
void parallelPipeline(std::ptrdiff_t maxTokens, Stages&&... stages) {
  if constexpr (detail::kEndsWithToken<Stages...>) {
    detail::runStoppablePipeline(maxTokens, std::tie(stages...),
                                 std::make_index_sequence<sizeof...(Stages) - 1>());
  } else {
    detail::runPipeline(maxTokens, detail::NeverStops(), stages...);
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
