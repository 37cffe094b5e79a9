// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <errno.h>
#include <spawn.h>
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

// Has a process that posix_spawn() starts change to the folder `path`, which must live until then.
// Returns: 0, or an error number.
inline int addChangeFolder([[maybe_unused]] posix_spawn_file_actions_t& actions,
                           [[maybe_unused]] const char* path) noexcept {
#if !defined(__GLIBC__)
  return ::posix_spawn_file_actions_addchdir_np(&actions, path);
#elif __GLIBC_PREREQ(2, 29)
  return ::posix_spawn_file_actions_addchdir_np(&actions, path);
#else
  return ENOSYS;
#endif
}

// Has a process that posix_spawn() starts close all descriptors from `first` on. Does nothing where the
// library cannot: then only those that are close-on-exec are closed.
// Returns: 0, or an error number.
inline int addCloseFrom([[maybe_unused]] posix_spawn_file_actions_t& actions,
                        [[maybe_unused]] int first) noexcept {
#if !defined(__GLIBC__)
  return 0;
#elif __GLIBC_PREREQ(2, 34)
  return ::posix_spawn_file_actions_addclosefrom_np(&actions, first);
#else
  return 0;
#endif
}

}  // namespace weft::inline v0_1::detail
