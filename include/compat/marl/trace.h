// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"

// MARL_TRACE_ENABLED=1 from outside switches the events on, as WEFT_TRACE_ENABLED=1 does.
#if defined(MARL_TRACE_ENABLED) && !defined(WEFT_TRACE_ENABLED)
#define WEFT_TRACE_ENABLED MARL_TRACE_ENABLED
#endif

#include <weft/trace.h>

#include "defer.h"

#if !defined(MARL_TRACE_ENABLED)
#define MARL_TRACE_ENABLED WEFT_TRACE_ENABLED
#endif

namespace marl {

using weft::Trace;

}  // namespace marl

#define MARL_SCOPED_EVENT(...) WEFT_SCOPED_EVENT(__VA_ARGS__)
#define MARL_BEGIN_ASYNC_EVENT(id, ...) WEFT_BEGIN_ASYNC_EVENT(id, __VA_ARGS__)
#define MARL_END_ASYNC_EVENT(id, ...) WEFT_END_ASYNC_EVENT(id, __VA_ARGS__)
#define MARL_SCOPED_ASYNC_EVENT(...) WEFT_SCOPED_ASYNC_EVENT(__VA_ARGS__)
#define MARL_NAME_THREAD(...) WEFT_NAME_THREAD(__VA_ARGS__)
