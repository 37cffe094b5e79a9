// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/version.h>

#include <gtest/gtest.h>

#include <cstdio>

// The preprocessor compares it.
#if WEFT_VERSION < 100 || WEFT_VERSION >= (WEFT_VERSION_MAJOR + 1) * 10000
#error "WEFT_VERSION does not compare"
#endif

namespace {

TEST(VersionTest, TheNumberHasTwoDigitsForMinorAndPatch) {
  static_assert(WEFT_VERSION / 10000 == WEFT_VERSION_MAJOR);
  static_assert(WEFT_VERSION / 100 % 100 == WEFT_VERSION_MINOR);
  static_assert(WEFT_VERSION % 100 == WEFT_VERSION_PATCH);
}

TEST(VersionTest, TheTextHasTheThreeNumbers) {
  int numbers[3] = {-1, -1, -1};
  char rest = 0;
  ASSERT_EQ(std::sscanf(WEFT_VERSION_STRING, "%d.%d.%d%c", &numbers[0], &numbers[1], &numbers[2], &rest), 3);
  EXPECT_EQ(numbers[0], WEFT_VERSION_MAJOR);
  EXPECT_EQ(numbers[1], WEFT_VERSION_MINOR);
  EXPECT_EQ(numbers[2], WEFT_VERSION_PATCH);
}

TEST(VersionTest, TheLibraryAnswersTheVersionOfItsHeaders) { EXPECT_EQ(weft::version(), WEFT_VERSION); }

}  // namespace
