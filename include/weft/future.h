// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

// Futures give the results of tasks once they are there. This header includes those of weft/future. See
// docs/futures.md.
//
// - after.h: after(duration[, token]) gives a future that is ready after that time
// - async.h: async([executor, ][token, ]f) schedules a task, and returns the future of its result
// - future.h: Future, whose result is read once
// - on_ready.h: onReady(future, f), a case of select(). It includes select.h, and this header leaves it out
// - promise.h: Promise sets the result of a future; makeReadyFuture() and makeExceptionalFuture()
// - shared_future.h: SharedFuture, whose result may be read again and again
// - stop_after.h: StopAfter(duration[, token]) requests a stop after that time
// - when.h: whenAll(), whenAny() and firstSuccess() make one future of several
#include "weft/executor.h"
#include "weft/future/after.h"
#include "weft/future/async.h"
#include "weft/future/future.h"
#include "weft/future/promise.h"
#include "weft/future/shared_future.h"
#include "weft/future/stop_after.h"
#include "weft/future/when.h"

#include "weft/detail/base/macros_end.h"
