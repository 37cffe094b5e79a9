// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "inspect/memory.h"
#include "inspect/offsets.h"
#include "inspect/recording.h"

namespace weft::inline v0_1::detail::inspect {

// Adds to `recording` what the threads of one copy of weft have recorded, and when. Stops nobody: what is
// written over meanwhile counts as overwritten. Sets the first reading of the clocks, and leaves the last one
// to the caller.
// Returns: whether it has ever recorded anything.
bool readRecording(const Memory& memory, const Offsets& offsets, Recording& recording);

}  // namespace weft::inline v0_1::detail::inspect
