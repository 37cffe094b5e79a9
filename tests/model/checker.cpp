// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "checker.h"

namespace weft::model {
namespace {

template <rl::thread_id_t kThreads>
bool tryAsAskedFor(rl::test_params& params, const char*& extent) {
  switch (search) {
    case rl::sched_bound:
      return tryThrough<kThreads, rl::context_bound_scheduler<kThreads>>(
          params, extent, "all with two preemptions", "some with two preemptions");
    case rl::sched_full:
      return tryThrough<kThreads, rl::full_search_scheduler<kThreads>>(params, extent, "all", "some");
    default:
      return tryRandom<kThreads>(params, extent);
  }
}

}  // namespace

bool check(rl::thread_id_t numThreads, rl::test_params& params, const char*& extent) {
  switch (numThreads) {
    case 2:
      return tryAsAskedFor<2>(params, extent);
    case 3:
      return tryAsAskedFor<3>(params, extent);
    case 4:
      return tryAsAskedFor<4>(params, extent);
    default:
      std::fprintf(stderr, "suites of %d threads are not compiled: see checker.cpp\n",
                   static_cast<int>(numThreads));
      std::exit(2);
  }
}

}  // namespace weft::model
