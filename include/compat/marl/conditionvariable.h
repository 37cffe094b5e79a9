// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"

#include <atomic>
#include <condition_variable>

#include <weft/conditionvariable.h>

#include "containers.h"
#include "debug.h"
#include "defer.h"
#include "memory.h"
#include "mutex.h"
#include "scheduler.h"
#include "tsa.h"

namespace marl {

using weft::ConditionVariable;

}  // namespace marl
