// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "inspect/lock_cycles.h"
#include "inspect/names.h"
#include "inspect/snapshot.h"
#include "inspect/text.h"

namespace weft::inline v0_1::detail::inspect {

struct ReportOptions {
  size_t mostGroups = 20;
  size_t mostReadyGroups = 4;
  size_t mostFrames = 16;  // of a stack
  size_t mostCycles = 4;
  size_t mostFibersOfCycle = 16;
  // A worker that has looked after its other fibers so long ago is said to be busy.
  std::chrono::nanoseconds leastBusy = std::chrono::milliseconds(10);
};

// Writes what the schedulers of a process do, as text for people: the deadlocks among locks; what each worker
// does; which fibers wait, since when, for what, who holds that and in which code, by groups of fibers that
// wait alike; which fibers are ready to go on; and a line that tells the end. Takes memory for the groups
// from the resource of the snapshot. Where that has none left, it says so and writes the rest.
void writeReport(Text& out, const Snapshot& snapshot, Names& names, const ReportOptions& options = {});

// Writes the cycles of findCycles(), of many the first ones; nothing if there are none.
void writeCycles(Text& out, const Snapshot& snapshot, const LockCycles& cycles, Names& names,
                 const ReportOptions& options = {});

// Writes one of these cycles: who holds and waits for what, with the stack of each.
void writeCycle(Text& out, const Snapshot& snapshot, std::span<const uint32_t> cycle, Names& names,
                const ReportOptions& options = {});

}  // namespace weft::inline v0_1::detail::inspect
