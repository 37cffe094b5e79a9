// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// Each public header includes this file first. The #include of a message ends the compilation: compilers go
// on after an #error, and would print hundreds of errors that say less.
#if __cplusplus < 202002L
#error "weft needs C++20. Compile with -std=c++20, or in CMake with target_compile_features(... cxx_std_20)."
#include "weft: the error above says what is missing"
#endif

#if !defined(__linux__) || !defined(__ELF__)
#error "weft does not know this system: it needs Linux. How to port: docs/porting.md"
#include "weft: the error above says what is missing"
#endif

// The processors that have a file in src/osfiber_asm, one a line. A port adds its own. CMake reads them here.
#if defined(WEFT_UCONTEXT) && __SIZEOF_POINTER__ >= 4
#elif defined(__x86_64__) && !defined(__ILP32__)
#elif defined(__aarch64__) && !defined(__ILP32__) && defined(__AARCH64EL__)
#elif defined(__arm__) && defined(__ARMEL__) && defined(__ARM_PCS_VFP)
#elif defined(__riscv_float_abi_double) && __riscv_xlen == 64
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__) && _CALL_ELF == 2
#elif defined(__s390x__)
#else
#error "weft does not know this processor: it lacks a switch of fibers. How to port: docs/porting.md"
#include "weft: the error above says what is missing"
#endif

#if defined(__has_feature)
#if __has_feature(safe_stack)
#error "weft: -fsanitize=safe-stack does not work with fibers. Compile without it."
#include "weft: the error above says what is missing"
#endif
#endif

// libc++ 14 to 17 have no std::stop_token. libc++ 18 and 19 have it where the flag asks for it.
#include <version>
#ifndef __cpp_lib_jthread
#error "weft needs std::stop_token: libstdc++ 11, libc++ 20, or libc++ 18 with -fexperimental-library."
#include "weft: the error above says what is missing"
#endif
