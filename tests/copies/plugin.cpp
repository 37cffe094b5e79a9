// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "work.h"

#pragma GCC visibility push(default)
extern "C" {

int run() { return useWeft(); }

void end() { endWhatIsOneForAll(); }

void overflow() { overflowInATask(); }

// Returns: whether the library's weft finds a scheduler, which it has not bound.
bool isBound() { return weft::Scheduler::get() != nullptr; }

}  // extern "C"
#pragma GCC visibility pop
