// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"

#include <weft/dag.h>

#include "containers.h"
#include "memory.h"
#include "scheduler.h"
#include "waitgroup.h"

namespace marl {

using weft::DAG;
using weft::DAGBuilder;
using weft::DAGNodeBuilder;

}  // namespace marl
