// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <weft/cancellation.h>
#include <weft/executor.h>
#include <weft/parallel.h>
#include <weft/scheduler.h>

// The examples of the headers of weft/parallel, word for word, which docs_examples_test.cpp checks.
namespace parallel_examples_test {
namespace {

// Binds this thread to a scheduler with `numWorkers` workers.
class ParallelExamplesTest : public testing::TestWithParam<int> {
 private:
  weft::Scheduler scheduler_{weft::Scheduler::Config().setWorkerThreadCount(GetParam())};
  weft::Scheduler::Binding bound_{scheduler_};
};
INSTANTIATE_TEST_SUITE_P(Workers, ParallelExamplesTest, testing::Values(0, 2));

class Image {
 public:
  explicit Image(int height) : rows_(static_cast<size_t>(height)) {}

  int height() const { return static_cast<int>(rows_.size()); }
  int& row(int y) { return rows_[static_cast<size_t>(y)]; }
  const std::vector<int>& rows() const { return rows_; }

 private:
  std::vector<int> rows_;
};

void render(int& row) { ++row; }
void normalize(std::string& name) { name += '.'; }

TEST_P(ParallelExamplesTest, ForCallsOnceForEachElement) {
  Image image(100);
  std::vector<std::string> names(3, "name");
  weft::parallelFor(0, image.height(), [&](int y) { render(image.row(y)); });
  weft::parallelFor(names, [](std::string& name) { normalize(name); });
  EXPECT_EQ(image.rows(), std::vector<int>(100, 1));
  EXPECT_EQ(names, std::vector<std::string>(3, "name."));

  weft::parallelFor(weft::defaultExecutor(), 0, image.height(), [&](int y) { render(image.row(y)); });
  EXPECT_EQ(image.rows(), std::vector<int>(100, 2));
}

TEST_P(ParallelExamplesTest, BlocksCoverThePlane) {
  const std::ptrdiff_t height = 100, width = 70;
  std::atomic<std::ptrdiff_t> area{0};
  const auto transpose = [&area](const weft::Block2D& block) {
    area += (block.rowEnd - block.rowBegin) * (block.columnEnd - block.columnBegin);
  };
  weft::parallelFor(weft::blocks2D({0, height, 0, width}, 64, 64),
                    [&](const weft::Block2D& block) { transpose(block); });
  EXPECT_EQ(area, height * width);
}

TEST_P(ParallelExamplesTest, IrangeCountsDown) {
  std::vector<int> used;
  const auto use = [&used](int i) { used.push_back(i); };
  for (int i : weft::irange(10, 0, -3)) {
    use(i);  // 10, 7, 4, 1
  }
  EXPECT_EQ(used, (std::vector<int>{10, 7, 4, 1}));
}

struct File {
  size_t size() const { return 2; }
};

std::atomic<int> numConverted{0};

void convert(const File&) { ++numConverted; }

TEST_P(ParallelExamplesTest, PartitionerLeavesNoElementOut) {
  numConverted = 0;
  const std::vector<File> files(5);
  weft::parallelFor(weft::autoPartitioner(files, 1), [](const File& file) { convert(file); });
  EXPECT_EQ(numConverted, 5);
}

TEST_P(ParallelExamplesTest, ReduceGivesSumAndLargest) {
  const std::vector<double> values(100, 0.5);
  const int n = 1000;
  const double sum = weft::parallelReduce(values, 0.0);
  const int largest = weft::parallelReduce(0, n, INT_MIN, [](int a, int b) { return std::max(a, b); });
  EXPECT_EQ(sum, 50.0);
  EXPECT_EQ(largest, 999);
}

TEST_P(ParallelExamplesTest, MapReduceAddsSizes) {
  const std::vector<File> files(5);
  const auto sizeOf = [](const File& file) { return file.size(); };
  const size_t total = weft::parallelMapReduce(files, size_t{0}, sizeOf);
  EXPECT_EQ(total, 10u);
}

TEST_P(ParallelExamplesTest, TransformWritesWhatTheFunctionReturns) {
  const std::vector<std::string> names{"a", "bcd"};
  std::vector<size_t> lengths(names.size());
  weft::parallelTransform(names, lengths.begin(), [](const std::string& name) { return name.size(); });
  EXPECT_EQ(lengths, (std::vector<size_t>{1, 3}));

  const std::vector<int> a{1, 2}, b{10, 20};
  std::vector<int> sums(a.size());
  weft::parallelTransform(a, b, sums.begin(), std::plus<>());
  EXPECT_EQ(sums, (std::vector<int>{11, 22}));
}

TEST_P(ParallelExamplesTest, ScansWriteEndsAndBegins) {
  const std::vector<size_t> lengths{3, 1, 2};
  std::vector<size_t> ends(lengths.size()), begins(lengths.size());
  weft::parallelScan(lengths, ends.begin());
  weft::parallelExclusiveScan(lengths, begins.begin(), size_t{0});
  EXPECT_EQ(ends, (std::vector<size_t>{3, 4, 6}));
  EXPECT_EQ(begins, (std::vector<size_t>{0, 3, 4}));
}

TEST_P(ParallelExamplesTest, SortOrdersBySize) {
  std::vector<std::string> words{"ccc", "a", "bb"};
  weft::parallelSort(words, [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  EXPECT_EQ(words, (std::vector<std::string>{"a", "bb", "ccc"}));
}

bool isWhole(const File& file) { return file.size() == 3; }

struct Box {
  bool contains(int point) const { return point < 5; }
};

TEST_P(ParallelExamplesTest, SearchesFindAndTell) {
  const std::vector<File> files(5);
  const auto broken = weft::parallelFind(files, [](const File& file) { return !isWhole(file); });
  EXPECT_EQ(broken, files.begin());

  const std::vector<Box> boxes(5);
  const int point = 3;
  int selected = 0;
  const auto select = [&selected](int at) { selected = at; };
  if (weft::parallelAnyOf(boxes, [&](const Box& box) { return box.contains(point); })) {
    select(point);
  }
  EXPECT_EQ(selected, 3);
}

struct Bill {
  bool isDue() const { return true; }
};
struct Star {
  int distance;
};

TEST_P(ParallelExamplesTest, CountsAndNearest) {
  const std::vector<Bill> bills(7);
  const size_t numDue = weft::parallelCountIf(bills, [](const Bill& bill) { return bill.isDue(); });
  EXPECT_EQ(numDue, 7u);

  const std::vector<Star> stars{{5}, {2}, {9}};
  const auto nearest =
      weft::parallelMinElement(stars, [](const Star& a, const Star& b) { return a.distance < b.distance; });
  EXPECT_EQ(nearest->distance, 2);
}

// docs/parallel.md
size_t numOddOf(const std::vector<int>& numbers, const std::stop_token& token) {
  const size_t numOdd = weft::parallelCountIf(numbers, [&](int number) {
    weft::interruptionPoint(token);  // throws TaskCanceled after a stop
    return number % 2 != 0;
  });
  return numOdd;
}

TEST_P(ParallelExamplesTest, APredicateEndsTheCountAfterAStop) {
  const std::vector<int> numbers(100, 1);
  std::stop_source source;
  EXPECT_EQ(numOddOf(numbers, source.get_token()), 100u);
  source.request_stop();
  EXPECT_THROW(numOddOf(numbers, source.get_token()), weft::TaskCanceled);
}

TEST_P(ParallelExamplesTest, MergeKeepsTheOrder) {
  const std::vector<int> old{1, 4}, added{2, 3};
  std::vector<int> all(4);
  weft::parallelMerge(old, added, all.begin());
  EXPECT_EQ(all, (std::vector<int>{1, 2, 3, 4}));
}

// Where gcc 12 knows how many these are, it warns of erase() as if it went beyond the end.
[[gnu::noinline]] std::vector<int> threeAges() { return {70, 3, 18}; }

TEST_P(ParallelExamplesTest, CopyIfKeepsTheOrder) {
  const std::vector<int> ages = threeAges();
  std::vector<int> adult(ages.size());
  adult.erase(weft::parallelCopyIf(ages, adult.begin(), [](int age) { return age >= 18; }), adult.end());
  EXPECT_EQ(adult, (std::vector<int>{70, 18}));
}

struct Block {
  int number;
};
struct Packed {
  int number;
};

Packed compress(Block block) { return {block.number * 10}; }

struct Reader {
  std::optional<Block> next() { return numRead < 5 ? std::optional(Block{++numRead}) : std::nullopt; }
  int numRead = 0;
};
struct Writer {
  void append(Packed packed) { numbers.push_back(packed.number); }
  std::vector<int> numbers;
};

TEST_P(ParallelExamplesTest, PipelineKeepsTheOrder) {
  Reader reader;
  Writer writer;
  weft::parallelPipeline(8, weft::serialStage([&] { return reader.next(); }),  // std::optional<Block>
                         weft::parallelStage([](Block block) { return compress(std::move(block)); }),
                         weft::serialStage([&](Packed packed) { writer.append(packed); }));
  EXPECT_EQ(writer.numbers, (std::vector<int>{10, 20, 30, 40, 50}));
}

TEST_P(ParallelExamplesTest, InvokeCallsBoth) {
  std::string left = "left", right = "right";
  const auto index = [](std::string& part) { part += '.'; };
  weft::parallelInvoke([&] { index(left); }, [&] { index(right); });
  EXPECT_EQ(left + right, "left.right.");
}

}  // namespace
}  // namespace parallel_examples_test
