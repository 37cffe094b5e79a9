// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Restores the macros that macros_begin.h has hidden.
#pragma pop_macro("Destroy")
#pragma pop_macro("I")
#pragma pop_macro("None")
#pragma pop_macro("check")
#pragma pop_macro("clear")
#pragma pop_macro("emit")
#pragma pop_macro("erase")
#pragma pop_macro("max")
#pragma pop_macro("min")
#pragma pop_macro("move")
#pragma pop_macro("slots")
#pragma pop_macro("timeout")
#pragma pop_macro("yield")
