// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include "weft/finally.h"

// Runs a statement when the enclosing scope ends: marl's name for WEFT_DEFER. weft.h does not include this
// header, since the macro breaks functions of that name, such as asio::defer().
//
//   weft::WaitGroup wg(1);
//   weft::schedule([wg] {
//     defer(wg.done());
//     work();
//   });
#define defer(...) WEFT_DEFER(__VA_ARGS__)

#include "weft/detail/base/macros_end.h"
