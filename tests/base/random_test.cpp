// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/base/random.h>

#include <cstdint>

#include <gtest/gtest.h>

namespace weft::inline v0_1::detail {
namespace {

TEST(RandomTest, IsTheXorshiftOfThePaper) {
  EXPECT_EQ(nextRandom(1), 1082269761u);
  EXPECT_EQ(nextRandom(1082269761u), 1152992998833853505u);
}

// What select() does with it: the upper half, scaled.
TEST(RandomTest, TheUpperHalfIsSpread) {
  constexpr int kBins = 8, kNumbers = 8'000;
  int counts[kBins] = {};
  uint64_t random = 0x9e3779b97f4a7c15u;
  for (int i = 0; i < kNumbers; ++i) {
    random = nextRandom(random);
    ++counts[((random >> 32) * kBins) >> 32];
  }
  for (int count : counts) {
    EXPECT_GT(count, kNumbers / kBins / 2);
  }
}

}  // namespace
}  // namespace weft::inline v0_1::detail
