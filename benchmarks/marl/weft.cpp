// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/weft.h>

namespace api = weft;

#include "programs.h"

int main(int argc, char** argv) { return runAll(argc, argv, "weft"); }
