// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/core/performance_cores.h"

#include <utility>

namespace weft::inline v0_1 {

Scheduler::Config detail::configOn(Thread::Affinity&& cores) {
  Scheduler::Config config;
  config.setWorkerThreadCount(static_cast<int>(numUsableCpus(cores.count())));
  if (cores != Thread::Affinity::all()) {
    config.setWorkerThreadAffinityPolicy(Thread::Affinity::Policy::anyOf(std::move(cores)));
  }
  return config;
}

Scheduler::Config Scheduler::Config::performanceCores() {
  return detail::configOn(Thread::Affinity::performanceCores());
}

}  // namespace weft::inline v0_1
