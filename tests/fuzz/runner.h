// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

#include "program.h"

namespace weft::fuzz {

// How many programs may run at the same time.
inline constexpr size_t kMaxRunning = 64;

// From now on, whatever ends the process, the programs that run are printed, each with the operation at which
// each of its scripts is. A program that hangs ends the process.
void beginWatching();

// Runs the program, and compares what it leaves with the sequential model.
void run(const Program& program);

}  // namespace weft::fuzz
