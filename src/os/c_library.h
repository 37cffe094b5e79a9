// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string.h>

// What glibc has and other C libraries of Linux, such as musl, lack.
namespace weft::inline v0_1::detail {

// Returns: the text for an error number, in a signal handler too; null where there is none.
inline const char* errorText([[maybe_unused]] int error) noexcept {
#if !defined(__GLIBC__)
  return ::strerror(error);  // musl's returns a constant
#elif __GLIBC_PREREQ(2, 32)
  return ::strerrordesc_np(error);
#else
  return nullptr;  // strerror() may take a lock and call malloc
#endif
}

// Returns: "ABRT" for SIGABRT and so on; null where the library has no name for it.
inline const char* signalAbbreviation([[maybe_unused]] int signal) noexcept {
#if !defined(__GLIBC__)
  return nullptr;
#elif __GLIBC_PREREQ(2, 32)
  return ::sigabbrev_np(signal);
#else
  return nullptr;
#endif
}

}  // namespace weft::inline v0_1::detail
