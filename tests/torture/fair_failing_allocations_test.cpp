// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weft/fair/bridge.h>
#include <weft/weft.h>

#include "failing_allocations.h"

// operator new fails in weft::fair.
namespace weft::fair_failing_allocations_test {
namespace {

using tests::AllocatingOperation;
using tests::asyncOn;
using tests::Attempt;
using tests::counting;
using tests::FailingAllocations;
using tests::longText;
using tests::nameOf;

// The steps of fair tasks run on other threads, where nothing fails.
struct Fair {
  fair::TaskScheduler scheduler{"fair", 1};
  std::atomic<int> numRun{0};
};
void fairMade(Attempt& attempt) {
  std::atomic<int> numRun{0};
  const auto use = [&] {
    fair::TaskScheduler scheduler(longText(), 2);
    scheduler.postOneShot([&numRun] { ++numRun; });
    scheduler.waitEmpty();
    EXPECT_EQ(scheduler.stats().size(), 2u);
  };
  attempt(use);
  numRun = 0;
  use();
  EXPECT_EQ(numRun, 1);
}
void fairPosted(Attempt& attempt) {
  Fair fair;
  const auto function = counting(fair.numRun);
  const auto post = [&] { fair.scheduler.postOneShot(function); };
  const int expected = attempt(post) ? 2 : 1;
  post();
  fair.scheduler.waitEmpty();
  EXPECT_EQ(fair.numRun, expected);
}
void fairTask(Attempt& attempt) {
  std::atomic<int> sum{0};
  const auto make = [&](int value) {
    return [&sum, value, text = longText()] { sum += text.empty() ? 0 : value; };
  };
  const auto before = make(1), after = make(10);
  fair::Task task(before);
  const int expected = attempt([&] {
    fair::Task another(before);
    task.setCallback(after);
  })
                           ? 10
                           : 1;
  fair::TaskScheduler scheduler("fair");
  scheduler.post(&task);
  scheduler.waitEmpty();
  EXPECT_EQ(sum, expected);
}
void fairAsync(Attempt& attempt) {
  Fair fair;
  const auto body = [](int value) -> fair::Coro<std::string> {
    co_await fair::yield();
    co_return std::string(100, static_cast<char>('a' + value));
  };
  std::optional<Future<std::string>> future;
  attempt([&] { future = fair::async(fair.scheduler, body(0)); });
  EXPECT_EQ(fair::async(fair.scheduler, body(1)).get(), std::string(100, 'b'));
  if (future) {
    EXPECT_EQ(future->get(), std::string(100, 'a'));
  }
}
// The frame of a coroutine that another one calls.
void fairCalls(Attempt& attempt) {
  Fair fair;
  const auto inner = [](std::string text) -> fair::Coro<std::string> { co_return text; };
  const auto outer = [&]() -> fair::Coro<std::string> {
    std::optional<fair::Coro<std::string>> called;
    if (!attempt([&] { called.emplace(inner(longText())); })) {
      called.emplace(inner(longText()));
    }
    co_return co_await std::move(*called);
  };
  EXPECT_EQ(fair::async(fair.scheduler, outer()).get(), longText());
}
void fairThen(Attempt& attempt) {
  Fair fair;
  asyncOn(attempt, fair.scheduler);
}
void fairTakenBack(Attempt& attempt) {
  Fair fair;
  fair.scheduler.stop();
  std::vector<std::unique_ptr<fair::Task>> tasks;
  for (int i = 0; i < 10; ++i) {
    tasks.push_back(std::make_unique<fair::Task>([&] { ++fair.numRun; }));
    if (i % 3 == 0) {
      fair.scheduler.postWait(tasks.back().get());
    } else {
      fair.scheduler.post(tasks.back().get());
    }
  }
  fair.scheduler.postOneShot([&] { fair.numRun += 100; });
  std::vector<fair::Task*> taken;
  if (!attempt([&] { taken = fair.scheduler.takeBack(); })) {
    EXPECT_FALSE(fair.scheduler.isEmpty());
    taken = fair.scheduler.takeBack();
  }
  ASSERT_EQ(taken.size(), 10u);
  for (size_t i = 0; i < taken.size(); ++i) {
    EXPECT_EQ(taken[i], tasks[i].get());
  }
  fair.scheduler.start();
  fair.scheduler.waitEmpty();
  EXPECT_EQ(fair.numRun, 100);
}
// A task waits until `source`, which signal() signals, has signalled it.
template <class Source, class Signal>
void fairSignalledBy(Attempt& attempt, const Source& source, const Signal& signal) {
  Fair fair;
  fair::Task task([&](fair::Task* self) {
    if (self->receiveSignal()) {
      ++fair.numRun;
    } else {
      fair.scheduler.postWait(self);
    }
  });
  fair.scheduler.postWait(&task);
  fair::PendingSignal pending;
  const auto await = [&] { pending = fair::signalAfter(source, fair.scheduler, &task); };
  if (!attempt(await)) {
    await();
  }
  signal();
  fair.scheduler.waitEmpty();
  EXPECT_EQ(fair.numRun, 1);
}
void fairSignalled(Attempt& attempt) {
  const Event event;
  fairSignalledBy(attempt, event, [&] {
    event.signal();
    yield();
  });
}
void fairSignalledByFuture(Attempt& attempt) {
  Promise<int> promise;
  fairSignalledBy(attempt, promise.get_future(), [&] { promise.set_value(1); });
}

class FairFailingAllocationsTest : public FailingAllocations {};

TEST_P(FairFailingAllocationsTest, OutsideOfTasksLeaveEverythingUsableAndNothingBehind) {
  failOutsideOfTasks();
}

TEST_P(FairFailingAllocationsTest, InATaskLeaveEverythingUsableAndNothingBehind) { failInATask(); }

INSTANTIATE_TEST_SUITE_P(
    Of, FairFailingAllocationsTest,
    ::testing::Values(WEFT_ALLOCATING(fairMade), WEFT_ALLOCATING(fairPosted), WEFT_ALLOCATING(fairTask),
                      WEFT_ALLOCATING(fairAsync), WEFT_ALLOCATING(fairThen), WEFT_ALLOCATING(fairCalls),
                      WEFT_ALLOCATING(fairTakenBack), WEFT_ALLOCATING(fairSignalled),
                      AllocatingOperation{"fairSignalledByFuture", &fairSignalledByFuture, true}),
    nameOf);

}  // namespace
}  // namespace weft::fair_failing_allocations_test
