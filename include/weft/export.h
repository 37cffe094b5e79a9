// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include "weft/sanitizers.h"

// WEFT_EXPORT marks what the library shows to its users; everything else is hidden. It is the same in a
// static weft. So where several shared libraries of a process contain a weft of one version, and see each
// other's names, all use the first one's, as if it were shared. Otherwise each has its own.
//
// WEFT_OWN gives each library its own copy of a header's variable that holds addresses. Otherwise g++ makes
// such a variable of a template or an inline function unique in the process (STB_GNU_UNIQUE).
#define WEFT_EXPORT __attribute__((visibility("default")))
#define WEFT_OWN __attribute__((visibility("hidden")))

// WEFT_TLS ends the declaration of a thread-local variable: an access needs no call.
#define WEFT_TLS [[gnu::tls_model("initial-exec")]]

// WEFT_DEPRECATED("use X") stands where a standard attribute does, and marks a public name that a later minor
// version will not have. A use of the name compiles, and the compiler warns and says what to use instead. A
// program that defines WEFT_NO_DEPRECATED gets no such warnings.
#if defined(WEFT_NO_DEPRECATED)
#define WEFT_DEPRECATED(instead)
#else
#define WEFT_DEPRECATED(instead) [[deprecated("weft: " instead)]]
#endif

// A program whose headers do not fit its library does not link: with other containers, or fibers unknown to a
// sanitizer, it would fail at run time. The name that the linker misses says what to mend. (With another
// version it misses any function of weft's, as each version has its namespace.)
#if defined(_GLIBCXX_DEBUG)
#define WEFT_LIBRARY_CONTAINERS libraryIsCompiledWith_GLIBCXX_DEBUG
#else
#define WEFT_LIBRARY_CONTAINERS libraryIsCompiledWithout_GLIBCXX_DEBUG
#endif
#if WEFT_ADDRESS_SANITIZER_ENABLED
#define WEFT_LIBRARY_SANITIZER libraryIsCompiledWith_fsanitize_address
#elif WEFT_THREAD_SANITIZER_ENABLED
#define WEFT_LIBRARY_SANITIZER libraryIsCompiledWith_fsanitize_thread
#else
#define WEFT_LIBRARY_SANITIZER libraryIsCompiledWithoutSanitizers
#endif

#if defined(__has_attribute)
#if __has_attribute(retain)
#define WEFT_KEPT __attribute__((used, retain))
#endif
#endif
#if !defined(WEFT_KEPT)
#define WEFT_KEPT __attribute__((used))
#endif

namespace weft::inline v0_1::detail {

extern WEFT_EXPORT const char WEFT_LIBRARY_CONTAINERS;
extern WEFT_EXPORT const char WEFT_LIBRARY_SANITIZER;

WEFT_KEPT WEFT_OWN inline const char* const libraryMustBe[] = {&WEFT_LIBRARY_CONTAINERS,
                                                               &WEFT_LIBRARY_SANITIZER};

}  // namespace weft::inline v0_1::detail

#undef WEFT_KEPT

#include "weft/detail/base/macros_end.h"
