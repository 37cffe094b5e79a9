// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <marl/event.h>
#include <marl/scheduler.h>
#include <marl/waitgroup.h>
#if __has_include(<weft/ticket.h>)
#include <marl/ticket.h>
#endif

namespace api = marl;

#include "problem.h"

int main(int argc, char** argv) {
  return runAll(argc, argv, "marl");
}
