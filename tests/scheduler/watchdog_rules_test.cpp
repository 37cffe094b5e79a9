// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/core/watchdog_rules.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "inspect/hand_made.h"
#include "scheduler/core/other_threads.h"
#include "scheduler/core/watchdog_text.h"

// What a watchdog finds in snapshots that are made by hand, and what it writes.
namespace weft {
namespace {
namespace watchdog_rules_test {

using namespace std::chrono_literals;

using detail::Finding;
using detail::WatchdogRules;
using detail::inspect::Address;
using detail::inspect::Fiber;
using detail::inspect::Snapshot;
using detail::inspect::Worker;
using tests::HandMade;
using Condition = Watchdog::Condition;

bool isNobodyThere = true;

class WatchdogRulesTest : public testing::Test {
 protected:
  WatchdogRulesTest() { isNobodyThere = true; }

  // Looks at what `make` makes, 100 ms after the last look. Returns: the conditions that are told.
  std::vector<Condition> look(const std::function<void(HandMade&)>& make,
                              std::chrono::milliseconds after = 100ms) {
    now_ += after;
    HandMade made;
    make(made);
    uint64_t address = 0x100;
    for (Worker& worker : made.snapshot.workers) {
      worker.address = address++;
    }
    address = 0x1000;
    for (Fiber& fiber : made.snapshot.fibers) {
      fiber.address = fiber.scope = address++;
    }
    texts_.clear();
    durations_.clear();
    std::vector<Condition> told;
    tests::FakeNames names;
    for (const Finding& finding : rules_.look(made.snapshot, now_)) {
      told.push_back(finding.condition);
      durations_.push_back(finding.duration);
      texts_.push_back(
          tests::textOf([&](auto& out) { detail::writeFinding(out, finding, made.snapshot, names); }));
    }
    return told;
  }

  // Returns: what is told at the last of `count` looks; at those before it nothing is.
  std::vector<Condition> lookOften(int count, const std::function<void(HandMade&)>& make) {
    for (int i = 1; i < count; ++i) {
      EXPECT_EQ(look(make), std::vector<Condition>()) << "at look " << i;
    }
    return look(make);
  }

  WatchdogRules rules_{{300ms, 500ms, 700ms, 200ms},
                       [](const Snapshot&) { return isNobodyThere; },
                       std::pmr::get_default_resource()};
  std::chrono::nanoseconds now_ = 1h;
  std::vector<std::string> texts_;
  std::vector<std::chrono::nanoseconds> durations_;
};

using Told = std::vector<Condition>;

const Told kNothing;

// A worker that runs a task since its turn `turn`.
Worker& runTask(HandMade& made, uint64_t turn, char task = 'A') {
  made.scheduler(0x5000);
  Worker& worker = made.worker(0, 4712);
  worker.state = Worker::State::Busy;
  worker.turn = turn;
  worker.running = 0;
  made.fiber(3, task, Fiber::State::Running);
  return worker;
}

TEST_F(WatchdogRulesTest, TellsOfALongTaskOnceAndThenThatItIsOver) {
  const auto runs = [](HandMade& made) { runTask(made, 7); };
  EXPECT_EQ(lookOften(4, runs), Told{Condition::LongTask});
  EXPECT_EQ(texts_[0],
            "weft: watchdog: process 4711: task A (worker 0, fiber 3) on thread 4712 has run for at least "
            "300 ms without "
            "waiting\n");
  EXPECT_EQ(lookOften(20, runs), kNothing);
  EXPECT_EQ(look([](HandMade& made) { runTask(made, 8, 'B'); }), Told{Condition::LongTaskOver});
  EXPECT_EQ(texts_[0],
            "weft: watchdog: process 4711: task A on thread 4712 has waited or ended at last, after at least "
            "2.3 s\n");
  EXPECT_EQ(durations_[0], 2300ms);
}

TEST_F(WatchdogRulesTest, TellsOfTheNextLongTaskToo) {
  EXPECT_EQ(lookOften(4, [](HandMade& made) { runTask(made, 7); }), Told{Condition::LongTask});
  EXPECT_EQ(look([](HandMade& made) { runTask(made, 8); }), Told{Condition::LongTaskOver});
  EXPECT_EQ(lookOften(3, [](HandMade& made) { runTask(made, 8); }), Told{Condition::LongTask});
}

TEST_F(WatchdogRulesTest, SaysThatALongTaskIsOverWhenItsSchedulerIsGone) {
  EXPECT_EQ(lookOften(4, [](HandMade& made) { runTask(made, 7); }), Told{Condition::LongTask});
  EXPECT_EQ(look([](HandMade&) {}), Told{Condition::LongTaskOver});
  EXPECT_EQ(look([](HandMade&) {}), kNothing);
}

TEST_F(WatchdogRulesTest, DoesNotTellOfATaskThatLetsOthersRunBetweenLooks) {
  for (uint64_t turn = 0; turn < 20; ++turn) {
    EXPECT_EQ(look([turn](HandMade& made) { runTask(made, turn); }), kNothing);
  }
}

TEST_F(WatchdogRulesTest, DoesNotTellOfTheCodeOfABoundThreadForWhichNobodyWaits) {
  EXPECT_EQ(lookOften(20,
                      [](HandMade& made) {
                        made.scheduler(0x5000);
                        Worker& worker = made.worker(-1, 4711);
                        worker.state = Worker::State::Busy;
                        worker.running = 0;
                        made.main();
                      }),
            kNothing);
}

TEST_F(WatchdogRulesTest, DoesNotCountTimeInWhichItDidNotLook) {
  const auto runs = [](HandMade& made) { runTask(made, 7); };
  EXPECT_EQ(look(runs), kNothing);
  EXPECT_EQ(look(runs, 10'000'000ms), kNothing);
  EXPECT_EQ(look(runs), Told{Condition::LongTask});
  EXPECT_EQ(durations_[0], 300ms);
}

TEST_F(WatchdogRulesTest, TellsOnceWhoWaitsBehindALongTask) {
  const auto waits = [](HandMade& made) {
    Worker& worker = runTask(made, 7);
    worker.numReady = 2;
    worker.numQueued = worker.numPinned = 1;
    worker.numTimers = 4;
    worker.untilTimer = -900ms;
  };
  EXPECT_EQ(lookOften(4, waits), Told{Condition::LongTask});
  EXPECT_EQ(texts_[0],
            "weft: watchdog: process 4711: task A (worker 0, fiber 3) on thread 4712 has run for at least "
            "300 ms without "
            "waiting; 2 fibers ready to go on, 1 queued task, a timer due for 900 ms wait behind it\n");
  EXPECT_EQ(lookOften(2, waits), Told{Condition::Delay});
  EXPECT_EQ(
      texts_[0],
      "weft: watchdog: process 4711: worker 0 has looked after nothing else for at least 500 ms: 2 fibers "
      "ready to go "
      "on, 1 queued task, a timer due for 900 ms wait behind task A (worker 0, fiber 3) on thread 4712\n");
  EXPECT_EQ(lookOften(20, waits), kNothing);
}

TEST_F(WatchdogRulesTest, TellsAgainWhenSomebodyWaitsAgain) {
  const auto waits = [](HandMade& made) { runTask(made, 7).numReady = 1; };
  const auto runs = [](HandMade& made) { runTask(made, 7); };
  EXPECT_EQ(lookOften(4, runs), Told{Condition::LongTask});
  EXPECT_EQ(lookOften(6, waits), Told{Condition::Delay});
  EXPECT_EQ(look(runs), kNothing);
  EXPECT_EQ(lookOften(6, waits), Told{Condition::Delay});
}

TEST_F(WatchdogRulesTest, TellsWhoWaitsBehindTheCodeOfABoundThread) {
  const auto waits = [](HandMade& made) {
    made.scheduler(0x5000);
    Worker& worker = made.worker(-1, 4711);
    worker.state = Worker::State::Busy;
    worker.running = 0;
    worker.numQueued = worker.numPinned = 3;
    made.main();
  };
  EXPECT_EQ(lookOften(6, waits), Told{Condition::Delay});
  EXPECT_EQ(texts_[0],
            "weft: watchdog: process 4711: main thread 4711 has looked after nothing else for at least 500 "
            "ms: 3 queued "
            "tasks wait behind the code of main thread 4711\n");
}

TEST_F(WatchdogRulesTest, TellsOfATimerForWhichAWorkerSleepsTooLong) {
  const auto sleeps = [](HandMade& made) {
    made.scheduler(0x5000);
    Worker& worker = made.worker(0, 4712);
    worker.numTimers = 1;
    worker.untilTimer = -600ms;
  };
  EXPECT_EQ(lookOften(6, sleeps), Told{Condition::Delay});
  EXPECT_EQ(texts_[0],
            "weft: watchdog: process 4711: worker 0 has looked after nothing else for at least 500 ms: a "
            "timer due for 600 ms "
            "waits while its thread sleeps\n");
}

TEST_F(WatchdogRulesTest, DoesNotTellOfTasksThatOthersTake) {
  uint64_t numSteals = 0;
  const auto steals = [&numSteals](HandMade& made) {
    runTask(made, 7).numQueued = 1000;
    made.worker(1, 4713).numSteals = ++numSteals;
  };
  EXPECT_EQ(lookOften(4, steals), Told{Condition::LongTask});
  EXPECT_EQ(lookOften(20, steals), kNothing);
  uint64_t numQueued = 1000;
  const auto shrinks = [&numQueued](HandMade& made) { runTask(made, 7).numQueued = --numQueued; };
  EXPECT_EQ(lookOften(20, shrinks), kNothing);
  const auto stays = [](HandMade& made) { runTask(made, 7).numQueued = 100; };
  EXPECT_EQ(lookOften(6, stays), Told{Condition::Delay});
}

TEST_F(WatchdogRulesTest, TellsOfAQueueThatNobodyTakesFrom) {
  uint64_t turn = 0;
  uint64_t numTasksRun = 5;
  const auto sleeps = [&](HandMade& made) {
    made.scheduler(0x5000, 17);
    Worker& worker = made.worker(0, 4712);
    worker.turn = ++turn;
    worker.numTasksRun = numTasksRun;
  };
  EXPECT_EQ(lookOften(6, sleeps), Told{Condition::StuckQueue});
  EXPECT_NE(texts_[0].find(": no worker has taken a task for at least 500 ms from the queue of scheduler "
                           "0x5000, which has 17 tasks\n"),
            std::string::npos)
      << texts_[0];
  EXPECT_EQ(lookOften(20, sleeps), kNothing);
  ++numTasksRun;
  EXPECT_EQ(lookOften(6, sleeps), Told{Condition::StuckQueue});
}

TEST_F(WatchdogRulesTest, DoesNotTellOfAQueueThatMoves) {
  uint64_t numInjected = 1000;
  EXPECT_EQ(lookOften(20,
                      [&](HandMade& made) {
                        made.scheduler(0x5000, --numInjected);
                        made.worker(0, 4712).turn = numInjected;
                      }),
            kNothing);
  uint64_t numTasksRun = 0;
  EXPECT_EQ(lookOften(20,
                      [&](HandMade& made) {
                        made.scheduler(0x5000, 10);
                        made.worker(0, 4712).numTasksRun = ++numTasksRun;
                      }),
            kNothing);
}

// A worker, with a fiber that waits.
void waitFor(HandMade& made, std::string_view what, uint64_t taskNumber = 1) {
  made.scheduler(0x5000);
  made.worker(0, 4712);
  made.blocked(1, 'A', what, 0x77, 1s).taskNumber = taskNumber;
}

TEST_F(WatchdogRulesTest, TellsOnceThatNothingCanGoOn) {
  const auto waits = [](HandMade& made) { waitFor(made, "Event"); };
  EXPECT_EQ(lookOften(8, waits), Told{Condition::Standstill});
  EXPECT_NE(texts_[0].find(": nothing can go on: for at least 700 ms"), std::string::npos) << texts_[0];
  EXPECT_NE(texts_[0].find("waits for Event 0x77"), std::string::npos) << texts_[0];
  EXPECT_EQ(lookOften(20, waits), kNothing);
  EXPECT_EQ(lookOften(8, [](HandMade& made) { waitFor(made, "Event", 2); }), Told{Condition::Standstill});
}

TEST_F(WatchdogRulesTest, SaysNothingWhileAThreadMayStillWakeSomebody) {
  isNobodyThere = false;
  EXPECT_EQ(lookOften(20, [](HandMade& made) { waitFor(made, "Event"); }), kNothing);
  isNobodyThere = true;
  EXPECT_EQ(look([](HandMade& made) { waitFor(made, "Event"); }), Told{Condition::Standstill});
}

TEST_F(WatchdogRulesTest, TellsOfNoStandstillWhileAFiberWaitsForIoOrATimeOrMayGoOn) {
  EXPECT_EQ(lookOften(20, [](HandMade& made) { waitFor(made, "io::read"); }), kNothing);
  const auto sleeps = [](HandMade& made) {
    waitFor(made, "sleep");
    made.snapshot.workers[0].numTimers = 1;
    made.snapshot.workers[0].untilTimer = 1h;
  };
  EXPECT_EQ(lookOften(20, sleeps), kNothing);
  uint64_t turn = 0;
  const auto isReady = [&turn](HandMade& made) {
    waitFor(made, "Event");
    made.snapshot.workers[0].turn = ++turn;
    made.fiber(2, 'B', Fiber::State::Ready);
  };
  EXPECT_EQ(lookOften(20, isReady), kNothing);
  EXPECT_EQ(lookOften(20, [](HandMade& made) { made.scheduler(0x5000), made.worker(0, 4712); }), kNothing);
}

void makeCycle(HandMade& made, std::chrono::nanoseconds blockedFor, Address object = 0x71) {
  made.scheduler(0x5000);
  made.worker(0, 4712);
  made.blocked(1, 'A', "mutex", object, blockedFor).holder = 1;
  made.blocked(2, 'B', "mutex", 0x72, blockedFor).holder = 0;
}

TEST_F(WatchdogRulesTest, TellsOfADeadlockAtTheSecondLook) {
  isNobodyThere = false;
  const auto deadlock = [](HandMade& made) { makeCycle(made, 1s); };
  EXPECT_EQ(look(deadlock), kNothing);
  EXPECT_TRUE(rules_.wantsLookSoon());
  EXPECT_EQ(look(deadlock), Told{Condition::Deadlock});
  EXPECT_TRUE(
      texts_[0].starts_with("weft: watchdog: process 4711: deadlock: 2 fibers wait for locks of each other"))
      << texts_[0];
  EXPECT_FALSE(rules_.wantsLookSoon());
  EXPECT_EQ(lookOften(20, deadlock), kNothing);
  EXPECT_EQ(look([](HandMade&) {}), kNothing);
  EXPECT_EQ(lookOften(2, deadlock), Told{Condition::Deadlock});
}

TEST_F(WatchdogRulesTest, TellsOfADeadlockOfWaitsThatLookShortAtALaterLook) {
  isNobodyThere = false;
  EXPECT_EQ(lookOften(6, [](HandMade& made) { makeCycle(made, 1us); }), Told{Condition::Deadlock});
  EXPECT_EQ(lookOften(20, [](HandMade& made) { makeCycle(made, 1us); }), kNothing);
}

TEST_F(WatchdogRulesTest, TellsOfNoDeadlockThatIsAnotherOneAtEachLook) {
  isNobodyThere = false;
  Address object = 0x100;
  EXPECT_EQ(lookOften(20, [&object](HandMade& made) { makeCycle(made, 1s, ++object); }), kNothing);
  bool isThere = false;
  const auto comesAndGoes = [&isThere](HandMade& made) {
    isThere = !isThere;
    if (isThere) {
      makeCycle(made, 1s);
    }
  };
  EXPECT_EQ(lookOften(20, comesAndGoes), kNothing);
}

TEST(WatchdogTextTest, KnowsWhichSnapshotHasTheCycleOfADeadlockWithItsBacktraces) {
  HandMade made;
  makeCycle(made, 1s);
  auto& fibers = made.snapshot.fibers;
  fibers[0].address = 0x100;
  fibers[1].address = 0x200;
  detail::Finding finding;
  finding.condition = Condition::Deadlock;
  finding.firstOfCycle = 0x100;
  fibers[0].numFrames = 1;
  EXPECT_FALSE(detail::hasBacktraces(made.snapshot, finding));
  fibers[1].numFrames = 1;
  EXPECT_TRUE(detail::hasBacktraces(made.snapshot, finding));
  fibers[1].state = Fiber::State::Running;  // between two waits with a time limit
  EXPECT_FALSE(detail::hasBacktraces(made.snapshot, finding));
  fibers[1].state = Fiber::State::Blocked;
  fibers[1].holder = detail::inspect::kNone;
  EXPECT_FALSE(detail::hasBacktraces(made.snapshot, finding));
}

// The numbers of system calls differ between processors.
bool tellsOfSleep(long call, const char* rest, bool mayHaveLimit) {
  return detail::tellsOfSleep((std::to_string(call) + ' ' + rest).c_str(), mayHaveLimit);
}

TEST(OtherThreadsTest, KnowsASleepThatOnlyAnotherThreadEnds) {
  EXPECT_TRUE(tellsOfSleep(SYS_futex, "0x7f40 0x189 0x0 0x0 0x0 0xffffffff 0x7ffc 0x7f07\n", false));
  EXPECT_TRUE(tellsOfSleep(SYS_futex, "0x7f40 0x80 0x0 0x0 0x0 0x0 0x7ffc 0x7f07\n", false));
}

TEST(OtherThreadsTest, TakesNothingElseForOne) {
  const char* const withLimit = "0x7f40 0x189 0x0 0x7ffe 0x0 0xffffffff 0x7ffc 0x7f07\n";
  EXPECT_FALSE(tellsOfSleep(SYS_futex, withLimit, false));
  EXPECT_TRUE(tellsOfSleep(SYS_futex, withLimit, true));
  EXPECT_FALSE(tellsOfSleep(SYS_futex, "0x7f40 0x81 0x1 0x0 0x0 0x0 0x7ffc 0x7f07\n", true));  // a wake
  EXPECT_FALSE(tellsOfSleep(SYS_read, "0x3 0x0 0x0 0x0 0x0 0x0 0x7ffc 0x7f07\n", true));       // read()
  EXPECT_FALSE(detail::tellsOfSleep("running\n", true));
  EXPECT_FALSE(detail::tellsOfSleep("-1 0x7ffc 0x7f07\n", true));
  EXPECT_FALSE(detail::tellsOfSleep("", true));
}

}  // namespace watchdog_rules_test
}  // namespace
}  // namespace weft
