// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#if __cplusplus < 202002L
#error "weft's marl headers need C++20. Compile with -std=c++20, or set CMAKE_CXX_STANDARD to 20."
#endif

// MARL_DLL: marl is a shared library. MARL_BUILDING_DLL: it is being compiled.
#if !defined(MARL_DLL)
#define MARL_EXPORT
#define MARL_NO_EXPORT
#elif defined(_WIN32)
#if defined(MARL_BUILDING_DLL)
#define MARL_EXPORT __declspec(dllexport)
#else
#define MARL_EXPORT __declspec(dllimport)
#endif
#define MARL_NO_EXPORT
#else
#define MARL_EXPORT __attribute__((visibility("default")))
#define MARL_NO_EXPORT __attribute__((visibility("hidden")))
#endif
