// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// Each public header includes this file first, so that these messages come before the errors that an older
// language or another processor gives for the rest.
#if __cplusplus < 202002L
#error "weft needs C++20. Compile with -std=c++20, or in CMake with target_compile_features(... cxx_std_20)."
#endif

#if !defined(__x86_64__) || defined(__ILP32__)
#error "weft runs on x86-64 only, in 64-bit programs. For ports: src/osfiber_asm/README.md"
#endif

#if defined(__has_feature)
#if __has_feature(safe_stack)
#error "weft: -fsanitize=safe-stack does not work with fibers. Compile without it."
#endif
#endif
