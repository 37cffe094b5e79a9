// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>

#include "inspect/unwinder.h"

namespace weft::inline v0_1::detail::tools {

// Returns: the registers of a thread that was stopped between two instructions. `members`: those of the
// system's user_regs_struct.
inspect::Registers registersOf(std::span<const uint64_t> members);

}  // namespace weft::inline v0_1::detail::tools
