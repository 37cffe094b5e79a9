// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// Each public header includes this file first, so that this message comes before the errors that an older
// language gives for the rest.
#if __cplusplus < 202002L
#error "weft needs C++20. Compile with -std=c++20, or in CMake with target_compile_features(... cxx_std_20)."
#endif
