// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"

#include <chrono>

#include <weft/event.h>

#include "conditionvariable.h"
#include "containers.h"
#include "memory.h"

namespace marl {

using weft::Event;

}  // namespace marl
