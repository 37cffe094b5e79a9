// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>

namespace weft::tests {

// Keeps the thread until `time`.
inline void spinUntil(std::chrono::steady_clock::time_point time) {
  while (std::chrono::steady_clock::now() < time) {
  }
}

// Keeps the thread for `time` at least.
inline void spinFor(std::chrono::nanoseconds time) { spinUntil(std::chrono::steady_clock::now() + time); }

}  // namespace weft::tests
