// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace weft::inline v0_1::detail {

// A dump takes some time and memory. So those who cannot spend them, signal handlers and workers, only wake a
// thread that is there for dumps alone.
enum class DumpJob : uint8_t {
  Text,             // weft::dump()
  TraceAtSignal,    // the recorder's events, to the file of trace::dumpOnSignal()
  TraceOfLateness,  // the recorder's events, since something took longer than trace::Config allows
};
inline constexpr int kNumDumpJobs = 3;

// Returns: whether there is such a thread, made at the first call.
bool startDumpThread() noexcept;

// Any thread or signal handler. Each request is one dump.
// Returns: false if there is no such thread in this process, as in a child of fork().
bool requestDump(DumpJob job) noexcept;

}  // namespace weft::inline v0_1::detail
