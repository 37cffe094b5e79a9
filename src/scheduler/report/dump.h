// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>

#include "inspect/text.h"
#include "weft/scheduler.h"

namespace weft::inline v0_1::detail {

// Writes a dump of all schedulers, or of `only`: see weft/dump.h. Any thread. Defined in scheduler/core,
// which knows all that a dump tells of.
void writeDump(inspect::Text::Write write, void* context, const Scheduler* only = nullptr) noexcept;

// For inspect::Text: writes to stderr, at once. Async-signal-safe.
void toStderr(void* context, const char* text, size_t size);

// Prints it to stderr.
void dumpToStderr(const Scheduler* only = nullptr) noexcept;

// Returns: how many tasks of `only` run; nothing if the process cannot read that. Defined as writeDump() is.
std::optional<size_t> numRunningTasks(const Scheduler* only) noexcept;

// Does what the environment variable WEFT_DUMP_SIGNAL asks for, at the first call.
void obeyDumpSignal() noexcept;

// As obeyDumpSignal(), for WEFT_TRACE.
void obeyTraceVariable() noexcept;

}  // namespace weft::inline v0_1::detail
