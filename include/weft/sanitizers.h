// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

// WEFT_<NAME>_SANITIZER_ENABLED is 1 if the including file is compiled with that sanitizer, else 0.
// WEFT_<NAME>_SANITIZER_ONLY(x) is x then, else nothing. No layout in a header depends on them.

#if defined(__has_feature)
#define WEFT_HAS_FEATURE(x) __has_feature(x)
#else
#define WEFT_HAS_FEATURE(x) 0
#endif

#if WEFT_HAS_FEATURE(address_sanitizer) || defined(__SANITIZE_ADDRESS__)
#define WEFT_ADDRESS_SANITIZER_ENABLED 1
#define WEFT_ADDRESS_SANITIZER_ONLY(x) x
#else
#define WEFT_ADDRESS_SANITIZER_ENABLED 0
#define WEFT_ADDRESS_SANITIZER_ONLY(x)
#endif

#if WEFT_HAS_FEATURE(memory_sanitizer)
#define WEFT_MEMORY_SANITIZER_ENABLED 1
#define WEFT_MEMORY_SANITIZER_ONLY(x) x
#else
#define WEFT_MEMORY_SANITIZER_ENABLED 0
#define WEFT_MEMORY_SANITIZER_ONLY(x)
#endif

#if WEFT_HAS_FEATURE(thread_sanitizer) || defined(__SANITIZE_THREAD__)
#define WEFT_THREAD_SANITIZER_ENABLED 1
#define WEFT_THREAD_SANITIZER_ONLY(x) x
#else
#define WEFT_THREAD_SANITIZER_ENABLED 0
#define WEFT_THREAD_SANITIZER_ONLY(x)
#endif

// 0 with gcc, which does not tell a program about this sanitizer.
#if WEFT_HAS_FEATURE(undefined_behavior_sanitizer)
#define WEFT_UNDEFINED_SANITIZER_ENABLED 1
#define WEFT_UNDEFINED_SANITIZER_ONLY(x) x
#else
#define WEFT_UNDEFINED_SANITIZER_ENABLED 0
#define WEFT_UNDEFINED_SANITIZER_ONLY(x)
#endif

#include "weft/detail/base/macros_end.h"
