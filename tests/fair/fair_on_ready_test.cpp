// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/fair/on_ready.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include <weft/channel.h>
#include <weft/event.h>
#include <weft/fair/bridge.h>
#include <weft/fair/coro.h>
#include <weft/fair/task_scheduler.h>
#include <weft/future/on_ready.h>
#include <weft/scheduler.h>
#include <weft/select.h>

#include "channels.h"
#include "crew.h"
#include "gates.h"
#include "num_waiting.h"
#include "while_linking.h"
#include "with_scheduler.h"

namespace weft::inline v0_1::fair {
namespace {
namespace fair_on_ready_test {

using tests::awaitThat;
using tests::Crew;
using tests::Kind;
using tests::kKinds;
using tests::numWaiting;
using tests::scaled;

class FairOnReadyTest : public tests::WithScheduler {
 protected:
  // Returns: a body that ends once its task is signalled.
  static Coro<> untilSignal(std::atomic<int>* numEnded = nullptr) {
    co_await receiveSignal();
    if (numEnded != nullptr) {
      ++*numEnded;
    }
  }

  TaskScheduler fairScheduler_{"fair", 2};
};
WEFT_INSTANTIATE_WITH_SCHEDULER(FairOnReadyTest);

constexpr auto kIgnore = [](std::optional<int>) {};

TEST_P(FairOnReadyTest, ABodyThatHasEndedHappensAtOnce) {
  CoroTask ended(untilSignal()), pending(untilSignal());
  fairScheduler_.post(&ended);
  fairScheduler_.signal(&ended);
  ended.wait();
  CoroTask* seen = nullptr;
  EXPECT_EQ(select(onReady(pending), onReady(ended, [&](CoroTask& task) { seen = &task; })), 1u);
  EXPECT_EQ(seen, &ended);
  EXPECT_EQ(select(onReady(ended, [&] { seen = nullptr; }), onReady(pending)), 0u);
  EXPECT_EQ(seen, nullptr);
  EXPECT_EQ(select(onReady(pending), otherwise()), 1u);
}

TEST_P(FairOnReadyTest, TheEndOfABodyEndsTheWait) {
  for (Kind kind : kKinds) {
    std::atomic<int> numEnded{0};
    CoroTask first(untilSignal(&numEnded)), second(untilSignal(&numEnded));
    const Channel<int> channel(0, tests::heap());
    fairScheduler_.post(&first);
    fairScheduler_.post(&second);
    Crew crew(scheduler());
    crew.start(kind, [&] {
      EXPECT_EQ(select(onReady(first), onReceive(channel, kIgnore), onReady(second)), 2u);
      EXPECT_EQ(numEnded, 1);
      EXPECT_EQ(select(onReady(first), onReceive(channel, kIgnore)), 1u);
    });
    awaitThat([&] { return numWaiting(channel) == 1; });
    fairScheduler_.signal(&second);
    second.wait();
    channel.send(1);
    crew.join();
    fairScheduler_.signal(&first);
    first.wait();
    EXPECT_EQ(numEnded, 2);
  }
}

TEST_P(FairOnReadyTest, ABodyThatEndsWhileItLinksIsSeen) {
  const Event never;
  for (int i = 0; i < 20; ++i) {
    CoroTask task(untilSignal());
    fairScheduler_.post(&task);
    const auto end = [&] {
      fairScheduler_.signal(&task);
      // Not here, where the select waits already.
      std::thread([&] { task.wait(); }).join();
    };
    EXPECT_EQ(select(onSignal(never), onReady(task), tests::WhileLinking(end)), 1u);
    EXPECT_EQ(numWaiting(never), 0);
  }
}

TEST_P(FairOnReadyTest, ATaskThatEndsInTimeIsNotWoken) {
  CoroTask task(untilSignal());
  auto& scheduler = fairScheduler_;
  scheduler.post(&task);
  scheduler.signal(&task);
  task.wait();
  testing::internal::CaptureStdout();
  weft::select(weft::onReady(task, [] { std::puts("ended"); }),
               weft::onTimeout(std::chrono::seconds(1), [&] { scheduler.wakeup(&task); }));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "ended\n");
}

TEST_P(FairOnReadyTest, AStopOrATimeEndsTheWaitAndLeavesNothing) {
  for (Kind kind : kKinds) {
    CoroTask task(untilSignal());
    fairScheduler_.post(&task);
    std::stop_source stop;
    const Event begun(Event::Mode::Manual, false, tests::heap());
    Crew crew(scheduler());
    crew.start(kind, [&] {
      EXPECT_EQ(select(onReady(task), onTimeout(std::chrono::milliseconds(1))), 1u);
      begun.signal();
      EXPECT_EQ(select(onReady(task), onStop(stop.get_token())), 1u);
    });
    begun.wait();
    stop.request_stop();
    crew.join();
    fairScheduler_.signal(&task);
    task.wait();
  }
}

// Who has gone elsewhere is not woken, and all others are.
TEST_P(FairOnReadyTest, TheEndGoesToAllWhoWait) {
  constexpr int kWaiters = 6;
  for (int round = 0; round < scaled(200, 40); ++round) {
    CoroTask task(untilSignal());
    fairScheduler_.post(&task);
    const Event event(Event::Mode::Auto, false, tests::heap());
    std::atomic<int> numEnds{0}, numSignals{0};
    Crew crew(scheduler());
    for (int i = 0; i < kWaiters; ++i) {
      crew.start(tests::kindOf(i), [&, i] {
        if (i == 0) {
          task.wait();
        } else {
          ++(select(onSignal(event), onReady(task)) == 0 ? numSignals : numEnds);
        }
      });
    }
    event.signal();
    fairScheduler_.signal(&task);
    crew.join();
    EXPECT_EQ(numEnds + numSignals, kWaiters - 1);
    EXPECT_EQ(numSignals + (event.test() ? 1 : 0), 1);
  }
}

TEST_P(FairOnReadyTest, TheTaskMayBeDestroyedAsSoonAsItReturns) {
  const Event never(Event::Mode::Auto, false, tests::heap());
  for (Kind kind : kKinds) {
    Crew crew(scheduler());
    crew.start(kind, [&] {
      for (int i = 0; i < scaled(300, 60); ++i) {
        auto task = std::make_unique<CoroTask>([]() -> Coro<> { co_await yield(); }());
        fairScheduler_.post(task.get());
        EXPECT_EQ(select(onSignal(never), onReady(*task)), 1u);
        task.reset();
      }
    });
  }
}

TEST_P(FairOnReadyTest, AListWaitsForOneTaskAfterAnother) {
  constexpr size_t kTasks = 5;
  std::deque<CoroTask> tasks;
  std::vector<AnyCase> cases;
  int numEnds = 0;
  for (size_t i = 0; i < kTasks; ++i) {
    fairScheduler_.post(&tasks.emplace_back(untilSignal()));
    cases.emplace_back(onReady(tasks.back(), [&] { ++numEnds; }));
  }
  for (size_t i = 0; i < kTasks; ++i) {
    fairScheduler_.signal(&tasks[i]);
    EXPECT_EQ(select(cases), 0u);
    cases.erase(cases.begin());
  }
  EXPECT_EQ(numEnds, static_cast<int>(kTasks));
}

// A step that waits holds up its thread; another thread runs what it waits for.
TEST_P(FairOnReadyTest, AStepMayWaitForATaskThatAnotherThreadRuns) {
  CoroTask task(untilSignal());
  fairScheduler_.post(&task);
  std::atomic<size_t> chosen{9};
  const Event never(Event::Mode::Auto, false, tests::heap());
  fairScheduler_.postOneShot([&] {
    fairScheduler_.signal(&task);
    chosen = select(onSignal(never), onReady(task));
  });
  fairScheduler_.waitEmpty();
  EXPECT_EQ(chosen, 1u);
}

// The result of a coroutine is a future.
TEST_P(FairOnReadyTest, ASelectWaitsForTheResultOfACoroutine) {
  Future<int> half = async(fairScheduler_, [](int n) -> Coro<int> {
    co_await yield();
    co_return n / 2;
  }(84));
  int result = 0;
  EXPECT_EQ(select(onReady(half, [&](Future<int>& it) { result = it.get(); })), 0u);
  EXPECT_EQ(result, 42);
}

// The example in on_ready.h.
TEST_P(FairOnReadyTest, TheExampleWakesATaskThatTakesLong) {
  TaskScheduler& scheduler = fairScheduler_;
  CoroTask task([]() -> Coro<> { co_await wait(); }());
  scheduler.post(&task);
  while (!task.wait_for(std::chrono::nanoseconds(0))) {
    weft::select(weft::onReady(task, [] { std::puts("ended"); }),
                 weft::onTimeout(std::chrono::milliseconds(1), [&] { scheduler.wakeup(&task); }));
  }
}

class FairOnReadyDeathTest : public tests::DeathTest {};

TEST_F(FairOnReadyDeathTest, ABodyThatSelectsItsOwnEnd) {
  CoroTask pending([]() -> Coro<> { co_return; }());
  EXPECT_DEATH((void)onReady(pending, std::function<void()>()), "onReady\\(\\)");
  EXPECT_DEATH(
      {
        CoroTask* self = nullptr;
        CoroTask task([](CoroTask** own) -> Coro<> {
          select(onReady(**own), otherwise());
          co_return;
        }(&self));
        self = &task;
        TaskScheduler one("one", 1);
        one.post(&task);
        task.wait();
      },
      "select\\(\\) was called by the body");
}

}  // namespace fair_on_ready_test
}  // namespace
}  // namespace weft::inline v0_1::fair
