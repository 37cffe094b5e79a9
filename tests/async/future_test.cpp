// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/future.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/event.h>
#include <weft/mutex.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "count_mallocs.h"
#include "live_objects.h"
#include "waiting.h"

namespace weft::future_test {
namespace {

using std::chrono::milliseconds;
using tests::awaitThat;
using tests::Crew;
using tests::Kind;
using tests::kKinds;
using tests::scaled;

static_assert(!std::is_copy_constructible_v<Future<int>> &&
              std::is_nothrow_move_constructible_v<Future<int>>);
static_assert(std::is_copy_constructible_v<SharedFuture<int>>);
static_assert(!std::is_copy_constructible_v<Promise<int>> && std::is_move_assignable_v<Promise<int>>);

// The examples of future.h.
struct Size {};
struct Image {
  Size size() const { return {}; }
};
struct Settings {};
struct Service {
  void start(const Settings&) {}
};
struct Reply {};
struct Connection {
  void onReply(auto f) { f(Reply()); }
};
Image load(int) { return {}; }
void print(Size) {}
Settings readSettings() { return {}; }

TEST(FutureExamplesTest, Run) {
  Scheduler scheduler(tests::smallConfig(2));
  Scheduler::Binding bound(scheduler);
  int path = 0;
  {
    weft::Future<Image> image = weft::async([=] { return load(path); });
    weft::Future<Size> size = image.then([](Image loaded) { return loaded.size(); });
    print(size.get());
  }
  std::vector<Service> services(3);
  {
    weft::SharedFuture<Settings> settings = weft::async(readSettings).share();
    for (Service& service : services) {
      weft::schedule([&service, settings] { service.start(settings.get()); });
    }
    settings.wait();
  }
  Connection connection;
  {
    weft::Promise<Reply> promise;
    weft::Future<Reply> reply = promise.get_future();
    connection.onReply([promise = std::move(promise)](Reply r) mutable { promise.set_value(std::move(r)); });
    reply.get();
  }
}

class FutureTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(FutureTest);

TEST_P(FutureTest, AsyncYieldsValuesReferencesAndNothing) {
  int target = 0;
  Future<int> value = async([] { return 7; });
  Future<int&> reference = async([&]() -> int& { return target; });
  Future<void> nothing = async([&] { target = 3; });
  nothing.get();
  EXPECT_EQ(value.get(), 7);
  EXPECT_EQ(&reference.get(), &target);
  EXPECT_EQ(target, 3);
}

TEST_P(FutureTest, AsyncTakesMoveOnlyFunctionsAndYieldsMoveOnlyResults) {
  auto in = std::make_unique<int>(5);
  Future<std::unique_ptr<int>> future = async([in = std::move(in)]() mutable { return std::move(in); });
  EXPECT_EQ(*future.get(), 5);
  EXPECT_EQ(async([] { return tests::LiveObject(4); }).get().value, 4);
  EXPECT_EQ(tests::LiveObject::numAlive, 0);
}

TEST_P(FutureTest, ATaskMayAwaitTasksItScheduledInAnyOrder) {
  const int sum = async([] {
                    std::vector<Future<int>> parts;
                    for (int i = 0; i < 100; ++i) {
                      parts.push_back(async([i] { return i; }));
                    }
                    int total = 0;
                    for (auto& part : parts) {
                      total += part.get();
                    }
                    return total;
                  }).get();
  EXPECT_EQ(sum, 4950);
}

int fibonacci(int n) {
  if (n < 2) {
    return n;
  }
  Future<int> left = async([n] { return fibonacci(n - 1); });
  const int right = fibonacci(n - 2);
  return left.get() + right;
}

TEST_P(FutureTest, RecursionThroughAsync) {
  EXPECT_EQ(async([] { return fibonacci(scaled(18, 12)); }).get(), scaled(2584, 144));
}

int depthOf(int n) {
  return n == 0 ? 0 : async([n] { return depthOf(n - 1); }).get() + 1;
}

TEST_P(FutureTest, NestedWaitsAHundredThousandDeep) {
  int depth = tests::kUnderTsan ? 2'000 : scaled(100'000, 20'000);
  EXPECT_EQ(async([depth] { return depthOf(depth); }).get(), depth);
}

TEST_P(FutureTest, ATaskThatIsAwaitedByItsParentRunsWithoutAnotherFiber) {
  if (tests::kUnderStress) {
    GTEST_SKIP() << "whether a task runs in place is drawn";
  }
  if (numWorkers() > 1) {
    return;  // a thief may take it
  }
  const auto [outer, inner] = async([] {
                                Fiber* here = detail::currentFiber;
                                return std::pair(here, async([] { return detail::currentFiber; }).get());
                              }).get();
  EXPECT_EQ(outer, inner);
}

TEST_P(FutureTest, ExceptionsArriveAtGet) {
  Future<int> future = async([]() -> int { throw std::runtime_error("broken"); });
  try {
    future.get();
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "broken");
  }
  EXPECT_FALSE(future.valid());
}

struct MoveOnlyError {
  explicit MoveOnlyError(int c) : code(std::make_unique<int>(c)) {}
  MoveOnlyError(MoveOnlyError&&) = default;
  // Exceptions have to be copyable for the compiler, not for anybody else.
  MoveOnlyError(const MoveOnlyError& other) : code(std::make_unique<int>(*other.code)) { ++numCopies; }
  static inline std::atomic<int> numCopies{0};
  std::unique_ptr<int> code;
};

TEST_P(FutureTest, ExceptionsAreNotCopied) {
  MoveOnlyError::numCopies = 0;
  Future<std::unique_ptr<int>> future = async([]() -> std::unique_ptr<int> { throw MoveOnlyError(6); });
  Future<std::unique_ptr<int>> next = future.then([](std::unique_ptr<int> p) { return p; });
  try {
    next.get();
    FAIL();
  } catch (const MoveOnlyError& error) {
    EXPECT_EQ(*error.code, 6);
  }
  EXPECT_EQ(MoveOnlyError::numCopies, 0);
}

TEST_P(FutureTest, ExceptionTellsWithoutThrowing) {
  Future<void> failed = async([] { throw std::runtime_error("broken"); });
  const std::exception_ptr exception = failed.exception();
  ASSERT_NE(exception, nullptr);
  EXPECT_THROW(std::rethrow_exception(exception), std::runtime_error);
  EXPECT_TRUE(failed.valid());
  EXPECT_THROW(failed.get(), std::runtime_error);
  Future<int> good = async([] { return 1; });
  EXPECT_EQ(good.exception(), nullptr);
  EXPECT_EQ(good.get(), 1);
}

TEST_P(FutureTest, AFunctionIsDestroyedBeforeItsFutureIsReady) {
  auto token = std::make_shared<int>(1);
  std::weak_ptr<int> watch = token;
  Future<void> future = async([token = std::move(token)] {});
  future.wait();
  EXPECT_TRUE(watch.expired());
}

TEST_P(FutureTest, WaitsOfEveryKindOfWaiterEnd) {
  for (const Kind kind : kKinds) {
    Promise<int> promise;
    SharedFuture<int> future = promise.get_future().share();
    std::atomic<int> numBegun{0};
    Crew crew(scheduler());
    for (int i = 0; i < 3; ++i) {
      crew.start(kind, [&, i] {
        ++numBegun;
        if (i == 0) {
          EXPECT_EQ(future.get(), 9);
        } else if (i == 1) {
          EXPECT_TRUE(future.wait_for(tests::kThreeHundredYears));
        } else {
          EXPECT_TRUE(future.wait(std::stop_source().get_token()));
        }
        EXPECT_TRUE(future.ready());
      });
    }
    awaitThat([&] { return numBegun == 3; });
    EXPECT_FALSE(future.ready());
    EXPECT_TRUE(promise.set_value(9));
  }
}

TEST_P(FutureTest, TimedWaitsTimeOutAndTheFutureGoesOn) {
  for (const Kind kind : kKinds) {
    Promise<int> promise;
    Future<int> future = promise.get_future();
    {
      Crew crew(scheduler());
      crew.start(kind, [&] {
        EXPECT_FALSE(future.wait_for(milliseconds(2)));
        EXPECT_FALSE(future.wait_for(milliseconds(-1)));
        EXPECT_FALSE(future.wait_until(std::chrono::system_clock::now() + milliseconds(1)));
        EXPECT_FALSE(future.wait_for(milliseconds(1), std::stop_source().get_token()));
      });
    }
    promise.set_value(1);
    EXPECT_TRUE(future.wait_for(milliseconds(0)));
    EXPECT_EQ(future.get(), 1);
  }
}

TEST_P(FutureTest, AStopWakesEveryWait) {
  for (const Kind kind : kKinds) {
    Promise<void> promise;
    SharedFuture<void> future = promise.get_future().share();
    std::stop_source stop;
    std::atomic<int> numBegun{0}, numStopped{0};
    Crew crew(scheduler());
    for (int i = 0; i < 3; ++i) {
      crew.start(kind, [&, i] {
        ++numBegun;
        const bool isReady = i == 0 ? future.wait(stop.get_token())
                             : i == 1
                                 ? future.wait_for(tests::kThreeHundredYears, stop.get_token())
                                 : future.wait_until(std::chrono::steady_clock::now() + std::chrono::hours(9),
                                                     stop.get_token());
        EXPECT_FALSE(isReady);
        ++numStopped;
      });
    }
    awaitThat([&] { return numBegun == 3; });
    stop.request_stop();
    awaitThat([&] { return numStopped == 3; });
    crew.join();
    EXPECT_FALSE(future.wait(stop.get_token()));
    promise.set_value();
    EXPECT_TRUE(future.wait(stop.get_token())) << "a future that is ready wins";
  }
}

TEST_P(FutureTest, OneOfSetStopAndTimeoutWins) {
  constexpr int kWaits = 3;
  const int rounds = scaled(3'000, 300);
  for (int i = 0; i < rounds; ++i) {
    Promise<int> promise;
    SharedFuture<int> future = promise.get_future().share();
    std::stop_source stop;
    std::atomic<int> numWinners{0};
    Crew crew(scheduler());
    crew.start(Kind::Task, [&] {
      for (int wait = 0; wait < kWaits; ++wait) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(i % 50);
        if (future.wait_until(deadline, stop.get_token())) {
          numWinners += future.ready() ? 1 : 0;
        } else {
          numWinners += stop.stop_requested() || std::chrono::steady_clock::now() >= deadline ? 1 : 0;
        }
      }
      EXPECT_EQ(future.get(), i);
    });
    crew.start(Kind::Task, [&] { EXPECT_EQ(future.get(), i); });
    crew.start(Kind::Task, [&] { stop.request_stop(); });
    crew.start(Kind::Task, [&] { promise.set_value(i); });
    crew.join();
    EXPECT_EQ(numWinners, kWaits) << "one for each wait";
  }
}

TEST_P(FutureTest, ManyMayWaitForOneSharedFuture) {
  const int numWaiters = tests::kUnderTsan || tests::kUnderAsan ? 1'000 : 10'000;
  Promise<std::string> promise;
  SharedFuture<std::string> future = promise.get_future().share();
  WaitGroup done(static_cast<unsigned>(numWaiters));
  std::atomic<int> numRight{0};
  for (int i = 0; i < numWaiters; ++i) {
    schedule([&, future, done] {
      numRight += future.get() == "x" ? 1 : 0;
      done.done();
    });
  }
  schedule([&] { promise.set_value("x"); });
  done.wait();
  EXPECT_EQ(numRight, numWaiters);
}

TEST_P(FutureTest, AFutureMayGoWhileItsTaskRuns) {
  Event begun, goOn;
  std::atomic<bool> hasEnded{false};
  {
    Future<void> future = async([&, begun, goOn] {
      begun.signal();
      goOn.wait();
      hasEnded = true;
    });
    begun.wait();
  }
  goOn.signal();
  destroyScheduler();
  EXPECT_TRUE(hasEnded);
}

TEST_P(FutureTest, TheStateMayGoAsSoonAsTheWaitIsBack) {
  int rounds = scaled(20'000, 1'000);
  async([rounds] {
    for (int i = 0; i < rounds; ++i) {
      auto promise = std::make_unique<Promise<int>>();
      Future<int> future = promise->get_future();
      schedule([&promise, i] { promise->set_value(i); });
      EXPECT_EQ(future.get(), i);
      promise.reset();
    }
  }).get();
}

TEST_P(FutureTest, AMutexMayBeHeldAcrossGet) {
  mutex guard;
  int counter = 0;
  std::vector<Future<void>> tasks;
  for (int i = 0; i < 100; ++i) {
    tasks.push_back(async([&] {
      lock held(guard);
      counter += async([] { return 1; }).get();
    }));
  }
  for (auto& task : tasks) {
    task.get();
  }
  EXPECT_EQ(counter, 100);
}

TEST_P(FutureTest, ATaskThatIsStoppedBeforeItBeginsDoesNotRun) {
  std::stop_source stop;
  stop.request_stop();
  bool hasRun = false;
  Future<int> future = async(stop.get_token(), [&] {
    hasRun = true;
    return 1;
  });
  EXPECT_THROW(future.get(), TaskCanceled);
  EXPECT_FALSE(hasRun);
}

TEST_P(FutureTest, ATaskMayTakeItsToken) {
  std::stop_source stop;
  Event begun;
  Future<int> future = async(stop.get_token(), [begun](std::stop_token token) {
    begun.signal();
    while (!token.stop_requested()) {
      yield();
    }
    interruptionPoint(token);
    return 1;
  });
  begun.wait();
  stop.request_stop();
  EXPECT_THROW(future.get(), TaskCanceled);
  EXPECT_EQ(async(scheduler(), std::stop_token(), [](const std::stop_token&) { return 2; }).get(), 2);
}

TEST_P(FutureTest, AFutureOfAFutureIsUnwrapped) {
  Future<int> value = async([] { return async([] { return async([] { return 8; }); }); });
  EXPECT_EQ(value.get(), 8);
  Promise<int&> promise;
  int target = 0;
  Future<int&> reference = async([&] { return promise.get_future(); });
  schedule([&] { promise.set_value(target); });
  EXPECT_EQ(&reference.get(), &target);
  Future<int> failed = async([] { return makeExceptionalFuture<int>(std::runtime_error("inner")); });
  EXPECT_THROW(failed.get(), std::runtime_error);
  Future<int> failedOutside = async([]() -> Future<int> { throw std::logic_error("outer"); });
  EXPECT_THROW(failedOutside.get(), std::logic_error);
  Future<std::string> shared = async([] { return makeReadyFuture(std::string("s")).share(); });
  EXPECT_EQ(shared.get(), "s");
  EXPECT_THROW(async([] { return Future<int>(); }).get(), BrokenPromise);
}

TEST_P(FutureTest, SharedFuturesAreReadAnyNumberOfTimes) {
  SharedFuture<std::unique_ptr<int>> future = async([] { return std::make_unique<int>(3); }).share();
  const SharedFuture<std::unique_ptr<int>> copy = future;
  EXPECT_EQ(*future.get(), 3);
  EXPECT_EQ(&future.get(), &copy.get());
  int target = 0;
  SharedFuture<int&> reference = async([&]() -> int& { return target; }).share();
  EXPECT_EQ(&reference.get(), &target);
  EXPECT_EQ(&reference.get(), &target);
  SharedFuture<void> failed = async([] { throw std::runtime_error("twice"); }).share();
  EXPECT_THROW(failed.get(), std::runtime_error);
  EXPECT_THROW(failed.get(), std::runtime_error);
}

TEST(UnboundFutureTest, TheFirstSetOfAPromiseWins) {
  Promise<int> promise;
  Future<int> future = promise.get_future();
  EXPECT_TRUE(promise.set_value(1));
  EXPECT_FALSE(promise.set_value(2));
  EXPECT_FALSE(promise.set_exception(std::runtime_error("late")));
  EXPECT_EQ(future.get(), 1);
  Promise<void> failed;
  EXPECT_TRUE(failed.set_exception(std::make_exception_ptr(std::logic_error("first"))));
  EXPECT_FALSE(failed.set_value());
  EXPECT_THROW(failed.get_future().get(), std::logic_error);
}

TEST(UnboundFutureTest, OneOfSeveralSettersWins) {
  for (int i = 0; i < scaled(2'000, 200); ++i) {
    Promise<int> promise;
    Future<int> future = promise.get_future();
    std::atomic<int> numWon{0}, winner{-1};
    std::vector<std::thread> setters;
    for (int self = 0; self < 3; ++self) {
      setters.emplace_back([&, self] {
        if (promise.set_value(self)) {
          ++numWon;
          winner = self;
        }
      });
    }
    const int value = future.get();
    for (auto& setter : setters) {
      setter.join();
    }
    EXPECT_EQ(numWon, 1);
    EXPECT_EQ(value, winner);
  }
}

TEST(UnboundFutureTest, APromiseThatIsDestroyedUnsetIsBroken) {
  Future<int> future;
  {
    Promise<int> promise;
    future = promise.get_future();
  }
  EXPECT_TRUE(future.ready());
  try {
    future.get();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const BrokenPromise& error) {
    EXPECT_STREQ(error.what(),
                 "weft::BrokenPromise: the promise of this future was destroyed before it was set");
  }
  Promise<void> replaced;
  Future<void> first = replaced.get_future();
  replaced = Promise<void>();
  EXPECT_THROW(first.get(), BrokenPromise);
}

TEST(UnboundFutureTest, PromisesTakeReferencesMoveOnlyValuesAndConversions) {
  int target = 0;
  Promise<int&> reference;
  reference.set_value(target);
  EXPECT_EQ(&reference.get_future().get(), &target);
  Promise<std::unique_ptr<int>> owner;
  owner.set_value(std::make_unique<int>(2));
  EXPECT_EQ(*owner.get_future().get(), 2);
  Promise<std::string> text;
  text.set_value("abc");
  EXPECT_EQ(text.get_future().get(), "abc");
}

TEST(UnboundFutureTest, AValueWhoseCopyThrowsGivesItsException) {
  struct Throws {
    Throws() = default;
    Throws(const Throws&) { throw std::runtime_error("copy"); }
  };
  Promise<Throws> promise;
  const Throws value;
  EXPECT_TRUE(promise.set_value(value));
  EXPECT_THROW(promise.get_future().get(), std::runtime_error);
}

TEST(UnboundFutureTest, FuturesThatAreReadyFromTheStart) {
  EXPECT_EQ(makeReadyFuture(4).get(), 4);
  makeReadyFuture().get();
  const std::string text = "abc";
  Future<std::string> copied = makeReadyFuture(text);
  EXPECT_TRUE(copied.ready());
  EXPECT_EQ(copied.get(), "abc");
  EXPECT_THROW(makeExceptionalFuture<int>(std::runtime_error("x")).get(), std::runtime_error);
  EXPECT_THROW(makeExceptionalFuture<void>(std::make_exception_ptr(1)).get(), int);
}

TEST(UnboundFutureTest, AReadyFutureOfAReference) {
  int target = 0;
  Future<int&> reference = makeReadyFuture(std::ref(target));
  EXPECT_EQ(&reference.get(), &target);
  Future<const int&> constant = makeReadyFuture(std::cref(target));
  EXPECT_EQ(&constant.get(), &target);
}

TEST(UnboundFutureTest, FailedTellsWithoutWaiting) {
  Promise<int> promise;
  SharedFuture<int> future = promise.get_future();
  EXPECT_FALSE(future.failed()) << "it is not ready";
  promise.set_exception(std::runtime_error("x"));
  EXPECT_TRUE(future.failed());
  EXPECT_TRUE(future.failed());
  EXPECT_THROW(future.get(), std::runtime_error);
  EXPECT_TRUE(future.failed());
  EXPECT_FALSE(makeReadyFuture(1).failed());
  EXPECT_TRUE(makeExceptionalFuture<void>(std::make_exception_ptr(1)).failed());
}

// What is kept is the exception itself, not the part that a base class names.
TEST(UnboundFutureTest, ExceptionsKeepTheirType) {
  struct Final final : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  const Final last("final");
  EXPECT_THROW(makeExceptionalFuture<int>(last).get(), Final);
  Promise<int> promise;
  try {
    throw std::out_of_range("derived");
  } catch (const std::exception&) {
    promise.set_exception(std::current_exception());
  }
  EXPECT_THROW(promise.get_future().get(), std::out_of_range);
}

TEST(UnboundFutureTest, ValidIsFalseOnceTheResultHasBeenHandedOver) {
  Future<int> future;
  EXPECT_FALSE(future.valid());
  future = makeReadyFuture(1);
  EXPECT_TRUE(future.valid());
  Future<int> other = std::move(future);
  EXPECT_FALSE(future.valid());
  other.get();
  EXPECT_FALSE(other.valid());
  Future<int> shared = makeReadyFuture(1);
  SharedFuture<int> copy = shared.share();
  EXPECT_FALSE(shared.valid());
  EXPECT_TRUE(copy.valid());
  EXPECT_EQ(copy.get(), 1);
  EXPECT_TRUE(copy.valid());
}

TEST(UnboundFutureTest, OverAlignedAndLargeResultsAndFunctions) {
  struct alignas(256) Wide {
    char bytes[512] = {7};
  };
  Wide wide;
  Future<Wide> future = async(inlineExecutor(), [wide] {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(&wide) % 256, 0u);
    return wide;
  });
  EXPECT_EQ(future.get().bytes[0], 7);
}

TEST(UnboundFutureTest, OneAllocationAnAsync) {
  if (!tests::kCountsMallocs) {
    return;
  }
  Scheduler scheduler(tests::smallConfig(1));
  Scheduler::Binding bound(scheduler);
  uint64_t small = 0, large = 0;
  async([&] {
    struct Large {
      char bytes[500] = {};
    };
    const auto run = [](int rounds) {
      for (int i = 0; i < rounds; ++i) {
        async([i] { return i; }).get();
        async([] { return 1; }).then([](int n) { return n; }).get();
      }
    };
    run(1'000);
    uint64_t before = tests::numMallocs();
    run(10'000);
    small = tests::numMallocs() - before;
    before = tests::numMallocs();
    for (int i = 0; i < 1'000; ++i) {
      async([large = Large()] { return large.bytes[0]; }).get();
    }
    large = tests::numMallocs() - before;
  }).get();
  EXPECT_EQ(small, 0u) << "small states are pooled";
  EXPECT_EQ(large, 1'000u) << "a state that does not fit a node is one allocation";
}

using FutureDeathTest = tests::DeathTest;

TEST_F(FutureDeathTest, GetTwice) {
  EXPECT_DEATH(
      {
        Future<int> future = makeReadyFuture(1);
        future.get();
        future.get();
      },
      "weft: fatal: get\\(\\) of a Future without state.*called already.*share\\(\\)");
}

TEST_F(FutureDeathTest, AnEmptyFuture) {
  EXPECT_DEATH(Future<int>().wait(), "weft: fatal: wait\\(\\) of a Future without state");
  EXPECT_DEATH((void)Future<int>().failed(), "weft: fatal: failed\\(\\) of a Future without state");
  EXPECT_DEATH((void)Future<int>().ready(), "weft: fatal: ready\\(\\) of a Future without state");
  EXPECT_DEATH((void)Future<int>().then([](int) {}), "weft: fatal: then\\(\\) of a Future without state");
  EXPECT_DEATH((void)Future<int>().share(), "weft: fatal: share\\(\\) of a Future without state");
  EXPECT_DEATH(SharedFuture<int>().get(), "weft: fatal: get\\(\\) of a Future without state");
  EXPECT_DEATH((void)whenAll(Future<int>()), "weft: fatal: whenAll\\(\\) of a Future without state");
}

TEST_F(FutureDeathTest, NullExceptions) {
  EXPECT_DEATH((void)makeExceptionalFuture<int>(std::exception_ptr()), "weft: fatal: .*null exception");
  EXPECT_DEATH(Promise<int>().set_exception(std::exception_ptr()), "weft: fatal: .*null exception");
}

TEST_F(FutureDeathTest, AFunctionThatReturnsTheFutureOfItsOwnResult) {
  EXPECT_DEATH(
      {
        Promise<void> promise;
        SharedFuture<int> own;
        own = promise.get_future().then(inlineExecutor(), [&] { return own; });
        promise.set_value();
      },
      "weft: fatal: a function that was given to async\\(\\), then\\(\\) or recover\\(\\) returned the "
      "future of its own "
      "result");
}

TEST_F(FutureDeathTest, MisusedPromises) {
  EXPECT_DEATH(
      {
        Promise<int> promise;
        (void)promise.get_future();
        (void)promise.get_future();
      },
      "weft: fatal: Promise::get_future\\(\\) was called twice.*share");
  EXPECT_DEATH(
      {
        Promise<int> promise;
        Promise<int> other = std::move(promise);
        promise.set_value(1);
      },
      "weft: fatal: Promise::set_value.*moved from");
}

}  // namespace
}  // namespace weft::future_test
