// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/task_node.h"

namespace weft::inline v0_1::detail {

inline bool hasTaskName(const TaskNode& node) { return node.flags >> kTaskNameShift != 0; }
// Returns: what setTaskName() has said; null if the task has no name.
const char* taskNameOf(const TaskNode& node) noexcept;

}  // namespace weft::inline v0_1::detail
