// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace weft::inline v0_1::detail {

// xorshift64 (Marsaglia 2003), for choices that need only be spread.
// Requires: `state` is not 0. Returns: the next state, which is not 0 either.
constexpr uint64_t nextRandom(uint64_t state) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^ (state << 17);
}

}  // namespace weft::inline v0_1::detail
