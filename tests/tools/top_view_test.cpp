// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/top_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "../inspect/hand_made.h"
#include "tools/worker_rates.h"

namespace top_view_test {

using weft::detail::inspect::Fiber;
using weft::detail::inspect::Worker;
using weft::detail::tools::cutLine;
using weft::detail::tools::LookTime;
using weft::detail::tools::rateText;
using weft::detail::tools::topLines;
using weft::detail::tools::WorkerRate;
using weft::detail::tools::WorkerRates;
using weft::tests::FakeNames;
using weft::tests::HandMade;
using namespace std::chrono_literals;

TEST(RateTextTest, HasTwoDigitsThatCount) {
  EXPECT_EQ(rateText(0), "0");
  EXPECT_EQ(rateText(0.01), "<0.1");
  EXPECT_EQ(rateText(0.25), "0.3");
  EXPECT_EQ(rateText(3.21), "3.2");
  EXPECT_EQ(rateText(9.97), "10");
  EXPECT_EQ(rateText(123), "120");
  EXPECT_EQ(rateText(999), "1k");
  EXPECT_EQ(rateText(1'234), "1.2k");
  EXPECT_EQ(rateText(57'432), "57k");
  EXPECT_EQ(rateText(999'999), "1M");
  EXPECT_EQ(rateText(3'456'000), "3.5M");
  EXPECT_EQ(rateText(4'560'000'000), "4,600M");
}

TEST(CutLineTest, CutsBetweenCharacters) {
  EXPECT_EQ(cutLine("abc", 3), "abc");
  EXPECT_EQ(cutLine("abcd", 3), "abc");
  EXPECT_EQ(cutLine("\xc3\xa4\xc3\xb6\xc3\xbc", 2), "\xc3\xa4\xc3\xb6");
}

// A program of one worker that runs a task.
struct Program : HandMade {
  Program() {
    scheduler(0x10);
    Worker& only = worker(0, 5000);
    only.address = 0x100;
    only.state = Worker::State::Busy;
    only.running = 0;
    fiber(1, 'A', Fiber::State::Running).address = 0x200;
  }
  WorkerRate look(std::chrono::nanoseconds processor, LookTime now) {
    return rates.look(snapshot, std::vector{processor}, now)[0];
  }
  Worker& only() { return snapshot.workers[0]; }

  WorkerRates rates;
  LookTime begin = LookTime() + 1h;
};

TEST(WorkerRatesTest, CountsFromLookToLook) {
  Program program;
  EXPECT_FALSE(program.look(0s, program.begin).isKnown);
  program.only().numTasksRun = 30;
  program.only().numSteals = 3;
  program.only().numParks = 6;
  program.only().turn = 1;
  const WorkerRate rate = program.look(1500ms, program.begin + 3s);
  EXPECT_TRUE(rate.isKnown);
  EXPECT_EQ(rate.tasks, 10);
  EXPECT_EQ(rate.steals, 1);
  EXPECT_EQ(rate.sleeps, 2);
  EXPECT_EQ(rate.processor, 0.5);
  EXPECT_EQ(rate.sameTask, 0s);
}

TEST(WorkerRatesTest, AnotherWorkerAtTheAddressHasNoRate) {
  Program program;
  program.only().numTasksRun = 30;
  (void)program.look(0s, program.begin);
  program.only().numTasksRun = 20;
  EXPECT_FALSE(program.look(0s, program.begin + 1s).isKnown);
  program.only().address = 0x108;
  EXPECT_FALSE(program.look(0s, program.begin + 2s).isKnown);
  EXPECT_TRUE(program.look(0s, program.begin + 3s).isKnown);
}

TEST(WorkerRatesTest, ATaskThatKeepsItsTurnRunsSinceTheFirstLookAtIt) {
  Program program;
  (void)program.look(0s, program.begin);
  EXPECT_EQ(program.look(0s, program.begin + 1s).sameTask, 1s);
  EXPECT_EQ(program.look(0s, program.begin + 3s).sameTask, 3s);
  program.snapshot.fibers[0].taskNumber = 2;
  EXPECT_EQ(program.look(0s, program.begin + 4s).sameTask, 0s);
}

TEST(WorkerRatesTest, AThreadThatTheSystemDoesNotKnowHasNoShare) {
  Program program;
  (void)program.look(0s, program.begin);
  EXPECT_LT(program.look(-1ns, program.begin + 1s).processor, 0);
  EXPECT_LT(program.look(1s, program.begin + 2s).processor, 0);
  EXPECT_EQ(program.look(3s, program.begin + 3s).processor, 1);
}

// Workers that sleep, one that runs a task, and fibers of several groups that wait.
struct View : HandMade {
  explicit View(int numIdle) {
    scheduler(0x10, 7);
    Worker& busy = worker(0, 5000);
    busy.state = Worker::State::Busy;
    busy.running = 0;
    fiber(1, 'A', Fiber::State::Running);
    for (char task = 'B'; task < 'H'; ++task) {
      blocked(static_cast<uint32_t>(task), task, "Event", 0x7f40, 3s, {weft::tests::kServe});
    }
    for (int i = 1; i <= numIdle; ++i) {
      worker(i, 5000 + i);
    }
    rates.resize(snapshot.workers.size());
    rates[0] = {.isKnown = true, .tasks = 1234, .processor = 0.98, .sameTask = 3400ms};
  }
  std::vector<std::string> lines(size_t most = 1000, size_t mostGroups = 10) {
    FakeNames names;
    return topLines(snapshot, rates, names,
                    {.heading = "process 4711", .mostLines = most, .mostGroups = mostGroups});
  }

  std::vector<WorkerRate> rates;
};

TEST(TopLinesTest, TellWhatEachWorkerDoes) {
  const std::vector<std::string> lines = View(1).lines();
  ASSERT_EQ(lines.size(), 13u);
  EXPECT_EQ(lines[0], "process 4711: 1 scheduler, 2 worker threads");
  EXPECT_EQ(lines[1], "1.2k tasks/s; 7 fibers in use: 1 runs a task, 0 ready, 6 wait; 0 idle");
  EXPECT_EQ(lines[2], "WORKER    CPU TASKS/s STEALS/s SLEEPS/s QUEUED  READY    WAIT  DOES");
  EXPECT_EQ(lines[3], "scheduler 0x10: 7 tasks queued for any worker");
  EXPECT_EQ(lines[4],
            "worker 0  98%    1.2k        0        0      0      0       6  "
            "runs for at least 3.4 s task A on fiber 1");
  EXPECT_EQ(lines[5], "worker 1    -       -        -        -      0      0       0  sleeps");
  EXPECT_EQ(lines[6], " FIBERS");
  EXPECT_EQ(lines[7],
            "      1 waits for Event 0x7f40, for 3 s, in serve(Connection&)+0x2 (server+0x3412); task B");
}

TEST(TopLinesTest, TellWhatTheCodeOfAThreadWaitsForOutsideOfTasks) {
  HandMade made;
  made.scheduler(0x10);
  made.worker(0, 5000);
  made.block(made.main(), "Event", 0x7f40, 3s);
  made.worker(-1, 5001);
  made.block(made.main(), "Event", 0x7f40, 3s);
  FakeNames names;
  const std::vector<WorkerRate> rates(2);
  const std::vector<std::string> lines = topLines(made.snapshot, rates, names, {.heading = "process 4711"});
  ASSERT_GE(lines.size(), 5u);
  EXPECT_TRUE(lines[3].ends_with("  sleeps; its code outside of tasks waits for Event 0x7f40, for 3 s"))
      << lines[3];
  EXPECT_TRUE(lines[4].ends_with("  sleeps; its own code waits for Event 0x7f40, for 3 s")) << lines[4];
}

TEST(TopLinesTest, ManyWorkersWithNothingToDoShareALine) {
  const std::vector<std::string> lines = View(4).lines();
  EXPECT_EQ(std::ranges::count(lines, "4 other workers have nothing to do"), 1);
}

TEST(TopLinesTest, GroupsThatHaveNoRoomAreCounted) {
  EXPECT_EQ(View(1).lines(1000, 4).back(), "      2 in 2 more groups");
}

TEST(TopLinesTest, FitIntoTheView) {
  View view(3);
  for (size_t most = 4; most < 16; ++most) {
    const std::vector<std::string> lines = view.lines(most);
    EXPECT_LE(lines.size(), most);
  }
  const std::vector<std::string> lines = view.lines(10);
  EXPECT_EQ(lines[5], "and 3 more lines");
  EXPECT_EQ(lines[9], "      4 in 4 more groups");
}

TEST(TopLinesTest, TellOfAProcessWithoutSchedulers) {
  HandMade none;
  FakeNames names;
  const std::vector<std::string> lines = topLines(none.snapshot, {}, names, {.heading = "process 4711"});
  EXPECT_EQ(lines.back(), "no scheduler now");
}

}  // namespace top_view_test
