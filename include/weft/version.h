// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include "weft/export.h"

// The version of the headers: 0.1.0 has the numbers 0, 1 and 0. The build reads it here.
#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0

// The version as one number, 10000 * major + 100 * minor + patch, which is larger for a later version. Code
// that compiles with several versions asks for 0.2.0 or later by `#if WEFT_VERSION >= 200`.
#define WEFT_VERSION (WEFT_VERSION_MAJOR * 10000 + WEFT_VERSION_MINOR * 100 + WEFT_VERSION_PATCH)

// The version as a text: "0.1.0".
#define WEFT_VERSION_STRING WEFT_VERSION_TEXT_(WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR, WEFT_VERSION_PATCH)

// A macro as an argument is replaced before the second of these makes a text of it.
#define WEFT_VERSION_TEXT_(major, minor, patch) WEFT_VERSION_TEXT_OF_(major, minor, patch)
#define WEFT_VERSION_TEXT_OF_(major, minor, patch) #major "." #minor "." #patch

namespace weft::inline v0_1 {

// Suspends and blocks nobody. May be called anywhere, also in a signal handler.
// Returns: WEFT_VERSION of the library that the program runs with. With a shared library that may be another
// patch than the one that the program was compiled with. (Another minor version does not link.)
WEFT_EXPORT int version() noexcept;

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
