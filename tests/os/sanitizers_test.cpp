// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/sanitizers.h>

#include <gtest/gtest.h>

namespace {

#if !defined(WEFT_ADDRESS_SANITIZER_ENABLED) || !defined(WEFT_MEMORY_SANITIZER_ENABLED) || \
    !defined(WEFT_THREAD_SANITIZER_ENABLED) || !defined(WEFT_UNDEFINED_SANITIZER_ENABLED)
#error "a macro that programs test is missing"
#endif

// Each can be tested by the preprocessor, with or without the sanitizer.
#if WEFT_ADDRESS_SANITIZER_ENABLED
constexpr int kAddress = 1;
#else
constexpr int kAddress = 0;
#endif
#if WEFT_MEMORY_SANITIZER_ENABLED
constexpr int kMemory = 1;
#else
constexpr int kMemory = 0;
#endif
#if WEFT_THREAD_SANITIZER_ENABLED
constexpr int kThread = 1;
#else
constexpr int kThread = 0;
#endif
#if WEFT_UNDEFINED_SANITIZER_ENABLED
constexpr int kUndefined = 1;
#else
constexpr int kUndefined = 0;
#endif

TEST(SanitizersTest, OnlyMacrosAgreeWithEnabledMacros) {
  EXPECT_EQ(0 WEFT_ADDRESS_SANITIZER_ONLY(+1), kAddress);
  EXPECT_EQ(0 WEFT_MEMORY_SANITIZER_ONLY(+1), kMemory);
  EXPECT_EQ(0 WEFT_THREAD_SANITIZER_ONLY(+1), kThread);
  EXPECT_EQ(0 WEFT_UNDEFINED_SANITIZER_ONLY(+1), kUndefined);
}

TEST(SanitizersTest, AddressAndThreadExcludeEachOther) { EXPECT_LE(kAddress + kThread + kMemory, 1); }

}  // namespace
