// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"

#include <atomic>
#include <mutex>

#include <weft/waitgroup.h>

#include "conditionvariable.h"
#include "debug.h"

namespace marl {

using weft::WaitGroup;

}  // namespace marl
