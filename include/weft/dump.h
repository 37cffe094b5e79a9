// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <string>

#include "weft/export.h"

// For a program that hangs or is slow: what the schedulers of the process do, as text.
//
// A dump names each worker and what it runs, and the fibers that wait: in what task, for what and since when,
// who holds the lock that they wait for, and the calls that led to the wait. Equal fibers are one group, so a
// hundred thousand of them take a few lines. Tasks that wait for locks of each other come first.
//
//   if (!done.wait_for(std::chrono::seconds(30))) {
//     weft::dump();
//   }
// Functions have names if the program's file has symbols. `weft symbolize` adds the lines of the source.
//
// A dump reads the memory of the schedulers from outside: no worker is stopped, asked, or waited for. So it
// works while workers are busy or stuck. What changes meanwhile is left out, and the dump says so. It takes
// no lock and calls no malloc.
//
// If a scheduler existed at the time of a fork(), its threads do not exist in the child. There a dump is one
// line that says so.
namespace weft::inline v0_1 {

// Prints a dump to stderr. Any thread, task or signal handler. Neither suspends nor blocks. 100,000 fibers
// that wait take some 0.3 s.
WEFT_EXPORT void dump() noexcept;

// Returns: a dump. Any thread or task.
WEFT_EXPORT std::string dumpText();

// Prints a dump to stderr each time the process gets `signal`, by a thread of its own. Replaces the signal's
// handler. In a child of fork(), the handler itself prints. The environment variable WEFT_DUMP_SIGNAL=USR1,
// with any signal's name or number, has the first scheduler of the process do this, unless the signal has a
// handler.
// Returns: false if the system refuses the handler or the thread.
WEFT_EXPORT bool dumpOnSignal(int signal);

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
