// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>

#include <array>

#include "weft/io/descriptor.h"
#include "weft/io/process.h"

namespace weft::inline v0_1::detail {

// Starts the program of `command`. `ours` gets this process's ends of the pipes to its three streams.
// Returns: 0, with `pid`, or an error number.
int spawnProgram(const io::Command& command, std::array<io::UniqueFd*, 3> ours, pid_t& pid);

}  // namespace weft::inline v0_1::detail
