// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "inspect/snapshot.h"

namespace weft::inline v0_1::detail {

// Returns: whether it is certain that no thread of the process but the calling one can run again by itself:
// each sleeps in a futex, as in a lock or a condition variable, without a time limit. The workers of
// `snapshot` that sleep may have a time limit, since they only tidy up at its end. False where the system
// does not tell. Calls no malloc.
bool isNobodyLeft(const inspect::Snapshot& snapshot);

// Returns: whether "/proc/PID/task/THREAD/syscall", of which `text` is the beginning, tells of such a sleep.
// `mayHaveLimit`: with a time limit too.
bool tellsOfSleep(const char* text, bool mayHaveLimit);

}  // namespace weft::inline v0_1::detail
