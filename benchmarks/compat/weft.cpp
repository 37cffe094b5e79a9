// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/weft.h>
#if __has_include(<weft/ticket.h>)
#include <weft/ticket.h>
#endif

namespace api = weft;

#include "problem.h"

int main(int argc, char** argv) {
  return runAll(argc, argv, "weft");
}
