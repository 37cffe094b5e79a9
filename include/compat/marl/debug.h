// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"

#include <weft/debug.h>

// As in marl, these macros do and compile nothing in release builds. weft's own checks are always on.

#if !defined(MARL_DEBUG_ENABLED)
#if !defined(NDEBUG) || defined(DCHECK_ALWAYS_ON)
#define MARL_DEBUG_ENABLED 1
#else
#define MARL_DEBUG_ENABLED 0
#endif
#endif

namespace marl {

using weft::assert_has_bound_scheduler;
using weft::fatal;
using weft::warn;

}  // namespace marl

#if MARL_DEBUG_ENABLED
#define MARL_FATAL(...) WEFT_FATAL(__VA_ARGS__)
#define MARL_ASSERT(cond, ...) WEFT_ASSERT(cond, __VA_ARGS__)
#define MARL_ASSERT_HAS_BOUND_SCHEDULER(feature) WEFT_ASSERT_HAS_BOUND_SCHEDULER(feature)
#define MARL_UNREACHABLE() WEFT_UNREACHABLE()
#define MARL_WARN(...) WEFT_WARN(__VA_ARGS__)
#else
#define MARL_FATAL(...)
#define MARL_ASSERT(cond, ...)
#define MARL_ASSERT_HAS_BOUND_SCHEDULER(feature)
#define MARL_UNREACHABLE()
#define MARL_WARN(...)
#endif
