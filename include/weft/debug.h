// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <cstddef>

#include "weft/export.h"

// Assertions and messages, in release builds too; only WEFT_DCHECK depends on the kind of build. An assertion
// that holds costs one predicted branch. A message says what went wrong, where, and how to mend it:
//
//   WEFT_ASSERT(n > 0, "WaitGroup::done() was called more often than add() asked for (count is %d).", n);

// 1 in debug builds: without NDEBUG, or with WEFT_DCHECK_ALWAYS_ON.
#if !defined(NDEBUG) || defined(WEFT_DCHECK_ALWAYS_ON)
#define WEFT_DEBUG_ENABLED 1
#else
#define WEFT_DEBUG_ENABLED 0
#endif

namespace weft::inline v0_1 {

// Prints `weft: fatal: <message>` to stderr and aborts. The arguments are those of printf.
[[noreturn, gnu::cold, gnu::format(printf, 1, 2)]] WEFT_EXPORT void fatal(const char* format, ...);

// Prints `weft: warning: <message>` to stderr.
[[gnu::cold, gnu::format(printf, 1, 2)]] WEFT_EXPORT void warn(const char* format, ...);

// Ends the program with a message that names `feature`, unless a scheduler is bound to the calling thread.
WEFT_EXPORT void assert_has_bound_scheduler(const char* feature);

namespace detail {

// As fatal(), with a line that names the place. If the place is in the library or its headers, a line before
// it names the innermost calls as offsets for addr2line, and the last by its name if it has one (-rdynamic):
// one of them is usually the user's. Needs about 4 KiB of stack. Cuts messages at 2 KiB. Writes once.
[[noreturn, gnu::cold, gnu::noinline, gnu::format(printf, 3, 4)]] WEFT_EXPORT void fatalAt(const char* file,
                                                                                           int line,
                                                                                           const char* format,
                                                                                           ...);

// Writes `size` bytes to stderr, past stdio's buffers. Async-signal-safe, keeps errno, ignores errors.
WEFT_EXPORT void writeStderr(const char* text, size_t size) noexcept;

}  // namespace detail
}  // namespace weft::inline v0_1

// Ends the program with a message: WEFT_FATAL(format, ...).
#define WEFT_FATAL(...) ::weft::detail::fatalAt(__FILE__, __LINE__, __VA_ARGS__)

// Ends the program with a message unless `condition` holds: WEFT_ASSERT(condition, format, ...). Evaluates
// the condition in every build, the other arguments only if it fails.
#define WEFT_ASSERT(condition, ...)                             \
  do {                                                          \
    if (__builtin_expect(!(condition), 0) != 0) {               \
      ::weft::detail::fatalAt(__FILE__, __LINE__, __VA_ARGS__); \
    }                                                           \
  } while (false)

// WEFT_ASSERT in debug builds. In other builds its arguments are compiled but never evaluated.
#if WEFT_DEBUG_ENABLED
#define WEFT_DCHECK(condition, ...) WEFT_ASSERT(condition, __VA_ARGS__)
#else
#define WEFT_DCHECK(condition, ...) WEFT_ASSERT(true || (condition), __VA_ARGS__)
#endif

// Ends the program where control must never come.
#define WEFT_UNREACHABLE() WEFT_FATAL("control reached a place that it cannot reach. This is a bug.")

// Prints a warning: WEFT_WARN(format, ...).
#define WEFT_WARN(...) ::weft::warn(__VA_ARGS__)

// Ends the program with a message that names `feature`, unless a scheduler is bound to the calling thread.
#define WEFT_ASSERT_HAS_BOUND_SCHEDULER(feature) ::weft::assert_has_bound_scheduler(feature)

#include "weft/detail/base/macros_end.h"
