// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/parallel/pipeline_core.h"
#include "weft/detail/parallel/stop.h"
#include "weft/parallel/stage.h"

namespace weft::inline v0_1::detail {

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

template <class Stop, class... Stages>
void runPipeline(std::ptrdiff_t maxTokens, Stop stop, Stages&... stages) {
  static_assert(
      sizeof...(Stages) >= 1,
      "a parallelPipeline() needs at least one stage: parallelPipeline(maxTokens, serialStage(f), ...).");
  if constexpr (sizeof...(Stages) == 0) {
    return;
  } else if constexpr (!detail::assertStages<std::remove_cv_t<Stages>...>()) {
    return;
  } else {
    if (maxTokens < 1) [[unlikely]] {
      detail::throwOrDie(std::invalid_argument(
          "parallelPipeline() needs at least one token to take an item through its stages."));
    }
    Pipeline<Stop, Stages...> pipeline(stop, std::tie(stages...));
    pipeline.run(static_cast<size_t>(maxTokens));
  }
}

template <class... Args>
inline constexpr bool kEndsWithToken = false;
template <class Arg>
inline constexpr bool kEndsWithToken<Arg> = StopToken<Arg>;
template <class First, class Second, class... Others>
inline constexpr bool kEndsWithToken<First, Second, Others...> = kEndsWithToken<Second, Others...>;

// The last of `args` is the token.
template <class... Args, size_t... kIndex>
void runStoppablePipeline(std::ptrdiff_t maxTokens, const std::tuple<Args&...>& args,
                          std::index_sequence<kIndex...>) {
  const std::stop_token& token = std::get<sizeof...(kIndex)>(args);
  detail::runPipeline(maxTokens, StopsBy{&token}, std::get<kIndex>(args)...);
}

}  // namespace weft::inline v0_1::detail
