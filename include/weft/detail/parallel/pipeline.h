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
#include "weft/detail/forkjoin/run_on.h"
#include "weft/detail/parallel/pipeline_core.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {

// A stage of parallelPipeline().
template <StageOrder kStageOrder, class F>
struct Stage {
  static constexpr StageOrder kOrder = kStageOrder;
  F function;
};

namespace detail {

template <StageOrder kOrder, class F>
Stage<kOrder, std::decay_t<F>> makeStage(F&& function, const char* where) {
  if constexpr (detail::assertKept<F>()) {
    detail::assertCallable(function, where);
    return {std::forward<F>(function)};
  } else {
    __builtin_unreachable();
  }
}

}  // namespace detail

// Return: `function` as a stage of parallelPipeline().
template <class F>
Stage<StageOrder::Serial, std::decay_t<F>> serialStage(F&& function) {
  return detail::makeStage<StageOrder::Serial>(std::forward<F>(function), "serialStage()");
}
template <class F>
Stage<StageOrder::SerialOutOfOrder, std::decay_t<F>> serialOutOfOrderStage(F&& function) {
  return detail::makeStage<StageOrder::SerialOutOfOrder>(std::forward<F>(function),
                                                         "serialOutOfOrderStage()");
}
template <class F>
Stage<StageOrder::Parallel, std::decay_t<F>> parallelStage(F&& function) {
  return detail::makeStage<StageOrder::Parallel>(std::forward<F>(function), "parallelStage()");
}

namespace detail {

template <class T>
inline constexpr bool kIsStage = false;
template <StageOrder kOrder, class F>
inline constexpr bool kIsStage<Stage<kOrder, F>> = true;

// What the first stage makes, which is read like a std::optional; void if it cannot be called or read so.
template <class F>
struct MadeItem : std::type_identity<void> {};
template <class F>
  requires(std::is_invocable_v<F&> && !std::is_pointer_v<std::invoke_result_t<F&>> &&
           requires(std::invoke_result_t<F&> made) { made ? *std::move(made) : *std::move(made); })
struct MadeItem<F> : std::type_identity<decltype(*std::declval<std::invoke_result_t<F&>>())> {};

// Checks that each further stage takes an Item, which the stage before returns.
template <class Item>
constexpr bool assertFurtherStages() {
  return true;
}
template <class Item, class Stage, class... Others>
constexpr bool assertFurtherStages() {
  constexpr bool kHasItem = !std::is_void_v<Item>;
  static_assert(kHasItem,
                "each stage of a parallelPipeline() but the last must return the input of the next stage.");
  if constexpr (kHasItem) {
    using F = decltype(Stage::function)&;
    constexpr bool kCanBeCalled = std::is_invocable_v<F, Item>;
    static_assert(
        kCanBeCalled,
        "a stage of a parallelPipeline() cannot be called with what the stage before returns, "
        "as an rvalue. The first stage returns a std::optional, of which the second gets the value.");
    if constexpr (kCanBeCalled) {
      return detail::assertFurtherStages<std::invoke_result_t<F, Item>, Others...>();
    }
  }
  return false;
}

template <class First, class... Others>
constexpr bool assertStages() {
  constexpr bool kAreStages = kIsStage<First> && (kIsStage<Others> && ...);
  static_assert(kAreStages,
                "the stages of a parallelPipeline() are made by serialStage(f), "
                "serialOutOfOrderStage(f) and parallelStage(f).");
  if constexpr (kAreStages) {
    using Item = typename MadeItem<decltype(First::function)>::type;
    constexpr bool kIsSource = !std::is_void_v<Item>;
    static_assert(First::kOrder != StageOrder::Parallel,
                  "the first stage of a parallelPipeline() must be a serialStage(): "
                  "it makes one item after the other.");
    static_assert(kIsSource,
                  "the first stage of a parallelPipeline() is called without arguments, "
                  "and must return a std::optional: the next item, or nothing at the end.");
    if constexpr (First::kOrder != StageOrder::Parallel && kIsSource) {
      return detail::assertFurtherStages<Item, Others...>();
    }
  }
  return false;
}

}  // namespace detail

// Takes items through stages, at most `maxTokens` items at the same time. The first stage is called without
// arguments, one call at a time, and returns a std::optional: the next item, or nothing at the end. Each
// further stage gets what the stage before returned, as an rvalue. The last stage may return nothing.
//
//   weft::parallelPipeline(8,
//                          weft::serialStage([&] { return reader.next(); }),  // std::optional<Block>
//                          weft::parallelStage([](Block block) { return compress(std::move(block)); }),
//                          weft::serialStage([&](Packed packed) { writer.append(packed); }));
// A serial stage sees the items in the order of the first stage. If a stage waits, other items go on.
// Allocates no memory: a token begins once the one before has an item, so a large `maxTokens` costs nothing.
// Items go through one by one without a bound scheduler or idle workers. Suspends the fiber.
// Requires: a parallel stage may be called on several threads at the same time.
// Errors: once all stages have returned, throws the exception of the earliest item whose stage threw. All
// other items are dropped where they are. std::invalid_argument if maxTokens is less than 1.
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

template <Executor E, class... Args>
auto parallelPipeline(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelPipeline(std::forward<Args>(args)...); });
}

}  // namespace weft::inline v0_1
