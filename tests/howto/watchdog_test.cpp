// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <weft/dump.h>
#include <weft/weft.h>

// The examples of docs/howto/watchdog.md.
namespace howto_watchdog {
namespace {

struct Heartbeat {
  std::string name;
  std::atomic<uint64_t> numBeats{0};
};

// Calls report(heartbeat) for each that has not changed within `period`, until `ended` is signalled.
void watch(const std::vector<Heartbeat>& heartbeats, std::chrono::milliseconds period,
           const weft::Event& ended, const std::function<void(const Heartbeat&)>& report) {
  std::vector<uint64_t> before(heartbeats.size());
  while (!ended.wait_for(period)) {
    for (size_t i = 0; i < heartbeats.size(); ++i) {
      const uint64_t now = heartbeats[i].numBeats;
      if (now == before[i]) {
        report(heartbeats[i]);
      }
      before[i] = now;
    }
  }
}

int numItems = 3;
void process(int) {}

void processAll(Heartbeat& heartbeat) {
  for (int item = 0; item < numItems; ++item) {
    process(item);
    ++heartbeat.numBeats;
  }
}

TEST(HowtoWatchdogTest, FindsTheTaskThatIsStuck) {
  std::atomic<int> numReports{0};
  const weft::Event released(weft::Event::Mode::Manual);
  std::vector<Heartbeat> heartbeats(1);
  heartbeats[0].name = "import";

  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  weft::Event ended;
  std::thread watchdog([&] {
    watch(heartbeats, std::chrono::milliseconds(1), ended, [&](const Heartbeat& heartbeat) {
      EXPECT_EQ(heartbeat.name, "import");
      if (++numReports == 1) {
        weft::dump();  // prints what each waiting fiber waits for
      }
      released.signal();
    });
  });
  {
    weft::Scheduler::Binding bound(scheduler);
    weft::WaitGroup done(1);
    weft::schedule([&, done] {
      processAll(heartbeats[0]);
      released.wait();  // until the watchdog has seen that it hangs
      done.done();
    });
    done.wait();
  }
  ended.signal();
  watchdog.join();
  EXPECT_GE(numReports, 1);
}

bool isInTime() {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  weft::Scheduler::Binding bound(scheduler);
  weft::WaitGroup done(1);
  weft::schedule([=] { done.done(); });
  if (!done.wait_for(std::chrono::seconds(30))) {
    weft::dump();
    return false;
  }
  return true;
}

TEST(HowtoWatchdogTest, WaitsForOneTaskWithALimit) { (void)isInTime(); }

}  // namespace
}  // namespace howto_watchdog
