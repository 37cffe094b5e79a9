// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stop_token>
#include <tuple>
#include <utility>
#include <vector>

#include "weft/detail/base/outcome.h"
#include "weft/detail/future/task_state.h"
#include "weft/export.h"

// When the one future is ready that is made of several, and what it gives.
namespace weft::inline v0_1 {

template <class Futures>
struct WhenAnyResult;

namespace detail {

WEFT_EXPORT void setNoFutures(EscapedException& error);

template <class Futures>
struct CommonResult;
template <class Each>
struct CommonResult<std::vector<Each>> {
  using Type = typename Unwrapped<Each>::Result;
};
template <class First, class... More>
struct CommonResult<std::tuple<First, More...>> {
  using Type = typename Unwrapped<First>::Result;
};

// When the result is there. Where one future decides, it is the first to decide, or else the last to be
// ready. A rule that looks at outcomes has a future decide if it has failed, or else if it has a value.
struct WhenAllRule {
  static constexpr const char* kName = "whenAll";
  static constexpr bool kOneDecides = false, kLooks = false;
  template <class Futures>
  using Result = Futures;
};
struct WhenAnyRule {
  static constexpr const char* kName = "whenAny";
  static constexpr bool kOneDecides = true, kLooks = false;
  template <class Futures>
  using Result = WhenAnyResult<Futures>;
};
struct FailFastRule {
  static constexpr const char* kName = "whenAll";
  static constexpr bool kOneDecides = true, kLooks = true, kFailureDecides = true;
  template <class Futures>
  using Result = Futures;
};
struct FirstSuccessRule {
  static constexpr const char* kName = "firstSuccess";
  static constexpr bool kOneDecides = true, kLooks = true, kFailureDecides = false;
  template <class Futures>
  using Result = typename CommonResult<Futures>::Type;
};

// What is asked to stop once a future has decided.
struct NoSource {
  void requestStop() {}
};
struct LosersSource {
  explicit LosersSource(std::stop_source of) : source(std::move(of)) {}
  void requestStop() { std::exchange(source, std::stop_source(std::nostopstate)).request_stop(); }

  std::stop_source source;
};

}  // namespace detail

}  // namespace weft::inline v0_1
