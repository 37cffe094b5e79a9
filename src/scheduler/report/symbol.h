// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

namespace weft::inline v0_1::detail {

// A place in code as a dump names it: "serve(Connection&) (server+0x3412)". A long name is cut. Calls no
// malloc, and takes little of the caller's stack.
struct Symbol {
  explicit Symbol(const void* address) noexcept;

  char text[256];
};

}  // namespace weft::inline v0_1::detail
