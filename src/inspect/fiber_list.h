// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "inspect/names.h"
#include "inspect/snapshot.h"
#include "inspect/text.h"

namespace weft::inline v0_1::detail::inspect {

// Writes the deadlocks among locks, and a table with one line for each fiber that is in use: its worker, its
// number there, what it does and since when, what it waits for, its task, and who holds the lock that it
// waits for. Idle fibers are counted. Takes memory for the deadlocks as writeReport() does.
void writeFibers(Text& out, const Snapshot& snapshot, Names& names);

// Writes what the fiber with this index does, and its whole backtrace, with the frames of weft.
void writeBacktrace(Text& out, const Snapshot& snapshot, uint32_t fiberIndex, Names& names);

}  // namespace weft::inline v0_1::detail::inspect
