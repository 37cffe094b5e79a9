// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/weft.h>

#include "failing_allocations.h"

// operator new fails in what waits, in pools, containers, schedulers, threads and parallel algorithms.
namespace weft::parts_failing_allocations_test {
namespace {

using tests::AllocatingOperation;
using tests::Attempt;
using tests::counting;
using tests::FailingAllocations;
using tests::longText;
using tests::nameOf;
using tests::smallConfig;

void channelMade(Attempt& attempt) {
  const auto use = [&] {
    const Channel<int> channel(300, attempt.allocator());
    channel.send(1);
    EXPECT_EQ(channel.receive(), 1);
  };
  attempt(use);
  use();
}
void channelSends(Attempt& attempt) {
  const Channel<std::string> channel(4);
  const std::string text = longText();
  const auto send = [&] { channel.send(text); };
  const bool isDone = attempt(send);
  send();
  for (int i = isDone ? 2 : 1; i > 0; --i) {
    EXPECT_EQ(channel.tryReceive(), text);
  }
  EXPECT_EQ(channel.tryReceive(), std::nullopt);
}
// A receiver waits for the value.
void channelHandsOver(Attempt& attempt) {
  const Channel<std::string> channel;
  const std::string text = longText();
  Future<std::string> received = async([channel] { return *channel.receive(); });
  yield();
  if (!attempt([&] { channel.send(text); })) {
    channel.send(text);
  }
  EXPECT_EQ(received.get(), text);
}
void selectSends(Attempt& attempt) {
  const Channel<std::string> channel(1);
  const std::string text = longText();
  bool isSent = false;
  const auto send = [&] { select(onSend(channel, text, [&] { isSent = true; })); };
  if (!attempt(send)) {
    EXPECT_FALSE(isSent);
    EXPECT_EQ(channel.tryReceive(), std::nullopt);
    send();
  }
  EXPECT_EQ(channel.tryReceive(), text);
}

// Each of these has a state that an allocator gives.
template <class T>
void made(Attempt& attempt, const std::function<T(Allocator*)>& make, void (*use)(const T&)) {
  std::optional<T> value;
  if (attempt([&] { value.emplace(make(attempt.allocator())); })) {
    use(*value);
  }
  use(make(attempt.allocator()));
}
void eventMade(Attempt& attempt) {
  made<Event>(
      attempt, [](Allocator* from) { return Event(Event::Mode::Auto, false, from); },
      [](const Event& event) {
        event.signal();
        event.wait();
      });
}
void waitGroupMade(Attempt& attempt) {
  made<WaitGroup>(
      attempt, [](Allocator* from) { return WaitGroup(1, from); },
      [](const WaitGroup& group) {
        group.done();
        group.wait();
      });
}

// An event signals those made of it, and those made of these, whatever memory there is.
void eventPassesOn(Attempt& attempt) {
  const Event source(Event::Mode::Manual);
  std::vector<Event> anys;
  for (int i = 0; i < 30; ++i) {
    const Event& from = i < 20 ? source : anys[static_cast<size_t>(i - 10)];
    anys.push_back(Event::any(&from, &from + 1));
  }
  EXPECT_TRUE(attempt([&] { source.signal(); }));
  EXPECT_FALSE(attempt.hasFailed()) << "a signal calls operator new";
  for (const Event& any : anys) {
    EXPECT_TRUE(any.isSignalled());
  }
}
void anyMade(Attempt& attempt) {
  std::vector<Event> sources(3);
  const auto make = [&] { return Event::any(sources.begin(), sources.end()); };
  std::optional<Event> any;
  attempt([&] { any = make(); });
  const Event another = make();
  sources[1].signal();
  EXPECT_TRUE(another.test());
}

template <class P>
void poolOf(Attempt& attempt) {
  const auto use = [&] {
    const P pool(attempt.allocator());
    std::vector<typename P::Loan> loans;
    for (int i = 0; i < 20; ++i) {
      loans.push_back(pool.borrow());
      *loans.back() = longText();
    }
    pool.borrow(3, [](typename P::Loan&& loan) { loan->clear(); });
  };
  attempt(use);
  use();
}
void boundedPool(Attempt& attempt) { poolOf<BoundedPool<std::string, 40>>(attempt); }
void unboundedPool(Attempt& attempt) { poolOf<UnboundedPool<std::string>>(attempt); }
void reconstructedPool(Attempt& attempt) {
  struct Text {
    std::string text = longText();
  };
  const BoundedPool<Text, 2, PoolPolicy::Reconstruct> pool;
  const auto use = [&] { EXPECT_EQ(pool.borrow()->text, longText()); };
  attempt(use);
  for (int i = 0; i < 3; ++i) {
    use();
  }
}

void fiberLocal(Attempt& attempt) {
  const FiberLocal<std::array<std::string, 10>> local(
      [] { return std::array<std::string, 10>{longText(), longText()}; });
  const auto use = [&] { EXPECT_EQ((*local)[1], longText()); };
  (void)async([&] {
    attempt(use);
    use();
  }).get();
}

void workerLocal(Attempt& attempt) {
  WorkerLocal<std::array<std::string, 10>> values(
      [] { return std::array<std::string, 10>{longText(), longText()}; });
  const auto use = [&] { EXPECT_EQ(values.local()[1], longText()); };
  attempt(use);
  use();
}

// A function that throws has not been called once.
void onceCalled(Attempt& attempt) {
  Once once;
  std::string text;
  const auto call = [&] { once.call([&] { text = longText(); }); };
  attempt(call);
  call();
  EXPECT_EQ(text, longText());
}

void calledBlocking(Attempt& attempt) {
  const auto call = [&] { EXPECT_EQ(blocking_call([] { return longText(); }), longText()); };
  attempt(call);
  call();
}

void threadStarted(Attempt& attempt) {
  std::atomic<int> numRun{0};
  const auto start = [&] {
    Thread(Thread::Affinity::all(), [&numRun, text = longText()] { ++numRun; }).join();
  };
  const int expected = attempt(start) ? 2 : 1;
  start();
  EXPECT_EQ(numRun, expected);
}

void affinity(Attempt& attempt) {
  const auto use = [&] {
    Thread::Affinity all = Thread::Affinity::all(attempt.allocator());
    Thread::Affinity some(all, attempt.allocator());
    some.remove(all).add(all);
    const auto policy = Thread::Affinity::Policy::anyOf(std::move(some), attempt.allocator());
    EXPECT_GT(policy->get(0, attempt.allocator()).count(), 0u);
    EXPECT_EQ(Thread::Affinity::Policy::oneOf(std::move(all), attempt.allocator())
                  ->get(1, attempt.allocator())
                  .count(),
              1u);
  };
  attempt(use);
  use();
}

// The workers start with functions of the user's.
void schedulerMade(Attempt& attempt) {
  std::atomic<int> numStarted{0};
  const auto use = [&] {
    Scheduler scheduler(smallConfig(2).setWorkerThreadInitializer(
        [&numStarted, text = longText()](int) { numStarted += text.empty() ? 0 : 1; }));
    Scheduler::Stats stats = scheduler.stats();
    EXPECT_EQ(stats.workers.size(), 2u);
  };
  attempt(use);
  numStarted = 0;
  use();
  EXPECT_EQ(numStarted, 2);
}
void poolExecutorMade(Attempt& attempt) {
  std::atomic<int> numStarted{0};
  const auto use = [&] {
    const auto hook = [&numStarted, text = longText()] { numStarted += text.empty() ? 0 : 1; };
    PoolExecutor pool(2, hook, hook);
  };
  attempt(use);
  numStarted = 0;
  use();
  EXPECT_EQ(numStarted, 4);
}

void sorted(Attempt& attempt) {
  std::vector<std::string> texts(3000);
  for (size_t i = 0; i < texts.size(); ++i) {
    texts[i] = std::to_string(i * 7919 % 3001) + longText();
  }
  std::vector<std::string> expected = texts;
  std::sort(expected.begin(), expected.end());
  if (!attempt([&] { parallelStableSort(texts); })) {
    // What a sort that throws leaves is what it was given, in some order.
    std::vector<std::string> left = texts;
    std::sort(left.begin(), left.end());
    EXPECT_EQ(left, expected);
    parallelSort(texts);
  }
  EXPECT_EQ(texts, expected);
}
void scanned(Attempt& attempt) {
  const std::vector<int> ones(10'000, 1);
  std::vector<int> sums(ones.size());
  const auto scan = [&] { parallelScan(ones, sums.begin()); };
  attempt(scan);
  scan();
  EXPECT_EQ(sums.back(), 10'000);
}
// In a thread that has a worker which may help.
void copiedIf(Attempt& attempt) {
  std::thread thread([&] {
    Scheduler scheduler(smallConfig(1));
    const Scheduler::Binding bound(scheduler);
    const std::vector<int> ones(40'000, 1);
    std::vector<int> copies(ones.size());
    std::atomic<int> numCalls{0};
    const auto isOne = [&numCalls](int x) { return ++numCalls, x == 1; };
    const auto copy = [&] { EXPECT_EQ(parallelCopyIf(ones, copies.begin(), isOne), copies.end()); };
    if (!attempt(copy)) {
      EXPECT_EQ(numCalls, 0);
      copy();
    }
    EXPECT_EQ(copies, ones);
  });
  thread.join();
}
void sortedElsewhere(Attempt& attempt) {
  PoolExecutor pool(1);
  std::vector<int> numbers(1000);
  std::iota(numbers.rbegin(), numbers.rend(), 0);
  const auto sort = [&] { parallelSort(pool, numbers); };
  attempt(sort);
  sort();
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
}

void finallyMade(Attempt& attempt) {
  std::atomic<int> numRun{0};
  const auto function = counting(numRun);
  const auto use = [&] { EXPECT_NE(make_shared_finally(function), nullptr); };
  const int expected = attempt(use) ? 2 : 1;
  use();
  EXPECT_EQ(numRun, expected);
}

void conditionAwaited(Attempt& attempt) {
  mutex guard;
  ConditionVariable condition;
  std::stop_source source;
  bool isReady = false;
  const auto wait = [&] {
    lock held(guard);
    (void)condition.wait_for(held, std::chrono::microseconds(1), [&] { return isReady; });
    EXPECT_FALSE(guard.try_lock());
  };
  EXPECT_TRUE(attempt(wait));
  isReady = true;
  wait();
}
void stopAwaited(Attempt& attempt) {
  mutex guard;
  guard.lock();
  const auto wait = [&] {
    std::stop_source source;
    (void)async([source]() mutable { source.request_stop(); });
    EXPECT_FALSE(async([&] { return guard.lock(source.get_token()); }).get());
  };
  attempt(wait);
  wait();
  guard.unlock();
}

// In a thread that has had no wait handler before.
void waitHandlerSet(Attempt& attempt) {
  std::thread thread([&] {
    int numWaits = 0;
    const Event event;
    const std::string text = longText();
    const auto use = [&] {
      (void)setThreadWaitHandler([&numWaits, event, text](const WaitHandle& wait) {
        ++numWaits;
        event.signal();
        while (!wait.ready()) {
          std::this_thread::yield();
        }
      });
      event.wait();
    };
    const int expected = attempt(use) ? 2 : 1;
    use();
    EXPECT_EQ(numWaits, expected);
  });
  thread.join();
}

void containersUsed(Attempt& attempt) {
  const auto use = [&] {
    containers::vector<std::string, 2> texts(attempt.allocator());
    for (int i = 0; i < 10; ++i) {
      texts.push_back(longText());
    }
    containers::vector<std::string, 4> copy(texts, attempt.allocator());
    texts.resize(3);
    copy = texts;
    EXPECT_EQ(copy.size(), 3u);
    containers::list<std::string> list(attempt.allocator());
    for (int i = 0; i < 10; ++i) {
      list.emplace_front(longText());
    }
    list.erase(list.begin());
  };
  attempt(use);
  use();
}

class PartsFailingAllocationsTest : public FailingAllocations {};

TEST_P(PartsFailingAllocationsTest, OutsideOfTasksLeaveEverythingUsableAndNothingBehind) {
  failOutsideOfTasks();
}

TEST_P(PartsFailingAllocationsTest, InATaskLeaveEverythingUsableAndNothingBehind) { failInATask(); }

INSTANTIATE_TEST_SUITE_P(Of, PartsFailingAllocationsTest,
                         ::testing::Values(WEFT_ALLOCATING(channelMade), WEFT_ALLOCATING(channelSends),
                                           WEFT_ALLOCATING(channelHandsOver), WEFT_ALLOCATING(selectSends),
                                           WEFT_ALLOCATING(eventMade), WEFT_ALLOCATING(waitGroupMade),
                                           AllocatingOperation{"eventPassesOn", &eventPassesOn, true},
                                           AllocatingOperation{"anyMade", &anyMade, true},
                                           WEFT_ALLOCATING(boundedPool), WEFT_ALLOCATING(unboundedPool),
                                           WEFT_ALLOCATING(reconstructedPool), WEFT_ALLOCATING(fiberLocal),
                                           WEFT_ALLOCATING(workerLocal), WEFT_ALLOCATING(onceCalled),
                                           WEFT_ALLOCATING(finallyMade), WEFT_ALLOCATING(calledBlocking),
                                           WEFT_ALLOCATING(threadStarted), WEFT_ALLOCATING(affinity),
                                           WEFT_ALLOCATING(schedulerMade), WEFT_ALLOCATING(poolExecutorMade),
                                           WEFT_ALLOCATING(sorted), WEFT_ALLOCATING(scanned),
                                           WEFT_ALLOCATING(copiedIf),
                                           AllocatingOperation{"sortedElsewhere", &sortedElsewhere, true},
                                           AllocatingOperation{"conditionAwaited", &conditionAwaited, true},
                                           WEFT_ALLOCATING(stopAwaited), WEFT_ALLOCATING(waitHandlerSet),
                                           WEFT_ALLOCATING(containersUsed)),
                         nameOf);

}  // namespace
}  // namespace weft::parts_failing_allocations_test
