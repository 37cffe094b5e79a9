// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "inspect/memory.h"
#include "inspect/offsets.h"
#include "inspect/snapshot.h"
#include "inspect/unwinder.h"
#include "os/clock_reading.h"

namespace weft::inline v0_1::detail::inspect {

// The time on the machine of the observed process. Without a time, as for a core file, the newest time that
// the process has noted serves.
struct Now {
  ClockReading clock;   // zero: no time
  int64_t seconds = 0;  // since 1970, in UTC

  static Now read();
};

// Adds to `snapshot` what the schedulers of one copy of weft do. Stops nobody: what it reads may change
// meanwhile. It checks what it reads, and leaves out what has changed.
// `unwinder`: null where no backtraces are wanted. `only`: the one weft::Scheduler that is wanted, or 0.
void readSnapshot(const Memory& memory, const Offsets& offsets, Unwinder* unwinder, const Now& now,
                  Snapshot& snapshot, Address only = 0, Letters letters = Letters::Counted);

}  // namespace weft::inline v0_1::detail::inspect
