// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/cancellation.h>
#include <weft/future.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>

#include "live_objects.h"
#include "with_scheduler.h"

// whenAll() and whenAny() with a stop source, and firstSuccess().
namespace weft {
namespace when_stop_test {

using tests::LiveObject;
using tests::scaled;

class WhenStopTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(WhenStopTest);

// A task that ends only by a stop.
Future<int> untilStop(const std::stop_token& token) {
  return async(token, [](const std::stop_token& own) -> int {
    (void)sleep_for(std::chrono::hours(24), own);
    throw TaskCanceled();
  });
}

TEST_P(WhenStopTest, AnyStopsThoseThatLose) {
  std::stop_source stop;
  auto result = whenAny(stop, untilStop(stop.get_token()), async([] { return 2; })).get();
  EXPECT_EQ(result.index, 1u);
  EXPECT_TRUE(stop.stop_requested());
  EXPECT_EQ(std::get<1>(result.futures).get(), 2);
  EXPECT_THROW((void)std::get<0>(result.futures).get(), TaskCanceled);
}

TEST_P(WhenStopTest, AnyStopsBeforeTheResultIsThere) {
  std::stop_source stop;
  Promise<int> first, second;
  std::vector<Future<int>> futures;
  futures.push_back(first.get_future());
  futures.push_back(second.get_future());
  auto any = whenAny(stop, futures);
  bool isReadyAtStop = true;
  const std::stop_callback atStop(stop.get_token(), [&] {
    isReadyAtStop = any.ready();
    EXPECT_TRUE(second.set_value(2)) << "a loser may become ready in the stop";
  });
  first.set_value(1);
  EXPECT_FALSE(isReadyAtStop);
  auto result = any.get();
  EXPECT_EQ(result.index, 0u);
  EXPECT_EQ(result.futures[1].get(), 2);
}

TEST_P(WhenStopTest, WithoutFuturesThereIsNoStop) {
  std::stop_source stop;
  std::vector<Future<int>> none;
  EXPECT_EQ(whenAny(stop, none).get().index, WhenAnyResult<std::vector<Future<int>>>::kNone);
  EXPECT_TRUE(whenAll(stop, none.begin(), none.end()).get().empty());
  EXPECT_EQ(whenAll(stop).get(), std::tuple<>());
  EXPECT_FALSE(stop.stop_requested());
}

TEST_P(WhenStopTest, AllFailsWithTheFirstToFail) {
  std::stop_source stop;
  auto all = whenAll(stop, untilStop(stop.get_token()),
                     async([]() -> std::string { throw std::runtime_error("first"); }), async([] {}));
  EXPECT_THROW((void)all.get(), std::runtime_error);
  EXPECT_TRUE(stop.stop_requested());
}

TEST_P(WhenStopTest, AllWaitsForNoneOfTheOthersOnceOneHasFailed) {
  std::stop_source stop;
  std::vector<Promise<int>> promises(3);
  std::vector<Future<int>> futures;
  for (Promise<int>& promise : promises) {
    futures.push_back(promise.get_future());
  }
  auto all = whenAll(stop, futures.begin(), futures.end());
  promises[2].set_value(1);
  EXPECT_FALSE(all.ready() || stop.stop_requested());
  promises[1].set_exception(std::runtime_error("first"));
  EXPECT_TRUE(all.failed() && stop.stop_requested());
  promises[0].set_exception(std::logic_error("second"));
  EXPECT_THROW((void)all.get(), std::runtime_error);
}

TEST_P(WhenStopTest, AllGivesTheFuturesIfNoneFails) {
  std::stop_source stop;
  SharedFuture<std::string> shared = async([] { return std::string("a"); });
  auto done = whenAll(stop, async([] { return 1; }), shared, async([] {})).get();
  EXPECT_EQ(std::get<0>(done).get(), 1);
  EXPECT_EQ(std::get<1>(done).get() + shared.get(), "aa");
  std::get<2>(done).get();
  EXPECT_FALSE(stop.stop_requested());
}

TEST_P(WhenStopTest, ThoseThatLoseLeaveASharedFuture) {
  Promise<LiveObject> late;
  SharedFuture<LiveObject> shared = late.get_future();
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(
        whenAll(std::stop_source(), shared, makeExceptionalFuture<int>(std::runtime_error("x"))).failed());
    EXPECT_EQ(whenAny(std::stop_source(), makeReadyFuture(1), shared).get().index, 0u);
  }
  late.set_value(LiveObject(1));
  EXPECT_EQ(shared.get().value, 1);
  EXPECT_EQ(LiveObject::numAlive, 1);
}

// The result is kept, and yet nothing of the futures.
TEST_P(WhenStopTest, AFailureKeepsNoValues) {
  std::vector<Promise<LiveObject>> promises(3);
  std::vector<Future<LiveObject>> futures;
  for (auto& promise : promises) {
    futures.push_back(promise.get_future());
  }
  auto all = whenAll(std::stop_source(), futures);
  for (const size_t i : {size_t{0}, size_t{2}}) {
    std::exchange(promises[i], {}).set_value(LiveObject(1));
  }
  EXPECT_EQ(LiveObject::numAlive, 2);
  promises[1].set_exception(std::runtime_error("x"));
  EXPECT_EQ(LiveObject::numAlive, 0);
  EXPECT_TRUE(all.failed());
}

TEST_P(WhenStopTest, AChainOfStopsTakesNoDeepStack) {
  constexpr size_t kCount = 100'000;
  std::vector<std::stop_source> stops(kCount);
  std::vector<Promise<int>> promises(kCount);
  using Callback = std::stop_callback<std::function<void()>>;
  std::vector<std::unique_ptr<Callback>> callbacks;
  std::vector<Future<std::tuple<Future<int>>>> results;
  for (size_t i = 0; i < promises.size(); ++i) {
    results.push_back(whenAll(stops[i], promises[i].get_future()));
    if (i + 1 < promises.size()) {
      callbacks.push_back(std::make_unique<Callback>(
          stops[i].get_token(), [&promises, i] { promises[i + 1].set_exception(std::runtime_error("x")); }));
    }
  }
  promises[0].set_exception(std::runtime_error("x"));
  EXPECT_TRUE(results.back().failed());
}

TEST_P(WhenStopTest, OneOfManyFailuresIsFirst) {
  for (int round = 0; round < scaled(300, 50); ++round) {
    std::stop_source stop;
    std::atomic<int> numStops{0};
    const std::stop_callback atStop(stop.get_token(), [&] { ++numStops; });
    std::vector<Future<int>> futures;
    for (int i = 0; i < 4; ++i) {
      futures.push_back(async([i]() -> int { return i % 2 == 0 ? i : throw std::runtime_error("x"); }));
    }
    EXPECT_THROW((void)whenAll(stop, futures).get(), std::runtime_error);
    EXPECT_EQ(numStops, 1);
    for (int i = 0; i < 4; ++i) {
      futures[static_cast<size_t>(i)] = async([i] { return i; });
    }
    std::vector<Future<int>> done = whenAll(std::stop_source(), futures).get();
    ASSERT_EQ(done.size(), 4u);
    EXPECT_EQ(done[3].get(), 3);
  }
}

TEST_P(WhenStopTest, FirstSuccessGivesTheFirstValueAndStopsTheOthers) {
  std::stop_source stop;
  EXPECT_EQ(firstSuccess(stop, untilStop(stop.get_token()),
                         makeExceptionalFuture<int>(std::runtime_error("x")), async([] { return 3; }))
                .get(),
            3);
  EXPECT_TRUE(stop.stop_requested());
  EXPECT_EQ(*firstSuccess(async([] { return std::make_unique<int>(4); })).get(), 4) << "moved";
  int target = 0;
  EXPECT_EQ(&firstSuccess(async([&]() -> int& { return target; })).get(), &target);
  firstSuccess(async([] {}), makeReadyFuture().share()).get();
}

TEST_P(WhenStopTest, FirstSuccessOfARangePassesFailuresOver) {
  std::vector<Promise<LiveObject>> promises(4);
  std::vector<Future<LiveObject>> futures;
  for (auto& promise : promises) {
    futures.push_back(promise.get_future());
  }
  Future<LiveObject> first = firstSuccess(futures);
  EXPECT_FALSE(futures[0].valid()) << "taken over";
  promises[0].set_exception(std::runtime_error("x"));
  promises[3].set_exception(std::runtime_error("y"));
  EXPECT_FALSE(first.ready());
  promises[2].set_value(LiveObject(2));
  EXPECT_TRUE(first.ready());
  promises[1].set_value(LiveObject(1));
  promises.clear();
  EXPECT_EQ(LiveObject::numAlive, 1) << "the result alone is kept";
  EXPECT_EQ(first.get().value, 2);
}

TEST_P(WhenStopTest, FirstSuccessFailsWithTheLastToFail) {
  std::stop_source stop;
  std::vector<Promise<int>> promises(3);
  std::vector<SharedFuture<int>> futures;
  for (auto& promise : promises) {
    futures.push_back(promise.get_future());
  }
  Future<int> first = firstSuccess(stop, futures.begin(), futures.end());
  promises[1].set_exception(std::runtime_error("x"));
  promises[2].set_exception(std::runtime_error("x"));
  EXPECT_FALSE(first.ready());
  promises[0].set_exception(std::logic_error("last"));
  EXPECT_THROW((void)first.get(), std::logic_error);
  EXPECT_FALSE(stop.stop_requested()) << "there is nobody left to stop";
  EXPECT_THROW((void)firstSuccess(std::vector<Future<int>>()).get(), std::invalid_argument);
}

TEST_P(WhenStopTest, OneOfManySuccessesIsFirst) {
  for (int round = 0; round < scaled(300, 50); ++round) {
    std::vector<Future<int>> futures;
    for (int i = 0; i < 4; ++i) {
      futures.push_back(async([i]() -> int { return i % 2 == 0 ? i : throw std::runtime_error("x"); }));
    }
    const int value = firstSuccess(futures).get();
    EXPECT_TRUE(value == 0 || value == 2);
    for (Future<int>& future : futures) {
      future = async([]() -> int { throw std::runtime_error("x"); });
    }
    EXPECT_TRUE(firstSuccess(futures).exception() != nullptr);
  }
}

// The examples of when.h.
struct Page {
  int number;
};
TEST_P(WhenStopTest, TheExampleOfFirstSuccessGivesAPage) {
  Future<Page> cached = makeExceptionalFuture<Page>(std::runtime_error("x"));
  Future<Page> fetched = async([] { return Page{2}; });
  weft::Future<Page> page = weft::firstSuccess(std::move(cached), std::move(fetched));
  EXPECT_EQ(page.get().number, 2);
}

int readA() { return 1; }
std::string readB() { return "b"; }

TEST_P(WhenStopTest, TheExampleOfWhenAllGivesBoth) {
  std::stop_source stop;
  auto a = weft::async(stop.get_token(), readA);
  auto both = weft::whenAll(stop, std::move(a), weft::async(stop.get_token(), readB));
  auto done = both.get();
  EXPECT_EQ(std::get<1>(done).get(), "b");
}

}  // namespace when_stop_test
}  // namespace weft
