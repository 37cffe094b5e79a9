// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "os/osfiber.h"

namespace weft::inline v0_1::detail {

// Calls `function(argument)` on a stack of 256 KiB, for what the library does by itself where the caller's
// stack may be small. Takes no lock, and calls no malloc. Where there is no memory for a stack, calls in
// place. `current`: the calling fiber; null on a thread to which no scheduler is bound.
void callAside(const OSFiber* current, void (*function)(void*), void* argument);

}  // namespace weft::inline v0_1::detail
