// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <stop_token>
#include <type_traits>

#include "weft/cancellation.h"

// What ends an algorithm early, as a type. So an algorithm that was given no token has no look at one.
namespace weft::inline v0_1::detail {

template <class T>
concept StopToken = std::same_as<std::remove_cvref_t<T>, std::stop_token>;

// For the algorithms that take none.
template <class... Args>
constexpr void assertNoStopToken() {
  static_assert(!(StopToken<Args> || ...),
                "this parallel algorithm takes no stop token. "
                "Call weft::interruptionPoint(token) in its function: what that throws ends the algorithm.");
}

struct NeverStops {
  static constexpr bool isStopped() { return false; }
  static constexpr void throwIfStopped() {}
};

struct StopsBy {
  bool isStopped() const { return token->stop_requested(); }
  void throwIfStopped() const { weft::interruptionPoint(*token); }
  const std::stop_token* token = nullptr;
};

}  // namespace weft::inline v0_1::detail
