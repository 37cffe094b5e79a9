// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

#include "program.h"

namespace weft::fuzz {

struct SharedSchedulers;

// How many programs may run at the same time.
inline constexpr size_t kMaxRunning = 64;

// From now on, when the process aborts, the programs that run are printed, each with the operation at which
// each of its scripts is. A program that hangs ends the process.
void beginWatching();

// Runs the program on the shared schedulers, or on schedulers of its own if `shared` is null. Compares what
// it leaves with the sequential model.
void run(const Program& program, const SharedSchedulers* shared = nullptr);

}  // namespace weft::fuzz
