// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/parallel.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "in_task.h"
#include "with_scheduler.h"

namespace weft {
namespace {

using tests::inTask;

class ParallelTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(ParallelTest);

TEST_P(ParallelTest, InvokeCallsAllFunctionsWhateverTheyReturn) {
  const auto invoke = [] {
    int calls[3] = {};
    parallelInvoke([&] { ++calls[0]; }, [&] { return ++calls[1]; }, [&]() -> int& { return ++calls[2]; });
    EXPECT_TRUE(calls[0] == 1 && calls[1] == 1 && calls[2] == 1);
    EXPECT_THROW(parallelInvoke([] {}, []() -> int { throw std::runtime_error("second"); }),
                 std::runtime_error);
  };
  invoke();
  inTask(invoke);
}

TEST_P(ParallelTest, InvokeCallsNothingWhereThereIsNothing) {
  parallelInvoke();
  inTask([] { parallelInvoke(); });
}

TEST_P(ParallelTest, AllTakeListsInBraces) {
  inTask([] {
    const auto twice = [](int x) { return 2 * x; };
    EXPECT_EQ(parallelReduce({1, 2, 3, 4}, 0), 10);
    EXPECT_EQ(parallelReduce({1, 2, 3, 4}, 1, std::multiplies<>()), 24);
    EXPECT_EQ(parallelReduce({"a", "b"}, std::string()), "ab");
    EXPECT_EQ(parallelMapReduce({1, 2, 3, 4}, 0, twice), 20);
    EXPECT_EQ(parallelMapReduce({1, 2, 3, 4}, 1, twice, std::multiplies<>()), 384);
    EXPECT_EQ(parallelReduce(staticPartitioner({1, 2, 3}, 1), 0), 6);
    EXPECT_EQ(parallelReduce(staticPartitioner({1, 2, 3}), 0), 6);
    EXPECT_EQ(parallelReduce(autoPartitioner({1, 2, 3}, 1), 0), 6);
    EXPECT_EQ(parallelReduce(autoPartitioner({1, 2, 3}), 0), 6);
    std::vector<int> out(3);
    parallelScan({1, 2, 3}, out.begin());
    EXPECT_EQ(out, (std::vector<int>{1, 3, 6}));
    parallelScan({1, 2, 3}, out.begin(), std::plus<>(), 10);
    EXPECT_EQ(out, (std::vector<int>{11, 13, 16}));
    parallelExclusiveScan({1, 2, 3}, out.begin(), 10);
    EXPECT_EQ(out, (std::vector<int>{10, 11, 13}));
    parallelTransform({1, 2, 3}, out.begin(), twice);
    EXPECT_EQ(out, (std::vector<int>{2, 4, 6}));
    const std::initializer_list<int> named{1, 2};
    EXPECT_EQ(parallelReduce(named, 0), 3);
    parallelScan(named, out.begin());
    EXPECT_EQ(parallelReduce(staticPartitioner(named, 1), 0), 3);
  });
}

// Proxies stand for their elements.
TEST_P(ParallelTest, TheBitsOfAVectorMayBeRead) {
  inTask([] {
    std::vector<bool> bits(10'000);
    for (size_t i = 0; i < bits.size(); i += 3) {
      bits[i] = true;
    }
    EXPECT_EQ(parallelReduce(bits, 0), 3334);
    std::vector<char> any(bits.size());
    parallelScan(bits, any.begin(), std::logical_and<>());
    EXPECT_EQ(std::count(any.begin(), any.end(), 1), 1);
  });
}

// The example of the header.
TEST_P(ParallelTest, InvokeIndexesBothSides) {
  bool left = false, right = false;
  const auto index = [](bool& side) { side = true; };
  weft::parallelInvoke([&] { index(left); }, [&] { index(right); });
  EXPECT_TRUE(left && right);
}

// Those of the algorithms.
TEST_P(ParallelTest, TheExamplesOfTheAlgorithmsWork) {
  std::vector<std::string> names{"b", "aaa", "cc"};
  std::vector<size_t> lengths(3), ends(3), begins(3);
  weft::parallelTransform(names, lengths.begin(), [](const std::string& name) { return name.size(); });
  weft::parallelScan(lengths, ends.begin());
  weft::parallelExclusiveScan(lengths, begins.begin(), size_t{0});
  EXPECT_EQ(ends, (std::vector<size_t>{1, 4, 6}));
  EXPECT_EQ(begins, (std::vector<size_t>{0, 1, 4}));
  const int largest = weft::parallelReduce(0, 10, -1, [](int a, int b) { return std::max(a, b); });
  EXPECT_EQ(largest, 9);
  weft::parallelSort(names, [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  EXPECT_EQ(names, (std::vector<std::string>{"b", "cc", "aaa"}));
  std::vector<int> written;
  weft::parallelPipeline(8, weft::serialStage([next = 0]() mutable {
                           return next < 3 ? std::optional<int>(next++) : std::nullopt;
                         }),
                         weft::parallelStage([](int block) { return 10 * block; }),
                         weft::serialStage([&](int packed) { written.push_back(packed); }));
  EXPECT_EQ(written, (std::vector<int>{0, 10, 20}));
}

// The example of docs/parallel.md.
std::pair<double, std::vector<double>> normalized(std::vector<double> values) {
  const double sum = weft::parallelReduce(weft::autoPartitioner(values, 1024), 0.0);
  weft::parallelFor(values, [sum](double& value) { value /= sum; });
  weft::parallelSort(values);
  return {sum, std::move(values)};
}

TEST_P(ParallelTest, TheExampleOfTheDocumentWorks) {
  std::vector<double> values(10'000, 2.0);
  values.front() = 5.0;
  const auto [sum, sorted] = normalized(values);
  EXPECT_EQ(sum, 20'003.0);
  EXPECT_EQ(sorted.back(), 5.0 / sum);
  EXPECT_EQ(sorted.front(), 2.0 / sum);
}

}  // namespace
}  // namespace weft
