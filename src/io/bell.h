// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/park/parker.h"

namespace weft::inline v0_1::detail {

// Gives the parker of the calling thread its bell, if it has none.
// Returns: false where the system grants no descriptor; errno says why.
template <class Sys>
bool giveBellOnce(Parker<>& parker) noexcept {
  if (parker.bell() == StdSync::kNoBell) {
    const int bell = Sys::makeBell();
    if (bell < 0) {
      return false;
    }
    parker.giveBell(bell);
  }
  return true;
}

}  // namespace weft::inline v0_1::detail
