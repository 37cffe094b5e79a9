// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <iterator>
#include <list>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/fiber.h>
#include <weft/future.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "waiting.h"

// whenAll() and whenAny().
namespace weft {
namespace {

using tests::scaled;

class WhenTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(WhenTest);

TEST_P(WhenTest, AllOfARangeInItsOrder) {
  std::vector<Future<int>> futures;
  for (int i = 0; i < 50; ++i) {
    futures.push_back(async([i] { return i; }));
  }
  std::vector<Future<int>> done = whenAll(futures).get();
  ASSERT_EQ(done.size(), 50u);
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(done[static_cast<size_t>(i)].ready());
    EXPECT_EQ(done[static_cast<size_t>(i)].get(), i);
  }
  EXPECT_FALSE(futures[0].valid()) << "they were taken over";
  std::list<Future<void>> list;
  list.push_back(async([] {}));
  EXPECT_EQ(whenAll(list.begin(), list.end()).get().size(), 1u);
}

// An iterator that can be moved only, over a range that another type ends, and that makes its elements.
class Started {
 public:
  struct End {
    int count;
  };
  struct Iterator {
    using value_type = Future<int>;
    using difference_type = std::ptrdiff_t;

    explicit Iterator(int first) : at(first) {}
    Iterator(Iterator&&) = default;
    Iterator& operator=(Iterator&&) = default;
    Future<int> operator*() const {
      return async([number = at] { return number; });
    }
    Iterator& operator++() {
      ++at;
      return *this;
    }
    void operator++(int) { ++at; }
    friend bool operator==(const Iterator& self, End end) { return self.at == end.count; }

    int at;
  };

  explicit Started(int count) : count_(count) {}
  Iterator begin() const { return Iterator(0); }
  End end() const { return {count_}; }

 private:
  int count_;
};

TEST_P(WhenTest, RangesMayEndWithASentinel) {
  std::vector<Future<int>> done = whenAll(Started(3)).get();
  ASSERT_EQ(done.size(), 3u);
  EXPECT_EQ(done[0].get() + done[1].get() + done[2].get(), 0 + 1 + 2);
  EXPECT_EQ(whenAll(Started::Iterator(1), Started::End{3}).get().size(), 2u);
  EXPECT_EQ(whenAny(Started(3)).get().futures.size(), 3u);
  EXPECT_EQ(whenAny(Started::Iterator(1), Started::End{3}).get().futures.size(), 2u);
  std::vector<Future<int>> futures;
  futures.push_back(async([] { return 7; }));
  futures.emplace_back();
  auto first = whenAll(std::counted_iterator(futures.begin(), 1), std::default_sentinel).get();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].get(), 7);
}

TEST_P(WhenTest, AllOfAPackOfDifferentTypes) {
  SharedFuture<int> shared = async([] { return 1; }).share();
  auto done = whenAll(async([] { return std::string("a"); }), shared, async([] {})).get();
  EXPECT_EQ(std::get<0>(done).get(), "a");
  EXPECT_EQ(std::get<1>(done).get(), 1);
  std::get<2>(done).get();
  EXPECT_TRUE(shared.valid()) << "shared ones are copied";
}

TEST_P(WhenTest, AnErrorOfOneStaysInItsFuture) {
  auto done = whenAll(async([]() -> int { throw std::runtime_error("x"); }), async([] { return 2; })).get();
  EXPECT_THROW(std::get<0>(done).get(), std::runtime_error);
  EXPECT_EQ(std::get<1>(done).get(), 2);
}

TEST_P(WhenTest, AnyTellsWhichWasFirst) {
  std::vector<Promise<int>> promises(5);
  std::vector<Future<int>> futures;
  for (auto& promise : promises) {
    futures.push_back(promise.get_future());
  }
  auto any = whenAny(futures.begin(), futures.end());
  EXPECT_FALSE(any.ready());
  promises[3].set_value(33);
  auto result = any.get();
  EXPECT_EQ(result.index, 3u);
  EXPECT_EQ(result.futures[3].get(), 33);
  EXPECT_FALSE(result.futures[0].ready());
  promises[0].set_value(30);
  EXPECT_EQ(result.futures[0].get(), 30) << "the others go on";
}

TEST_P(WhenTest, AnyOfAPack) {
  Promise<std::string> never;
  auto result = whenAny(never.get_future(), async([] { return 4; })).get();
  EXPECT_EQ(result.index, 1u);
  EXPECT_EQ(std::get<1>(result.futures).get(), 4);
  auto ready = whenAny(makeReadyFuture(1), makeReadyFuture(2)).get();
  EXPECT_EQ(ready.index, 0u) << "of several that are ready, the first";
}

TEST_P(WhenTest, NoneAreReadyAtOnce) {
  EXPECT_TRUE(whenAll(std::vector<Future<int>>()).get().empty());
  EXPECT_EQ(whenAll().get(), std::tuple<>());
  const auto any = whenAny(std::vector<Future<int>>()).get();
  EXPECT_EQ(any.index, any.kNone);
  EXPECT_TRUE(any.futures.empty());
}

TEST_P(WhenTest, TheFuturesMayGoWhileAnyIsAwaited) {
  Promise<int> late;
  {
    auto any = whenAny(late.get_future(), makeReadyFuture(1)).get();
    EXPECT_EQ(any.index, 1u);
  }
  EXPECT_TRUE(late.set_value(2));
  Promise<int> broken;
  auto dropped = whenAll(broken.get_future(), makeReadyFuture(1));
  dropped = {};
}

TEST_P(WhenTest, OneOfManySettersIsFirst) {
  for (int round = 0; round < scaled(500, 50); ++round) {
    std::vector<Promise<int>> promises(4);
    std::vector<Future<int>> futures;
    for (auto& promise : promises) {
      futures.push_back(promise.get_future());
    }
    for (auto& promise : promises) {
      schedule([&promise] { promise.set_value(1); });
    }
    auto result = whenAny(futures).get();
    ASSERT_LT(result.index, 4u);
    EXPECT_TRUE(result.futures[result.index].ready());
    EXPECT_EQ(whenAll(result.futures).get().size(), 4u)
        << "the promises are not destroyed before they are set";
  }
}

// Among continuations, that stay: from the front, the end and the middle.
TEST_P(WhenTest, ThoseThatLoseLeaveTheOthersInTheirPlaces) {
  Promise<int> late;
  SharedFuture<int> shared = late.get_future();
  constexpr size_t kAnys = 6, kLeft = 3;
  std::vector<Promise<int>> first(kAnys);
  std::vector<Future<WhenAnyResult<std::tuple<SharedFuture<int>, Future<int>>>>> anys;
  std::vector<int> order;
  for (size_t i = 0; i < kAnys; ++i) {
    anys.push_back(whenAny(shared, first[i].get_future()));
    if (i % 2 == 0) {
      (void)shared.then(inlineExecutor(), [&order, i] { order.push_back(static_cast<int>(i)); });
    }
  }
  for (const size_t i : {size_t{0}, kAnys - 1, size_t{2}, size_t{4}, size_t{1}}) {
    EXPECT_TRUE(first[i].set_value(1));
    EXPECT_EQ(anys[i].get().index, 1u);
  }
  late.set_value(2);
  EXPECT_EQ(anys[kLeft].get().index, 0u);
  EXPECT_EQ(order, (std::vector<int>{0, 2, 4}));
}

TEST_P(WhenTest, AFutureGetsReadyInTheMidstOfManyWhoLoseIt) {
  for (int round = 0; round < scaled(20, 3); ++round) {
    Promise<int> stop;
    SharedFuture<int> stopped = stop.get_future();
    constexpr unsigned kTasks = 8;
    WaitGroup begun(kTasks), done(kTasks);
    for (unsigned i = 0; i < kTasks; ++i) {
      schedule([=] {
        bool isOver = false;
        for (int step = 0; !isOver; ++step) {
          isOver = whenAny(stopped, async([] {})).get().index == 0;
          if (step == 20) {
            begun.done();
          }
          yield();
        }
        done.done();
      });
    }
    begun.wait();
    stop.set_value(1);
    done.wait();
  }
}

TEST_P(WhenTest, ContinuationsOfWhenAll) {
  Future<int> sum = whenAll(async([] { return 1; }), async([] { return 2; })).then([](auto futures) {
    return std::get<0>(futures).get() + std::get<1>(futures).get();
  });
  EXPECT_EQ(sum.get(), 3);
}

// The examples of when.h.
struct Page {
  size_t size;
};
Page fetch(const std::string& address) { return {address.size()}; }

TEST_P(WhenTest, AllPagesOfTheExample) {
  const std::vector<std::string> addresses{"a", "bc", "def"};
  size_t sizes = 0;
  const auto show = [&sizes](Page page) { sizes = sizes * 10 + page.size; };
  std::vector<weft::Future<Page>> pages;
  for (const std::string& address : addresses) {
    pages.push_back(weft::async([address] { return fetch(address); }));
  }
  for (weft::Future<Page>& page : weft::whenAll(pages).get()) {
    show(page.get());
  }
  EXPECT_EQ(sizes, 123u);
}

TEST_P(WhenTest, AnyOfTheExampleIsTheOneThatIsReady) {
  size_t sizes = 0;
  const auto show = [&sizes](Page page) { sizes = page.size; };
  Promise<Page> never;
  Future<Page> cached = never.get_future();
  Future<Page> fetched = async([] { return fetch("address"); });
  auto first = weft::whenAny(std::move(cached), std::move(fetched)).get();
  show(first.index == 0 ? std::get<0>(first.futures).get() : std::get<1>(first.futures).get());
  EXPECT_EQ(sizes, 7u);
}

}  // namespace
}  // namespace weft
