// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"

#include <weft/parallelize.h>

#include "scheduler.h"
#include "waitgroup.h"

namespace marl {

using weft::parallelize;

}  // namespace marl
