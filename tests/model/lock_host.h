// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>

#include "explore.h"
#include "model_waiter.h"

// What the models of the locks share that go by time.
namespace weft::model {

// How a caller waits for a lock, and a clock on which any time may have passed whenever it is read. Where
// kLooksAgain is not set, the limits of waits never come, so that they make up for no wake that was lost.
template <bool kLooksAgain>
struct LockHost {
  detail::TimePoint now() const { return time += std::chrono::milliseconds(rl::rand(2)); }
  void block(Waiter& self) const { self.block(); }
  bool blockUntil(Waiter& self, detail::TimePoint) const {
    if (kLooksAgain) {
      return self.blockUntilSomeTime();
    }
    self.block();
    return true;
  }
  static constexpr detail::TimePoint limit() { return detail::kNever; }
  static constexpr bool isStopped() { return false; }
  static constexpr bool hasLeft() { return false; }
  mutable detail::TimePoint time{std::chrono::milliseconds(5)};
};

}  // namespace weft::model
