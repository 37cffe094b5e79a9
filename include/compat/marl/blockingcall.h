// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"

#include <thread>
#include <type_traits>
#include <utility>

#include <weft/blockingcall.h>

#include "defer.h"
#include "scheduler.h"
#include "waitgroup.h"

namespace marl {

using weft::blocking_call;

}  // namespace marl
