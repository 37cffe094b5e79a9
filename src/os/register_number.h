// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace weft::inline v0_1::detail::processor {

// Stands where no register is.
inline constexpr uint8_t kNoNumber = 0xff;

}  // namespace weft::inline v0_1::detail::processor
