// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/finally.h>

#include <gtest/gtest.h>

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

TEST(FinallyTest, RunsOnceAtTheEndOfItsScope) {
  int runs = 0;
  {
    auto finally = weft::make_finally([&] { ++runs; });
    EXPECT_EQ(runs, 0);
  }
  EXPECT_EQ(runs, 1);
}

TEST(FinallyTest, TheOneMovedFromRunsNothing) {
  int runs = 0;
  {
    auto first = weft::make_finally([&] { ++runs; });
    {
      auto second = std::move(first);
      EXPECT_EQ(runs, 0);
    }
    EXPECT_EQ(runs, 1);
  }
  EXPECT_EQ(runs, 1);
}

TEST(FinallyTest, CopiesAFunctionGivenAsAnLvalue) {
  auto runs = std::make_shared<int>(0);
  const auto constant = [runs] { ++*runs; };
  auto variable = constant;
  {
    auto a = weft::make_finally(constant);
    auto b = weft::make_finally(variable);
    static_assert(std::is_same_v<decltype(a), weft::FinallyImpl<std::remove_const_t<decltype(constant)>>>);
  }
  EXPECT_EQ(*runs, 2);
}

TEST(FinallyTest, TakesMoveOnlyAndMutableFunctions) {
  int sum = 0;
  {
    auto finally = weft::make_finally([value = std::make_unique<int>(3), &sum]() mutable {
      ++*value;
      sum += *value;
    });
  }
  EXPECT_EQ(sum, 4);
}

void functionThatCounts();
int numCalls = 0;
void functionThatCounts() { ++numCalls; }

TEST(FinallyTest, TakesPlainFunctions) {
  {
    auto finally = weft::make_finally(functionThatCounts);
  }
  EXPECT_EQ(numCalls, 1);
}

TEST(FinallyTest, IsNotCopyable) {
  auto lambda = [] {};
  using Impl = weft::FinallyImpl<decltype(lambda)>;
  static_assert(!std::is_copy_constructible_v<Impl> && !std::is_copy_assignable_v<Impl>);
  static_assert(std::is_nothrow_move_constructible_v<Impl>);
  static_assert(std::has_virtual_destructor_v<weft::Finally>);
}

TEST(FinallyTest, SharedRunsWhenTheLastCopyGoes) {
  int runs = 0;
  std::shared_ptr<weft::Finally> first = weft::make_shared_finally([&] { ++runs; });
  std::shared_ptr<weft::Finally> second = first;
  first.reset();
  EXPECT_EQ(runs, 0);
  second.reset();
  EXPECT_EQ(runs, 1);
}

TEST(FinallyTest, CanBeStoredByItsBase) {
  std::vector<int> order;
  std::vector<std::unique_ptr<weft::Finally>> all;
  auto one = [&] { order.push_back(1); };
  auto two = [&] { order.push_back(2); };
  all.push_back(std::make_unique<weft::FinallyImpl<decltype(one)>>(one));
  all.push_back(std::make_unique<weft::FinallyImpl<decltype(two)>>(std::move(two)));
  all.pop_back();
  all.pop_back();
  EXPECT_EQ(order, (std::vector<int>{2, 1}));
}

}  // namespace
