// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <exception>
#include <stop_token>

#include "weft/detail/base/throw_or_die.h"
#include "weft/export.h"

namespace weft::inline v0_1 {

// Thrown by work that ends early because it was asked to stop.
class WEFT_EXPORT TaskCanceled : public std::exception {
 public:
  const char* what() const noexcept override;
};

// Thrown by what has taken longer than it was given.
class WEFT_EXPORT TimedOut : public std::exception {
 public:
  const char* what() const noexcept override;
};

// Throws TaskCanceled if `token` was asked to stop. For long work that does not wait with the token.
//
//   for (Tile& tile : tiles) {
//     weft::interruptionPoint(token);
//     render(tile);
//   }
inline void interruptionPoint(const std::stop_token& token) {
  if (token.stop_requested()) [[unlikely]] {
    detail::throwOrDie(TaskCanceled());
  }
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
