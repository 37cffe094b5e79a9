// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/fair/bridge.h>

#include <chrono>
#include <memory>
#include <utility>

#include <weft/event.h>
#include <weft/waitgroup.h>

#include "with_scheduler.h"

namespace weft::fair {
namespace {

using namespace std::chrono_literals;

class FairBridgeTest : public tests::WithScheduler {
 protected:
  TaskScheduler fairScheduler_{"fair", 2};
};
WEFT_INSTANTIATE_WITH_SCHEDULER(FairBridgeTest);

TEST_P(FairBridgeTest, AFiberWaitsForTheEndOfATask) {
  int left = 10;
  const Event ended;
  Task task([&](Task* self) {
    if (--left > 0) {
      fairScheduler_.post(self);
    } else {
      ended.signal();
    }
  });
  const WaitGroup seen(1);
  schedule([&] {
    fairScheduler_.post(&task);
    ended.wait();
    EXPECT_EQ(left, 0);
    seen.done();
  });
  seen.wait();
  fairScheduler_.waitEmpty();
}

TEST_P(FairBridgeTest, FibersSignalTasksAndTasksSignalFibers) {
  const Event toFiber;
  int numSignals = 0;
  Task task([&](Task* self) {
    if (self->receiveSignal()) {
      ++numSignals;
      toFiber.signal();
    }
    if (numSignals < 20) {
      fairScheduler_.postWait(self);
    }
  });
  const WaitGroup done(1);
  schedule([&] {
    fairScheduler_.post(&task);
    for (int i = 0; i < 20; ++i) {
      fairScheduler_.signal(&task);
      toFiber.wait();
      EXPECT_EQ(numSignals, i + 1);
    }
    done.done();
  });
  done.wait();
  fairScheduler_.waitEmpty();
}

TEST_P(FairBridgeTest, EventsAndWaitGroupsSignalTasks) {
  const Event event;
  const WaitGroup group(2);
  int data = 0;
  int numSignals = 0;
  Task task([&](Task* self) {
    if (!self->receiveSignal()) {
      fairScheduler_.postWait(self);
      return;
    }
    EXPECT_EQ(data, ++numSignals);
  });
  fairScheduler_.post(&task);
  signalAfter(event, fairScheduler_, &task);
  data = 1;
  event.signal();
  // With no worker thread, this thread's waits run the fiber that passes the signal on.
  while (!fairScheduler_.waitEmpty(0s)) {
    yield();
  }
  signalAfter(group, fairScheduler_, &task);
  fairScheduler_.postDelay(&task, 1h);
  group.done();
  data = 2;
  group.done();
  while (!fairScheduler_.waitEmpty(0s)) {
    yield();
  }
  EXPECT_EQ(numSignals, 2);
}

// What an Executor's handle looks like.
struct Handle {
  std::unique_ptr<int*> counter;
  void run() { ++**counter; }
};

TEST_P(FairBridgeTest, TheSchedulerIsAnExecutor) {
  int numRuns = 0;
  fairScheduler_.schedule(Handle{std::make_unique<int*>(&numRuns)});
  fairScheduler_.waitEmpty();
  EXPECT_EQ(numRuns, 1);
}

}  // namespace
}  // namespace weft::fair
