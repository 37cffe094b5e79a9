// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/event.h"
#include "weft/task.h"

namespace debugged {

// Returns: a task that waits in a function that gcc compiles into two parts. lldb 19 takes the unwind plan of
// the wrong one.
weft::Task splitTask(const weft::Event& event);

}  // namespace debugged
