// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Compiled against marl where there is one (WEFT_RIVAL_MARL), and against weft's headers of these names
// everywhere, so that it does not fall behind.

#include <marl/event.h>
#include <marl/scheduler.h>
#include <marl/ticket.h>
#include <marl/waitgroup.h>

namespace api = marl;

#include "programs.h"

int main(int argc, char** argv) { return runAll(argc, argv, "marl"); }
