// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What does a place in a row of tickets cost? A lane of as many tasks as `spawn` has, by workload:
//
//   lane          tasks that are spawned by one task; each takes a ticket when it is spawned, waits for it
//                 and is done with it; the spawning task waits for one more ticket
//   continuation  no task waits: each ticket has a function that runs when it is called, and is done with it
//
// The figure is compared with oneTBB's spawn of an empty task (spawn/tbb.cpp, workload task).

#pragma once

#include <cstdint>

#include "../common/harness.h"

namespace ticket {

inline int64_t length(const bench::Run& run) { return run.size<int64_t>(1000000, 2000); }

}  // namespace ticket
