// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace weft::inline v0_1::detail {

// The name of the function at `address`, as far as the dynamic linker knows it.
struct Symbol {
  explicit Symbol(const void* address);

  char text[256];
};

}  // namespace weft::inline v0_1::detail
