// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

#include "inspect/snapshot.h"

namespace weft::inline v0_1::detail::tools {

// Finds the fiber that the text names: "3" is its number, if one worker alone uses a fiber of that number;
// "0:3" names the worker too, or the thread, as of a bound thread; "0x7f40" is the address of its control
// block. Returns: its index. Throws Failure if there is none, or several.
uint32_t chooseFiber(const inspect::Snapshot& snapshot, std::string_view text);

}  // namespace weft::inline v0_1::detail::tools
