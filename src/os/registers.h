// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "os/registers_aarch64.h"
#include "os/registers_arm.h"
#include "os/registers_generic.h"
#include "os/registers_powerpc64le.h"
#include "os/registers_riscv64.h"
#include "os/registers_s390x.h"
#include "os/registers_x86_64.h"

// What backtraces and the program `weft` know of the processor's registers. Their numbers are those of DWARF.
// Each header is empty on other processors than its own.
#if !defined(WEFT_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__) && !defined(__arm__) && \
    !defined(__powerpc64__) && !defined(__riscv) && !defined(__s390x__)
#error "weft does not know this processor's registers. How to port: docs/architecture.md"
#endif
