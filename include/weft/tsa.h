// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

// Clang's attributes (https://clang.llvm.org/docs/ThreadSafetyAnalysis.html); empty for other compilers.
#if defined(__clang__)
#define WEFT_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define WEFT_THREAD_ANNOTATION(x)
#endif

// For types.
#define WEFT_CAPABILITY(name) WEFT_THREAD_ANNOTATION(capability(name))
#define WEFT_SCOPED_CAPABILITY WEFT_THREAD_ANNOTATION(scoped_lockable)

// For data.
#define WEFT_GUARDED_BY(x) WEFT_THREAD_ANNOTATION(guarded_by(x))
#define WEFT_PT_GUARDED_BY(x) WEFT_THREAD_ANNOTATION(pt_guarded_by(x))
#define WEFT_ACQUIRED_BEFORE(...) WEFT_THREAD_ANNOTATION(acquired_before(__VA_ARGS__))
#define WEFT_ACQUIRED_AFTER(...) WEFT_THREAD_ANNOTATION(acquired_after(__VA_ARGS__))

// For functions.
#define WEFT_REQUIRES(...) WEFT_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define WEFT_REQUIRES_SHARED(...) WEFT_THREAD_ANNOTATION(requires_shared_capability(__VA_ARGS__))
#define WEFT_ACQUIRE(...) WEFT_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define WEFT_ACQUIRE_SHARED(...) WEFT_THREAD_ANNOTATION(acquire_shared_capability(__VA_ARGS__))
#define WEFT_RELEASE(...) WEFT_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define WEFT_RELEASE_SHARED(...) WEFT_THREAD_ANNOTATION(release_shared_capability(__VA_ARGS__))
#define WEFT_TRY_ACQUIRE(...) WEFT_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define WEFT_TRY_ACQUIRE_SHARED(...) WEFT_THREAD_ANNOTATION(try_acquire_shared_capability(__VA_ARGS__))
#define WEFT_EXCLUDES(...) WEFT_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define WEFT_ASSERT_CAPABILITY(x) WEFT_THREAD_ANNOTATION(assert_capability(x))
#define WEFT_ASSERT_SHARED_CAPABILITY(x) WEFT_THREAD_ANNOTATION(assert_shared_capability(x))
#define WEFT_RETURN_CAPABILITY(x) WEFT_THREAD_ANNOTATION(lock_returned(x))
#define WEFT_NO_THREAD_SAFETY_ANALYSIS WEFT_THREAD_ANNOTATION(no_thread_safety_analysis)

#include "weft/detail/base/macros_end.h"
