// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/future/on_ready.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <weft/channel.h>
#include <weft/event.h>
#include <weft/future.h>
#include <weft/scheduler.h>
#include <weft/semaphore.h>

#include "count_mallocs.h"
#include "live_objects.h"
#include "waiting.h"
#include "while_linking.h"

namespace weft {
namespace {
namespace on_ready_test {

using std::chrono::microseconds;
using tests::awaitThat;
using tests::Crew;
using tests::Kind;
using tests::kKinds;
using tests::LiveObject;
using tests::numWaiting;
using tests::scaled;

class OnReadyTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(OnReadyTest);

class UnboundOnReadyTest : public tests::WithAllocator {};

TEST_F(UnboundOnReadyTest, AFutureThatIsReadyHappensAtOnce) {
  Promise<int> never;
  Future<int> pending = never.get_future(), ready = makeReadyFuture(7);
  int value = 0;
  EXPECT_EQ(select(onReady(pending), onReady(ready, [&](Future<int>& it) { value = it.get(); })), 1u);
  EXPECT_EQ(value, 7);
  EXPECT_FALSE(ready.valid());
  EXPECT_EQ(select(onReady(pending), otherwise()), 1u);
  EXPECT_TRUE(pending.valid());
}

TEST_F(UnboundOnReadyTest, AnExceptionAndABrokenPromiseAreReady) {
  Future<void> failed = makeExceptionalFuture<void>(std::make_exception_ptr(std::runtime_error("failed")));
  EXPECT_EQ(select(onReady(failed, [](auto& it) { EXPECT_THROW(it.get(), std::runtime_error); })), 0u);
  Future<int> broken = Promise<int>().get_future();
  EXPECT_EQ(select(onReady(broken)), 0u);
  EXPECT_THROW(broken.get(), BrokenPromise);
}

TEST_F(UnboundOnReadyTest, ASharedFutureMayBeSelectedAgainAndAgain) {
  const SharedFuture<std::string> shared = makeReadyFuture<std::string>("text").share();
  std::string texts;
  for (int i = 0; i < 2; ++i) {
    select(onReady(shared, [&](const SharedFuture<std::string>& it) { texts += it.get(); }));
    select(onReady(shared, [&](SharedFuture<std::string> it) { texts += it.get(); }));
  }
  EXPECT_EQ(texts, "texttexttexttext");
}

TEST_F(UnboundOnReadyTest, EachOfSeveralThatCanHappenDoes) {
  std::array<int, 4> numChosen{};
  Future<int> first = makeReadyFuture(1), second = makeReadyFuture(2);
  for (int i = 0; i < 400; ++i) {
    const Semaphore semaphore(1);
    const Event event(Event::Mode::Auto, true);
    const size_t chosen = select(onReady(first), onAcquire(semaphore), onReady(second), onSignal(event));
    ++numChosen[chosen];
    EXPECT_EQ(semaphore.try_acquire(), chosen != 1);
    EXPECT_EQ(event.isSignalled(), chosen != 3);
  }
  for (const int each : numChosen) {
    EXPECT_GT(each, 10);
  }
  EXPECT_EQ(first.get() + second.get(), 3);
}

TEST_F(UnboundOnReadyTest, ATimeEndsTheWaitAndLeavesNothing) {
  Promise<LiveObject> promise;
  {
    Future<LiveObject> future = promise.get_future();
    EXPECT_EQ(select(onReady(future), onTimeout(microseconds(100)), onReady(future)), 1u);
    promise.set_value(LiveObject(5));
    EXPECT_EQ(select(onReady(future, [](auto& it) { EXPECT_EQ(it.get().value, 5); })), 0u);
  }
  EXPECT_EQ(LiveObject::numAlive, 0);
}

// Waits in vain for `future`, with longer and longer limits until one leaves the time to link the case.
void waitInVain(const Future<int>& future) {
  bool isLinked = false;
  for (microseconds limit(1); !isLinked; limit *= 2) {
    const auto noteLink = [&] { isLinked = true; };
    EXPECT_EQ(select(onReady(future), tests::WhileLinking(noteLink), onTimeout(limit)), 2u);
  }
}

TEST_F(UnboundOnReadyTest, AWaitThatTimesOutAgainAllocatesNothing) {
  Promise<int> promise;
  Future<int> future = promise.get_future();
  std::vector<AnyCase> cases;
  cases.emplace_back(onReady(future));
  waitInVain(future);  // makes the room where listeners may leave
  const uint64_t before = tests::numMallocs();
  for (int i = 0; i < 20; ++i) {
    waitInVain(future);
  }
  promise.set_value(1);
  EXPECT_EQ(select(cases), 0u);
  EXPECT_EQ(tests::numMallocs(), before);
}

TEST_F(UnboundOnReadyTest, ClaimedWhileItLinksAnotherCaseDoesNotHappen) {
  bool wasPermit = false, wasFuture = false;
  // A select begins to link with a random case.
  while (!wasPermit || !wasFuture) {
    const Semaphore semaphore(0);
    Promise<int> promise, never;
    Future<int> future = promise.get_future(), pending = never.get_future();
    const auto settle = [&] {
      semaphore.release();
      promise.set_value(1);
    };
    const size_t chosen =
        select(onAcquire(semaphore), tests::WhileLinking(settle), onReady(future), onReady(pending));
    ASSERT_TRUE(chosen == 0 || chosen == 2);
    (chosen == 0 ? wasPermit : wasFuture) = true;
    EXPECT_EQ(semaphore.try_acquire(), chosen == 2);
    EXPECT_EQ(future.get(), 1);
  }
}

TEST_F(UnboundOnReadyTest, AFutureThatBecomesReadyWhileItLinksHappens) {
  const Semaphore semaphore(0);
  Promise<int> promise;
  Future<int> future = promise.get_future();
  EXPECT_EQ(select(onAcquire(semaphore), tests::WhileLinking([&] { promise.set_value(1); }), onReady(future)),
            2u);
  EXPECT_EQ(numWaiting(semaphore), 0);
}

// How a promise is settled, and what its future has then.
struct Settle {
  const char* what;
  std::function<void(Promise<int>)> settle;
};
const Settle kSettles[] = {
    {"value", [](Promise<int> promise) { promise.set_value(7); }},
    {"exception",
     [](Promise<int> promise) {
       // Kept, since ThreadSanitizer does not see how libstdc++ counts who has an exception.
       static const std::exception_ptr error = std::make_exception_ptr(std::runtime_error("exception"));
       promise.set_exception(error);
     }},
    {"broken", [](const Promise<int>&) {}},
};

std::string outcomeOf(Future<int>& future) {
  try {
    return future.get() == 7 ? "value" : "another value";
  } catch (const BrokenPromise&) {
    return "broken";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST_P(OnReadyTest, AnyOutcomeEndsTheWait) {
  for (Kind kind : kKinds) {
    for (const Settle& settle : kSettles) {
      Promise<int> promise, never;
      const Channel<int> channel;
      const Semaphore semaphore(0);
      std::string outcome;
      Crew crew(scheduler());
      crew.start(kind, [&, future = std::make_shared<Future<int>>(promise.get_future()),
                        other = std::make_shared<Future<int>>(never.get_future())] {
        EXPECT_EQ(select(onReceive(channel, [](std::optional<int>) {}), onReady(*other), onAcquire(semaphore),
                         onReady(*future, [&](Future<int>& it) { outcome = outcomeOf(it); })),
                  3u);
      });
      awaitThat([&] { return numWaiting(semaphore) == 1; });
      settle.settle(std::move(promise));
      crew.join();
      EXPECT_EQ(outcome, settle.what);
      EXPECT_EQ(numWaiting(semaphore), 0);
    }
  }
}

TEST_P(OnReadyTest, AResultThatComesTooLateForItStays) {
  for (Kind kind : kKinds) {
    Promise<int> promise;
    Future<int> future = promise.get_future();
    const Event event;
    Crew crew(scheduler());
    crew.start(kind, [&] { EXPECT_EQ(select(onReady(future), onSignal(event)), 1u); });
    awaitThat([&] { return numWaiting(event) == 1; });
    event.signal();
    promise.set_value(3);
    crew.join();
    EXPECT_EQ(future.get(), 3);
  }
}

TEST_P(OnReadyTest, AllWhoWaitForASharedFutureAreWoken) {
  constexpr int kWaiters = 12;
  const int rounds = scaled(50, 10);
  for (int round = 0; round < rounds; ++round) {
    Promise<int> promise;
    const SharedFuture<int> shared = promise.get_future().share();
    const Semaphore semaphore(0);
    std::atomic<int> numReady{0}, numStarted{0};
    Crew crew(scheduler());
    for (int i = 0; i < kWaiters; ++i) {
      crew.start(tests::kindOf(i), [&, i, shared] {
        ++numStarted;
        if (i % 4 == 3) {
          shared.wait();
        } else if (i % 4 == 2) {
          EXPECT_TRUE(shared.wait_for(std::chrono::hours(1)));
        } else {
          EXPECT_NE(select(onReady(shared), onAcquire(semaphore), onReady(shared)), 1u);
        }
        numReady += shared.ready() ? 1 : 0;
      });
    }
    awaitThat([&] { return numStarted >= round % (kWaiters + 1); });
    promise.set_value(1);
    crew.join();
    EXPECT_EQ(numReady, kWaiters);
    EXPECT_EQ(numWaiting(semaphore), 0);
  }
}

// For a single wait.
struct OnReadyGate {
  void wait() { EXPECT_EQ(select(onAcquire(semaphore), onReady(future)), 1u); }
  void wakeOne() { Promise<int>(std::move(promise)).set_value(1); }
  Semaphore semaphore{0, tests::heap()};
  Promise<int> promise;
  Future<int> future{promise.get_future()};
};

TEST_P(OnReadyTest, TheFutureMayBeDestroyedAsSoonAsItReturns) {
  tests::destroyAtOnce<OnReadyGate>(scheduler(), numWorkers(), 4);
}

// The waits end by a result, by a permit or by the time, which all come at once; no result or permit is lost.
TEST_P(OnReadyTest, ResultsPermitsAndTimesRace) {
  const int rounds = scaled(500, 100);
  for (Kind kind : kKinds) {
    const Semaphore semaphore(0, tests::heap());
    const Channel<Promise<int>> promises(1);
    int numPermits = 0;
    Crew crew(scheduler());
    crew.start(kind, [&] {
      for (int i = 0; i < rounds; ++i) {
        Promise<int> promise;
        Future<int> future = promise.get_future();
        promises.send(std::move(promise));
        const size_t chosen = select(onReady(future), onAcquire(semaphore), onTimeout(microseconds(i % 30)));
        numPermits += chosen == 1 ? 1 : 0;
        if (i % 2 == 0) {
          EXPECT_EQ(future.get(), i);
        }
      }
      promises.close();
    });
    crew.start(Kind::FreeThread, [&] {
      for (int i = 0; std::optional<Promise<int>> promise = promises.receive(); ++i) {
        if (i % 3 == 0) {
          semaphore.release();
        }
        promise->set_value(i);
        if (i % 3 == 1) {
          semaphore.release();
        }
      }
    });
    crew.join();
    for (; semaphore.try_acquire(); ++numPermits) {
    }
    EXPECT_EQ(numPermits, (rounds + 2) / 3 + (rounds + 1) / 3);
  }
}

TEST_P(OnReadyTest, AListOfTasksEndsOneByOne) {
  constexpr int kTasks = 20;
  std::vector<Future<int>> futures;
  for (int i = 0; i < kTasks; ++i) {
    futures.push_back(async([i] {
      yield();
      return i;
    }));
  }
  int sum = 0;
  std::vector<AnyCase> cases;
  for (Future<int>& future : futures) {
    cases.emplace_back(onReady(future, [&](Future<int>& it) { sum += it.get(); }));
  }
  while (!cases.empty()) {
    cases.erase(cases.begin() + static_cast<std::ptrdiff_t>(select(cases)));
  }
  EXPECT_EQ(sum, kTasks * (kTasks - 1) / 2);
}

// The example in on_ready.h.
TEST_P(OnReadyTest, TheExampleInTheHeaderWorks) {
  using Page = std::string;
  const std::string url = "url";
  const auto fetch = [](const std::string& from) { return from + " fetched"; };
  Page shown;
  const auto show = [&](Page page) { shown = std::move(page); };

  weft::Future<Page> page = weft::async([&] { return fetch(url); });
  weft::select(weft::onReady(page, [&](weft::Future<Page>& ready) { show(ready.get()); }),
               weft::onTimeout(std::chrono::seconds(1), [] { std::puts("still loading"); }));

  if (page.valid()) {
    show(page.get());
  }
  EXPECT_EQ(shown, "url fetched");
}

class OnReadyDeathTest : public tests::DeathTest {};

TEST_F(OnReadyDeathTest, CasesThatCannotHappen) {
  Future<int> none;
  EXPECT_DEATH(select(onReady(none)), "onReady");
  EXPECT_DEATH((void)onReady(none, std::function<void()>()), "onReady\\(\\)");
}

}  // namespace on_ready_test
}  // namespace
}  // namespace weft
