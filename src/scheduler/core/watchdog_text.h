// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "inspect/names.h"
#include "inspect/snapshot.h"
#include "inspect/text.h"
#include "scheduler/core/watchdog_rules.h"

namespace weft::inline v0_1::detail {

// Returns: whether writeFinding() needs a snapshot with backtraces.
bool needsBacktraces(const Finding& finding);

// Returns: whether `snapshot` has the cycle of a deadlock, and the backtrace of each fiber of it; true for
// other findings.
bool hasBacktraces(const inspect::Snapshot& snapshot, const Finding& finding);

// Writes a finding as text for people: one line, and what that condition needs further.
// `snapshot`: the one in which it was found; if it needs backtraces, a later one that has them.
// Takes memory from the snapshot's resource.
void writeFinding(inspect::Text& out, const Finding& finding, const inspect::Snapshot& snapshot,
                  inspect::Names& names);

}  // namespace weft::inline v0_1::detail
