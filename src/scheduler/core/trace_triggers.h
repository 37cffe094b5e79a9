// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <climits>

namespace weft::inline v0_1::detail {

// What has the recorder's events written to a file, apart from trace::dump().

// trace::dumpOnSignal(): where to. And that the signal has come, for the thread that dumps.
void setFileOfSignal(const char* path);
void dumpTraceAtSignal() noexcept;

// What WEFT_TRACE_SIGNAL asks for. `path`: that of WEFT_TRACE; null if there is none.
void obeyTraceSignal(const char* path);

// For the thread that dumps: lateWatch has requested it.
void dumpTraceOfLateness() noexcept;

// If events are recorded, and Config::path says where they are to be written, writes them, and the path of
// the file to `path`. Returns: whether there is a file. A failure is warned of.
bool dumpTraceOfFinding(char (&path)[PATH_MAX]) noexcept;

// As dumpTraceOfFinding(), once, for a process that ends: after a fatal message, or an overflow of a stack.
// Tells where the file is. Returns, or ends the process by abort(): if it faults, or if the file takes longer
// than half a minute.
void dumpTraceBeforeEnd() noexcept;

}  // namespace weft::inline v0_1::detail
