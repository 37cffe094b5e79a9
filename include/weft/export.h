// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

// WEFT_EXPORT marks what a shared weft shows to its users. Everything else is hidden. Two definitions decide
// what it becomes. The build sets both: WEFT_SHARED (public: this weft is a shared library) and WEFT_BUILDING
// (private: weft itself is being compiled).

#if !defined(WEFT_SHARED)
#define WEFT_EXPORT
#define WEFT_NO_EXPORT
#elif defined(_WIN32)
#if defined(WEFT_BUILDING)
#define WEFT_EXPORT __declspec(dllexport)
#else
#define WEFT_EXPORT __declspec(dllimport)
#endif
#define WEFT_NO_EXPORT
#else
#define WEFT_EXPORT __attribute__((visibility("default")))
#define WEFT_NO_EXPORT __attribute__((visibility("hidden")))
#endif

#include "weft/detail/base/macros_end.h"
