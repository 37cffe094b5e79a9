// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"

#include <weft/containers.h>

#include "debug.h"
#include "memory.h"

namespace marl::containers {

using weft::containers::deque;
using weft::containers::list;
using weft::containers::map;
using weft::containers::set;
using weft::containers::take;
using weft::containers::unordered_map;
using weft::containers::unordered_set;
using weft::containers::vector;

}  // namespace marl::containers
