// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "work.h"

#define SHOWN extern "C" __attribute__((visibility("default")))

SHOWN int run() { return useWeft(); }

SHOWN void overflow() { overflowInATask(); }

// Returns: whether the library's weft finds a scheduler, which it has not bound.
SHOWN bool isBound() { return weft::Scheduler::get() != nullptr; }
