// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// Everything that weft offers.
#include "weft/blockingcall.h"
#include "weft/cancellation.h"
#include "weft/conditionvariable.h"
#include "weft/containers.h"
#include "weft/dag.h"
#include "weft/debug.h"
#include "weft/defer.h"
#include "weft/event.h"
#include "weft/fair/bridge.h"
#include "weft/fair/coro.h"
#include "weft/fair/task.h"
#include "weft/fair/task_scheduler.h"
#include "weft/fiber.h"
#include "weft/finally.h"
#include "weft/memory.h"
#include "weft/mutex.h"
#include "weft/parallelize.h"
#include "weft/pool.h"
#include "weft/scheduler.h"
#include "weft/semaphore.h"
#include "weft/signal.h"
#include "weft/sleep.h"
#include "weft/task.h"
#include "weft/thread.h"
#include "weft/ticket.h"
#include "weft/trace.h"
#include "weft/waitgroup.h"
