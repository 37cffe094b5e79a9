// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/finally.h"

#define WEFT_CONCAT_(a, b) a##b
#define WEFT_CONCAT(a, b) WEFT_CONCAT_(a, b)

// Runs a statement when the enclosing scope ends, however it ends; several run in reverse order. It sees the
// scope's variables by reference, as they are then, and must not throw.
//
//   weft::WaitGroup wg(1);
//   weft::schedule([wg] {
//     defer(wg.done());
//     work();
//   });
#define defer(...) auto WEFT_CONCAT(weft_defer_, __LINE__) = ::weft::make_finally([&] { __VA_ARGS__; })
