// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <marl/event.h>
#include <marl/scheduler.h>
#include <marl/ticket.h>
#include <marl/waitgroup.h>

namespace api = marl;

#include "problem.h"

int main(int argc, char** argv) { return runAll(argc, argv, "marl"); }
