// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/scheduler.h"
#include "weft/thread.h"

namespace weft::inline v0_1::detail {

// Returns: a configuration of one worker per processor of `cores`, as Config::allCores() counts them. The
// workers stay on these processors, unless they are all that the calling thread may use.
Scheduler::Config configOn(Thread::Affinity&& cores);

}  // namespace weft::inline v0_1::detail
