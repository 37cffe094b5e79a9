// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <unistd.h>

#include <cstddef>

namespace weft::inline v0_1::detail {

// Returns: the size of the system's pages, in bytes. Inline, for the program `weft`, which lacks the library.
inline size_t systemPageSize() noexcept { return static_cast<size_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace weft::inline v0_1::detail
