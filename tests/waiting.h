// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// What the tests of the waiting primitives share.
#include "clocks.h"
#include "crew.h"
#include "gates.h"
#include "num_waiting.h"
#include "with_scheduler.h"
