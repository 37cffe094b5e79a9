// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/cancellation.h>
#include <weft/parallel.h>

#include "in_task.h"
#include "with_scheduler.h"

namespace weft {
namespace {

using tests::inTask;

class ParallelStopTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(ParallelStopTest);

// Requests a stop at its call number `stopAt`, from 0.
class Trigger {
 public:
  explicit Trigger(size_t stopAt) : stopAt_(stopAt) {}

  void pull() const {
    if (numCalls_.fetch_add(1) == stopAt_) {
      source_.request_stop();
    }
  }
  std::stop_token token() const { return source_.get_token(); }
  size_t numCalls() const { return numCalls_; }

 private:
  const size_t stopAt_;
  mutable std::atomic<size_t> numCalls_{0};
  mutable std::stop_source source_;
};

std::stop_token stoppedToken() {
  std::stop_source source;
  source.request_stop();
  return source.get_token();
}

// The loops would take years without the stop.
TEST_P(ParallelStopTest, AStoppedReductionThrows) {
  const auto reduce = [] {
    for (const size_t stopAt : {0u, 1u, 500u, 999u}) {
      constexpr size_t kMany = size_t{1} << 40;
      const Trigger map(stopAt), add(stopAt), each(stopAt), part(stopAt);
      const auto mapped = [](const Trigger& trigger) {
        return [&trigger](size_t i) {
          trigger.pull();
          return i;
        };
      };
      const auto added = [&add](size_t a, size_t b) {
        add.pull();
        return a + b;
      };
      const std::plus<> plus;
      EXPECT_THROW(parallelMapReduce(size_t{0}, kMany, size_t{0}, mapped(map), plus, map.token()),
                   TaskCanceled);
      EXPECT_THROW(parallelReduce(irange(size_t{0}, kMany), size_t{0}, added, add.token()), TaskCanceled);
      const auto withGrain = autoPartitioner(irange(size_t{0}, kMany), 1);
      EXPECT_THROW(parallelMapReduce(withGrain, size_t{0}, mapped(each), plus, each.token()), TaskCanceled);
      const auto inParts = staticPartitioner(irange(size_t{0}, kMany));
      EXPECT_THROW(parallelMapReduce(inParts, size_t{0}, mapped(part), plus, part.token()), TaskCanceled);
    }
  };
  reduce();
  inTask(reduce);
}

TEST_P(ParallelStopTest, AStopBeforeTheCallThrowsAtOnce) {
  inTask([] {
    const Trigger never(1);
    const auto count = [&never](int a, int b) {
      never.pull();
      return a + b;
    };
    std::vector<int> values(10'000, 1), out(10'000, 7), nothing;
    EXPECT_THROW(parallelReduce(values, 0, count, stoppedToken()), TaskCanceled);
    EXPECT_THROW(parallelReduce(nothing, 0, count, stoppedToken()), TaskCanceled);
    EXPECT_THROW(parallelScan(values, out.begin(), count, stoppedToken()), TaskCanceled);
    EXPECT_THROW(parallelScan(nothing, out.begin(), count, stoppedToken()), TaskCanceled);
    EXPECT_THROW(parallelExclusiveScan(values, out.begin(), 0, count, stoppedToken()), TaskCanceled);
    EXPECT_THROW(parallelSort(nothing, std::less<>(), stoppedToken()), TaskCanceled);
    EXPECT_THROW(parallelStableSort(nothing, std::less<>(), stoppedToken()), TaskCanceled);
    EXPECT_EQ(never.numCalls(), 0u);
    EXPECT_EQ(out, std::vector<int>(10'000, 7));
  });
}

TEST_P(ParallelStopTest, AStoppedTransformLeavesTheRestAsItWas) {
  const auto transform = [] {
    for (const size_t stopAt : {0u, 1u, 500u, 999u}) {
      const std::vector<int> values(200'000, 1);
      std::vector<int> out(values.size(), 7);
      const Trigger trigger(stopAt);
      const auto negate = [&trigger](int x) {
        trigger.pull();
        return -x;
      };
      const auto range = autoPartitioner(values, 1);
      EXPECT_EQ(parallelTransform(range, out.begin(), negate, trigger.token()), out.end());
      const auto numWritten = static_cast<size_t>(std::count(out.begin(), out.end(), -1));
      EXPECT_GT(numWritten, stopAt);
      EXPECT_EQ(numWritten, trigger.numCalls());
      EXPECT_LT(numWritten, values.size());
      EXPECT_EQ(std::count(out.begin(), out.end(), 7), std::ptrdiff_t(values.size() - numWritten));
    }
  };
  transform();
  inTask(transform);
}

// At any call: while stretches are added up, and while prefixes are written.
TEST_P(ParallelStopTest, AStoppedScanThrows) {
  const auto scan = [](size_t stopAt) {
    const std::vector<int> values(50'000, 1);
    std::vector<int> out(values.size());
    const Trigger inclusive(stopAt), exclusive(stopAt);
    const auto add = [](const Trigger& trigger) {
      return [&trigger](int a, int b) {
        trigger.pull();
        return a + b;
      };
    };
    EXPECT_THROW(parallelScan(values, out.begin(), add(inclusive), inclusive.token()), TaskCanceled);
    EXPECT_THROW(parallelExclusiveScan(values, out.begin(), 0, add(exclusive), exclusive.token()),
                 TaskCanceled);
  };
  for (const size_t stopAt : {0u, 100u, 20'000u, 49'998u}) {
    scan(stopAt);
    inTask([&] { scan(stopAt); });
  }
}

// Without a scheduler there is one stretch, which looks between its pieces.
TEST_P(ParallelStopTest, AScanOfOneThreadEndsEarly) {
  std::thread unbound([] {
    const std::vector<int> values(200'000, 1);
    std::vector<int> out(values.size());
    const Trigger trigger(0);
    const auto add = [&trigger](int a, int b) {
      trigger.pull();
      return a + b;
    };
    EXPECT_THROW(parallelScan(values, out.begin(), add, trigger.token()), TaskCanceled);
    EXPECT_LT(trigger.numCalls(), 100'000u);
  });
  unbound.join();
}

template <class T>
std::vector<T> shuffled(size_t count) {
  std::vector<T> values;
  uint64_t random = 1;
  for (size_t i = 0; i < count; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    if constexpr (std::is_same_v<T, std::string>) {
      values.push_back("a string that lies on the heap " + std::to_string(random >> 40));
    } else {
      values.push_back(static_cast<T>(random >> 40));
    }
  }
  return values;
}

// The comparator stops the sort at its call number `stopAt`. It cannot throw, so that a sort may hold an
// element outside of the range while it compares.
template <class T, class Sort>
void stopASort(size_t stopAt, Sort sort) {
  std::vector<T> values = shuffled<T>(20'000), before = values;
  const Trigger trigger(stopAt);
  const auto less = [&trigger](const T& a, const T& b) noexcept {
    trigger.pull();
    return a < b;
  };
  EXPECT_THROW(sort(values, less, trigger.token()), TaskCanceled);
  EXPECT_LT(trigger.numCalls(), stopAt + 100'000);  // it takes 250,000 to the end
  std::sort(values.begin(), values.end());
  std::sort(before.begin(), before.end());
  EXPECT_EQ(values, before);
}

TEST_P(ParallelStopTest, AStoppedSortEndsEarlyAndKeepsAllElements) {
  const auto unstable = [](auto& range, auto& less, const std::stop_token& token) {
    parallelSort(range, less, token);
  };
  const auto stable = [](auto& range, auto& less, const std::stop_token& token) {
    parallelStableSort(range.begin(), range.end(), less, token);
  };
  const auto sort = [&](size_t stopAt) {
    stopASort<std::string>(stopAt, unstable);
    stopASort<std::string>(stopAt, stable);
    stopASort<int>(stopAt, unstable);
    stopASort<int>(stopAt, stable);
  };
  for (const size_t stopAt : {0u, 10u, 3'000u, 25'000u, 49'999u, 100'003u}) {
    sort(stopAt);
    inTask([&] { sort(stopAt); });
  }
}

// The comparator of numbers cannot request the stop, so another thread does, at any moment.
TEST_P(ParallelStopTest, AStopOfASortOfNumbersKeepsAllElements) {
  inTask([] {
    const std::vector<int> before = shuffled<int>(300'000);
    std::vector<int> sorted = before;
    std::sort(sorted.begin(), sorted.end());
    for (const bool isStable : {false, true}) {
      std::vector<int> values = before;
      std::stop_source source;
      std::thread stopper([&] { source.request_stop(); });
      bool isStopped = false;
      try {
        isStable ? parallelStableSort(values, std::less<>(), source.get_token())
                 : parallelSort(values.begin(), values.end(), std::less<>(), source.get_token());
      } catch (const TaskCanceled&) {
        isStopped = true;
      }
      stopper.join();
      EXPECT_TRUE(isStopped || values == sorted);
      std::sort(values.begin(), values.end());
      EXPECT_EQ(values, sorted);
    }
  });
}

TEST_P(ParallelStopTest, AStoppedPipelineTakesNoMoreAndFinishesTheRest) {
  const auto pipeline = [] {
    for (const int stopAt : {0, 1, 500}) {
      std::stop_source source;
      int numMade = 0;
      std::vector<int> written;
      parallelPipeline(8, serialStage([&] { return std::optional<int>(numMade++); }),
                       parallelStage([&](int item) {
                         if (item == stopAt) {
                           source.request_stop();
                         }
                         return item;
                       }),
                       serialStage([&](int item) { written.push_back(item); }), source.get_token());
      EXPECT_GT(numMade, stopAt);
      EXPECT_LE(numMade, stopAt + 8);
      std::vector<int> all(static_cast<size_t>(numMade));
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(written, all);
      parallelPipeline(8, serialStage([&] { return std::optional<int>(numMade++); }),
                       parallelStage([](int) {}), source.get_token());
      EXPECT_EQ(numMade, static_cast<int>(written.size()));
    }
  };
  pipeline();
  inTask(pipeline);
}

TEST_P(ParallelStopTest, ATokenWithoutAStopChangesNothing) {
  const auto check = [](const std::stop_token& token) {
    std::vector<int> values{3, 1, 2}, out(3);
    const std::plus<> plus;
    EXPECT_EQ(parallelReduce(values, 0, plus, token), 6);
    EXPECT_EQ(parallelReduce(values.begin(), values.end(), 0, plus, token), 6);
    EXPECT_EQ(parallelReduce({3, 1, 2}, 0, plus, token), 6);
    EXPECT_EQ(parallelReduce(inlineExecutor(), values, 0, plus, token), 6);
    const std::negate<> negate;
    EXPECT_EQ(parallelMapReduce(values, 0, negate, plus, token), -6);
    EXPECT_EQ(parallelMapReduce(0, 4, 0, negate, plus, token), -6);
    EXPECT_EQ(parallelMapReduce({3, 1, 2}, 0, negate, plus, token), -6);
    parallelTransform(values, out.begin(), negate, token);
    EXPECT_EQ(out, (std::vector<int>{-3, -1, -2}));
    parallelTransform(values, values, out.begin(), plus, token);
    EXPECT_EQ(out, (std::vector<int>{6, 2, 4}));
    parallelTransform(values.begin(), values.end(), out.begin(), negate, token);
    parallelTransform(values.begin(), values.end(), values.begin(), out.begin(), plus, token);
    parallelTransform({3, 1, 2}, out.begin(), negate, token);
    EXPECT_EQ(out, (std::vector<int>{-3, -1, -2}));
    const auto generic = [](auto a, auto b) { return a + b; };
    parallelScan(values, out.begin(), generic, token);
    EXPECT_EQ(out, (std::vector<int>{3, 4, 6}));
    parallelScan(values, out.begin(), generic, 10, token);
    EXPECT_EQ(out, (std::vector<int>{13, 14, 16}));
    parallelScan(values.begin(), values.end(), out.begin(), generic, token);
    parallelScan(values.begin(), values.end(), out.begin(), generic, 10, token);
    parallelScan({3, 1, 2}, out.begin(), generic, 10, token);
    parallelScan({3, 1, 2}, out.begin(), generic, token);
    EXPECT_EQ(out, (std::vector<int>{3, 4, 6}));
    parallelExclusiveScan(values, out.begin(), 1, generic, token);
    parallelExclusiveScan({3, 1, 2}, out.begin(), 1, generic, token);
    parallelExclusiveScan(values.begin(), values.end(), out.begin(), 1, generic, token);
    EXPECT_EQ(out, (std::vector<int>{1, 4, 5}));
    parallelSort(values, std::less<>(), token);
    EXPECT_EQ(values, (std::vector<int>{1, 2, 3}));
    parallelStableSort(inlineExecutor(), values.begin(), values.end(), std::greater<>(), token);
    EXPECT_EQ(values, (std::vector<int>{3, 2, 1}));
  };
  std::stop_source source;
  std::stop_token token = source.get_token();
  check(token);
  inTask([&] { check(std::stop_token()); });
  int array[3] = {1, 2, 3};
  EXPECT_EQ(parallelReduce(array, 0, std::plus<>(), token), 6);
  EXPECT_EQ(parallelReduce(array, array + 3, 0, std::plus<>(), std::move(token)), 6);
  parallelTransform(array, array, array, std::plus<>(), source.get_token());
  parallelScan(array, array, std::plus<>(), source.get_token());
  EXPECT_EQ(array[2], 12);
}

}  // namespace
}  // namespace weft
