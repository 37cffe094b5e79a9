// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// What the system tells of a process that is to be looked at.
namespace weft::inline v0_1::detail::tools {

// Throws Failure if there is no process of that number, as where it is a thread's.
void checkProcess(int processId);

}  // namespace weft::inline v0_1::detail::tools
