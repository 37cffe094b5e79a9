// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"

#include <functional>

#include <weft/thread.h>

#include "containers.h"

namespace marl {

using weft::Thread;

}  // namespace marl
