// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/prctl.h>

#include <csignal>

// What tests share whose children may hang.
namespace weft::tests {

// Called in a child process: ends it when the test's process ends, as when CTest finds that it takes too
// long. An alarm() of the child's own would also end one that is kept off its processor.
inline void endWithTheTest() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

}  // namespace weft::tests
