// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

#include "weft/export.h"

namespace weft::inline v0_1::detail {

// For tests: has pageSize() return `bytes`, as on a system with larger pages; 0: that of this system.
// Requires: a multiple of this system's page. No pool of stacks that was made with another size is used
// meanwhile, and no other thread uses weft.
WEFT_EXPORT void setPageSize(size_t bytes) noexcept;

}  // namespace weft::inline v0_1::detail
