// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/defer.h>

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>

namespace {

TEST(DeferTest, RunsAtTheEndOfTheScope) {
  bool ran = false;
  {
    defer(ran = true);
    EXPECT_FALSE(ran);
  }
  EXPECT_TRUE(ran);
}

TEST(DeferTest, HasANameWithThePrefix) {
  bool ran = false;
  {
    WEFT_DEFER(ran = true);
  }
  EXPECT_TRUE(ran);
}

TEST(DeferTest, RunsInReverseOrder) {
  std::string order;
  {
    defer(order += "a");
    defer(order += "b");
    defer(order += "c");
  }
  EXPECT_EQ(order, "cba");
}

TEST(DeferTest, SeesVariablesAsTheyAreAtTheEnd) {
  int seen = 0;
  {
    int value = 1;
    defer(seen = value);
    value = 2;
  }
  EXPECT_EQ(seen, 2);
}

TEST(DeferTest, TakesSeveralStatementsAndCommas) {
  std::map<int, int> entries;
  {
    defer(entries[1] = 2; entries.insert(std::pair<int, int>{3, 4}));
    EXPECT_TRUE(entries.empty());
  }
  EXPECT_EQ(entries.size(), 2U);
}

TEST(DeferTest, RunsInEachRoundOfALoop) {
  int runs = 0;
  for (int i = 0; i < 10; ++i) {
    defer(++runs);
    if (i % 2 == 0) {
      continue;
    }
  }
  EXPECT_EQ(runs, 10);
}

TEST(DeferTest, RunsOnEarlyReturn) {
  bool ran = false;
  [&] {
    defer(ran = true);
    return;
  }();
  EXPECT_TRUE(ran);
}

TEST(DeferTest, ScopesNest) {
  std::string order;
  {
    defer(order += "outer");
    {
      defer(order += "inner ");
    }
    order += "between ";
  }
  EXPECT_EQ(order, "inner between outer");
}

#if defined(__cpp_exceptions)
TEST(DeferTest, RunsWhenAnExceptionPasses) {
  bool ran = false;
  try {
    defer(ran = true);
    throw std::runtime_error("passes");
  } catch (const std::runtime_error&) {
    EXPECT_TRUE(ran);
  }
}
#endif

}  // namespace
