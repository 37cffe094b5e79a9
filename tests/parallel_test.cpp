// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/parallel.h>

#include <algorithm>
#include <functional>
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
