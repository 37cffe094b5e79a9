// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <utility>

#include "weft/detail/base/callable.h"

namespace weft::inline v0_1::detail {

// `where`: the public function that makes the stage, for messages.
template <class Stage, class F>
Stage makeStage(F&& function, const char* where) {
  if constexpr (detail::assertKept<F>()) {
    detail::assertCallable(function, where);
    return {std::forward<F>(function)};
  } else {
    __builtin_unreachable();
  }
}

}  // namespace weft::inline v0_1::detail
