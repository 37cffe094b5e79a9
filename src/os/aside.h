// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "os/osfiber.h"

namespace weft::inline v0_1::detail {

// Calls `function(argument)` on a stack of 64 KiB, for what the library does by itself on a fiber, whose
// stack may be smaller. Where there is no memory for one, calls it in place. `current` is the calling fiber.
void callAside(const OSFiber& current, void (*function)(void*), void* argument);

}  // namespace weft::inline v0_1::detail
