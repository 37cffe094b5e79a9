// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What marl's own benchmarks measure: N tasks scheduled by the bound thread, with 0, 1 or 2 workers beside
// it. Every figure is per task (baton: per round trip).
//
//   empty              tasks that do nothing; the time of scheduling them
//   empty-finished     the same until all of them have run
//   wait-group         each task calls done() of a WaitGroup that it captures by value and that is waited for
//   event-chain        each task waits for the event before it and signals the one after it; the bound
//                      thread signals the first when all are scheduled, and waits for the last
//   baton              two SameThread tasks that wake each other in turn through two events
//   ticket             each task waits for a ticket that was taken when it was scheduled, and is done
//                      with it; the bound thread waits for one more
//
// marl is not packaged. Where there is a folder of it (WEFT_RIVAL_MARL) it is measured too. Elsewhere the
// bars are its figures of one machine, as ratios to oneTBB's spawn there (spawn/tbb.cpp, workload task, 1
// worker).

#pragma once

#include <cstdint>

#include "../common/harness.h"

namespace marls {

inline int64_t manyTasks(const bench::Run& run) { return run.size<int64_t>(100000, 500); }
inline int64_t chainLength(const bench::Run& run) { return run.size<int64_t>(1000, 50); }

}  // namespace marls
