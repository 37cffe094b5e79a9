// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "os/registers_aarch64.h"
#include "os/registers_arm.h"
#include "os/registers_powerpc64le.h"
#include "os/registers_riscv64.h"
#include "os/registers_s390x.h"
#include "os/registers_x86_64.h"

// The last, as it is for a processor that the others do not know.
#include "os/registers_generic.h"

// What backtraces and the program `weft` know of the processor's registers. Their numbers are those of DWARF.
// Each header is empty on other processors than its own, and defines WEFT_HAS_REGISTERS on its own.
#if !defined(WEFT_HAS_REGISTERS)
#error "weft does not know this processor's registers. How to port: docs/porting.md"
#endif
