// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "hand_made.h"
#include "inspect/lock_cycles.h"
#include "inspect/object_waiters.h"

namespace {

using namespace std::chrono_literals;

using weft::detail::inspect::Address;
using weft::detail::inspect::Fiber;
using weft::detail::inspect::findCycles;
using weft::detail::inspect::ReportOptions;
using weft::detail::inspect::Snapshot;
using weft::detail::inspect::Text;
using weft::detail::inspect::Worker;
using weft::tests::FakeNames;
using weft::tests::HandMade;
using weft::tests::kAcquire;
using weft::tests::kBlock;
using weft::tests::kFiberBase;
using weft::tests::kLambda;
using weft::tests::kMain;
using weft::tests::kParallelFor;
using weft::tests::kRunTask;
using weft::tests::kServe;
using weft::tests::kSuspend;
using weft::tests::ScarceMemory;
using weft::tests::textOf;

// Returns: the report without its last line, which all of them have.
std::string reportOf(const Snapshot& snapshot, const ReportOptions& options = {}, FakeNames names = {}) {
  const std::string text = textOf([&](Text& out) { writeReport(out, snapshot, names, options); });
  const std::string end = "weft: end of process 4711\n";
  EXPECT_TRUE(text.ends_with(end)) << text;
  return text.substr(0, text.size() - std::min(text.size(), end.size()));
}

// A scheduler with one worker, which sleeps.
struct OneWorker : HandMade {
  explicit OneWorker(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : HandMade(memory) {
    scheduler(0x5000);
    worker(0, 4712);
  }
};

// Returns: the report after the lines of the scheduler and its workers.
std::string groupsOf(const Snapshot& snapshot, const ReportOptions& options = {},
                     const FakeNames& names = {}) {
  const std::string text = reportOf(snapshot, options, names);
  size_t begin = text.find("\nscheduler ") + 1;
  for (size_t i = 0; i < snapshot.schedulers.size() + snapshot.workers.size(); ++i) {
    begin = text.find('\n', begin) + 1;
  }
  return text.substr(begin);
}

// Returns: the report between the headline and the lines of the schedulers.
std::string deadlocksOf(const Snapshot& snapshot, const ReportOptions& options = {}) {
  const std::string text = reportOf(snapshot, options);
  const size_t begin = text.find('\n') + 1;
  return text.substr(begin, text.find("\nscheduler ") + 1 - begin);
}

TEST(ReportTest, SaysThatThereIsNoScheduler) {
  const HandMade made;
  EXPECT_EQ(reportOf(made.snapshot), "weft: process 4711: 0 schedulers, 0 fibers in use, of which 0 wait\n");
}

TEST(ReportTest, SaysWhichProgramItWasAndWhen) {
  HandMade made;
  made.snapshot.program = "/usr/bin/server";
  made.snapshot.time = 1'795'766'345;
  EXPECT_EQ(reportOf(made.snapshot),
            "weft: process 4711, /usr/bin/server: 0 schedulers, 0 fibers in use, of which 0 wait; "
            "2026-11-27T07:59:05Z\n");
}

TEST(ReportTest, SaysWhatEachWorkerDoes) {
  HandMade made;
  made.scheduler(0x5000, 3);
  Worker& busy = made.worker(0, 4712);
  busy.state = Worker::State::Busy;
  busy.busyFor = 3200ms;
  busy.numQueued = 12;
  busy.numReady = 3;
  busy.running = 1;
  made.main();
  made.fiber(7, 'A', Fiber::State::Running);
  made.fiber(8, 'A', Fiber::State::Idle).task = 0;
  for (uint32_t id = 9; id < 12; ++id) {
    made.fiber(id, 'A', Fiber::State::Ready);
  }
  made.worker(1, 4713);
  made.main();
  made.worker(2, 4714).state = Worker::State::Searching;
  Worker& quick = made.worker(3, 4715);
  quick.state = Worker::State::Busy;
  quick.busyFor = 40us;
  quick.numQueued = 1;
  quick.numReady = 1;
  Worker& bound = made.worker(-1, 4711);
  bound.state = Worker::State::Busy;
  bound.busyFor = 9s;
  bound.running = static_cast<uint32_t>(made.snapshot.fibers.size());
  made.main();
  EXPECT_EQ(
      reportOf(made.snapshot),
      "weft: process 4711: 1 scheduler, 4 worker threads, 1 bound thread, 4 fibers in use, of which 0 wait\n"
      "scheduler 0x5000: 3 tasks queued for any worker\n"
      "  worker 0, thread 4712: runs task A on fiber 7; has not looked after other fibers for 3.2 s; "
      "12 tasks queued, 3 fibers ready to go on\n"
      "  worker 1, thread 4713: sleeps\n"
      "  worker 2, thread 4714: looks for work\n"
      "  worker 3, thread 4715: is between two tasks; 1 task queued, 1 fiber ready to go on\n"
      "  main thread 4711: runs its own code\n"
      "3 fibers are ready to go on, and wait for their turn on worker 0; task A\n");
}

TEST(ReportTest, SaysThatAWorkersThreadHasNotBegun) {
  HandMade made;
  made.scheduler(0x5000);
  made.worker(0, 0).state = Worker::State::Searching;
  EXPECT_EQ(reportOf(made.snapshot),
            "weft: process 4711: 1 scheduler, 1 worker thread, 0 fibers in use, of which 0 wait\n"
            "scheduler 0x5000\n"
            "  worker 0: has not begun\n");
}

TEST(ReportTest, SaysThatTheCodeOfABoundThreadKeepsOthersWaiting) {
  HandMade made;
  made.scheduler(0x5000);
  Worker& bound = made.worker(-1, 4711);
  bound.state = Worker::State::Busy;
  bound.busyFor = 9s;
  bound.numReady = 1;
  bound.running = 0;
  made.main();
  EXPECT_EQ(reportOf(made.snapshot),
            "weft: process 4711: 1 scheduler, 1 bound thread, 0 fibers in use, of which 0 wait\n"
            "scheduler 0x5000\n"
            "  main thread 4711: runs its own code; has not looked after other fibers for 9 s; "
            "1 fiber ready to go on\n");
}

TEST(ReportTest, TellsOfManyIdleWorkersInOneLine) {
  HandMade made;
  made.scheduler(0x5000);
  for (int i = 0; i < 64; ++i) {
    made.worker(i, 4712 + i).numBlocked = 2;
  }
  made.snapshot.workers[5].numQueued = 1;
  made.snapshot.workers[6].numReady = 1;
  made.snapshot.workers[7].state = Worker::State::Busy;
  made.worker(-1, 4711);
  made.block(made.main(), "Event", 0x100, 1s);
  made.snapshot.workers.back().numBlocked += 2;
  EXPECT_EQ(
      reportOf(made.snapshot),
      "weft: process 4711: 1 scheduler, 64 worker threads, 1 bound thread, 1 fiber in use, of which 1 waits\n"
      "scheduler 0x5000\n"
      "  worker 5, thread 4717: sleeps; 1 task queued, 2 fibers wait\n"
      "  worker 6, thread 4718: sleeps; 1 fiber ready to go on, 2 fibers wait\n"
      "  worker 7, thread 4719: is between two tasks; 2 fibers wait\n"
      "  main thread 4711: sleeps; its own code waits for Event 0x100, for 1 s; 2 fibers wait\n"
      "  61 other workers have nothing to do; 122 fibers of theirs wait\n"
      "the code of main thread 4711 waits for Event 0x100, for 1 s\n");
}

TEST(ReportTest, TellsOfALongTaskThatNobodyWaitsFor) {
  HandMade made;
  made.scheduler(0x5000);
  for (const char task : {'A', '\0'}) {
    Worker& worker = made.worker(task == 'A' ? 0 : 1, 4712);
    worker.state = Worker::State::Busy;
    worker.busyFor = 10ms;
    worker.running = worker.firstFiber;
    made.fiber(1, task, Fiber::State::Running);
  }
  EXPECT_EQ(reportOf(made.snapshot),
            "weft: process 4711: 1 scheduler, 2 worker threads, 1 fiber in use, of which 0 wait\n"
            "scheduler 0x5000\n"
            "  worker 0, thread 4712: runs task A on fiber 1; has not looked after other fibers for 10 ms\n"
            "  worker 1, thread 4712: is between two tasks; has not looked after other fibers for 10 ms\n");
}

TEST(ReportTest, TellsOfTheCodeOfABoundThread) {
  HandMade made;
  made.scheduler(0x5000);
  made.worker(-1, 4711);
  made.block(made.main(), "WaitGroup", 0x7f00, 9s, {kSuspend, kAcquire, kMain});
  EXPECT_EQ(reportOf(made.snapshot),
            "weft: process 4711: 1 scheduler, 1 bound thread, 1 fiber in use, of which 1 waits\n"
            "scheduler 0x5000\n"
            "  main thread 4711: sleeps; its own code waits for WaitGroup 0x7f00, for 9 s\n"
            "the code of main thread 4711 waits for WaitGroup 0x7f00, for 9 s, in main+0x2 (server+0x2000)\n"
            "    weft::Semaphore::acquire()+0x2 (server+0x9100)\n"
            "    main+0x2 (server+0x2000)\n");
}

TEST(ReportTest, LeavesOutWhatWeftCallsAboveAndBelowTheTask) {
  OneWorker made;
  made.blocked(3, 'A', "Semaphore", 0x7f00, 40us,
               {kSuspend, kBlock, kAcquire, kServe, kParallelFor, kLambda, kRunTask, kFiberBase});
  EXPECT_EQ(groupsOf(made.snapshot),
            "1 fiber waits for Semaphore 0x7f00, for 40 us, in serve(Connection&)+0x2 (server+0x3412): "
            "worker 0, fiber 3, task A\n"
            "    weft::Semaphore::acquire()+0x2 (server+0x9100)\n"
            "    serve(Connection&)+0x2 (server+0x3412)\n"
            "    weft::parallelFor()+0x2 (server+0x9600)\n"
            "    main::{lambda()#2}::operator()+0x2 (server+0x4000)\n");
}

TEST(ReportTest, ShowsAllFramesIfNoneIsKnown) {
  OneWorker made;
  made.blocked(3, 'A', "Semaphore", 0x7f00, 40us, {kAcquire, kServe, kRunTask});
  FakeNames stripped;
  stripped.isStripped = true;
  EXPECT_EQ(
      groupsOf(made.snapshot, {}, stripped),
      "1 fiber waits for Semaphore 0x7f00, for 40 us, in ??+0x2 (server+0x9100): worker 0, fiber 3, task A\n"
      "    ??+0x2 (server+0x9100)\n"
      "    ??+0x2 (server+0x3412)\n"
      "    ??+0x2 (server+0x9400)\n");
}

TEST(ReportTest, ShowsAllFramesIfAllAreWefts) {
  OneWorker made;
  made.blocked(3, 'A', "Event", 0x7f00, 0s, {kSuspend, kRunTask});
  EXPECT_EQ(groupsOf(made.snapshot),
            "1 fiber waits for Event 0x7f00: worker 0, fiber 3, task A\n"
            "    weft::suspend()+0x2 (server+0x9300)\n"
            "    weft_run_task+0x2 (server+0x9400)\n");
}

TEST(ReportTest, LimitsTheFramesOfAStack) {
  OneWorker made;
  std::vector<Address> frames;
  for (int i = 0; i < 10; ++i) {
    frames.insert(frames.end(), {kServe, kLambda});
  }
  made.blocked(3, 'A', "Event", 0x7f00, 1s, frames);
  ReportOptions options;
  options.mostFrames = 2;
  EXPECT_EQ(groupsOf(made.snapshot, options),
            "1 fiber waits for Event 0x7f00, for 1 s, in serve(Connection&)+0x2 (server+0x3412): "
            "worker 0, fiber 3, task A\n"
            "    serve(Connection&)+0x2 (server+0x3412)\n"
            "    main::{lambda()#2}::operator()+0x2 (server+0x4000)\n"
            "    and 18 more frames\n");
}

TEST(ReportTest, ShowsARecursionAsOneFrame) {
  OneWorker made;
  std::vector<Address> frames(20, kServe);
  frames.insert(frames.end(), {kLambda, kServe, kMain});
  made.blocked(3, 'A', "Event", 0x7f00, 1s, frames);
  ReportOptions options;
  options.mostFrames = 3;
  EXPECT_EQ(groupsOf(made.snapshot, options),
            "1 fiber waits for Event 0x7f00, for 1 s, in serve(Connection&)+0x2 (server+0x3412): "
            "worker 0, fiber 3, task A\n"
            "    serve(Connection&)+0x2 (server+0x3412), 20 times\n"
            "    main::{lambda()#2}::operator()+0x2 (server+0x4000)\n"
            "    serve(Connection&)+0x2 (server+0x3412)\n"
            "    and 1 more frame\n");
}

TEST(ReportTest, GroupsWhatWaitsAlike) {
  OneWorker made;
  made.blocked(1, 'A', "Semaphore", 0x7f00, 3s, {kServe});
  made.blocked(2, 'A', "Semaphore", 0x7f40, 9s, {kServe});
  made.blocked(3, 'A', "Semaphore", 0x7f00, 4s, {kServe});
  made.blocked(4, 'A', "Semaphore", 0x7f00, 4s, {kLambda});  // elsewhere
  made.blocked(5, 'B', "Semaphore", 0x7f00, 5s, {kServe});   // another task
  made.blocked(6, 'A', "Event", 0x7f00, 6s, {kServe});       // another kind
  made.blocked(7, 'A', "Event", 0x7f00, 6s, {kServe});
  EXPECT_EQ(
      groupsOf(made.snapshot),
      "3 fibers wait for Semaphore (2 different ones), for 3 to 9 s, in serve(Connection&)+0x2 "
      "(server+0x3412); "
      "task A\n"
      "    serve(Connection&)+0x2 (server+0x3412)\n"
      "2 fibers wait for Event 0x7f00, for 6 s, in serve(Connection&)+0x2 (server+0x3412); task A\n"
      "    serve(Connection&)+0x2 (server+0x3412)\n"
      "1 fiber waits for Semaphore 0x7f00, for 5 s, in serve(Connection&)+0x2 (server+0x3412): "
      "worker 0, fiber 5, task B\n"
      "    serve(Connection&)+0x2 (server+0x3412)\n"
      "1 fiber waits for Semaphore 0x7f00, for 4 s, in main::{lambda()#2}::operator()+0x2 (server+0x4000): "
      "worker 0, fiber 4, task A\n"
      "    main::{lambda()#2}::operator()+0x2 (server+0x4000)\n");
}

TEST(ReportTest, SaysThatFibersOfOtherGroupsWaitForTheObject) {
  OneWorker made;
  made.blocked(1, 'A', "mutex", 0x100, 9s);
  made.blocked(2, 'A', "mutex", 0x100, 9s);
  made.blocked(3, 'B', "mutex", 0x100, 8s);
  made.blocked(4, 'C', "mutex", 0x100, 7s);
  made.blocked(5, 'C', "mutex", 0x200, 7s);
  made.blocked(6, 'D', "mutex", 0x300, 6s);
  made.blocked(7, 'E', "Channel::send", 0x400, 5s);
  made.blocked(8, 'F', "Channel::receive", 0x400, 4s);
  weft::detail::inspect::countWaiters(made.snapshot, 0);
  made.snapshot.fibers[2].owner = 0x1;
  EXPECT_EQ(groupsOf(made.snapshot),
            "2 fibers wait for mutex 0x100, for 9 s; task A; 2 more fibers wait for this mutex\n"
            "2 fibers wait for mutex (2 different ones), for 7 s; task C; 3 more fibers wait for one of "
            "these objects\n"
            "1 fiber waits for mutex 0x100, for 8 s: worker 0, fiber 3, task B; 3 more fibers wait for this "
            "mutex; held by a thread or task that weft does not know\n"
            "1 fiber waits for mutex 0x300, for 6 s: worker 0, fiber 6, task D\n"
            "1 fiber waits for Channel::send 0x400, for 5 s: worker 0, fiber 7, task E; "
            "1 more fiber waits for this Channel\n"
            "1 fiber waits for Channel::receive 0x400, for 4 s: worker 0, fiber 8, task F; "
            "1 more fiber waits for this Channel\n");
}

TEST(ReportTest, NamesDescriptorsAndWhatHasNoObject) {
  OneWorker made;
  made.blocked(1, 'A', "io::read", 7, 300ms);
  made.blocked(2, 'B', "io::recv", 8, 200ms);
  made.blocked(3, 'B', "io::recv", 9, 200ms);
  made.blocked(4, 'C', "sleep", 0, 100ms);
  made.blocked(5, 'D', "sleep", 0, 90ms);
  made.blocked(6, 'D', "sleep", 0, 8ms);
  made.blocked(7, 'E', "Fiber::notify", 0x1000, 7ms);
  made.blocked(8, 'E', "Fiber::notify", 0x2000, 7ms);
  made.blocked(9, 'F', "io::resolve", ~Address{0}, 6ms);
  made.blocked(10, 'F', "Event", 0x1, 5ms).what = weft::detail::inspect::kNone;
  EXPECT_EQ(groupsOf(made.snapshot),
            "2 fibers wait for io::recv (2 descriptors), for 200 ms; task B\n"
            "2 fibers sleep, for 8 to 90 ms; task D\n"
            "2 fibers wait for Fiber::notify, for 7 ms; task E\n"
            "1 fiber waits for io::read, fd 7, for 300 ms: worker 0, fiber 1, task A\n"
            "1 fiber sleeps, for 100 ms: worker 0, fiber 4, task C\n"
            "1 fiber waits for io::resolve, for 6 ms: worker 0, fiber 9, task F\n"
            "1 fiber waits for something unknown 0x1, for 5 ms: worker 0, fiber 10, task F\n");
}

TEST(ReportTest, CountsWhatItHasNoRoomFor) {
  OneWorker made;
  for (uint32_t i = 0; i < 7; ++i) {
    made.blocked(i, static_cast<char>('A' + i % 4), "Event", 0x7f00, 1s);
  }
  ReportOptions options;
  options.mostGroups = 2;
  EXPECT_EQ(groupsOf(made.snapshot, options),
            "2 fibers wait for Event 0x7f00, for 1 s; task A\n"
            "2 fibers wait for Event 0x7f00, for 1 s; task B\n"
            "2 more groups, 3 fibers in all\n");
}

// Fibers of a bound thread, 6 to 12, wait for a mutex each. Its holder is in another state each time.
struct WaitersForLocks : OneWorker {
  WaitersForLocks() {
    main();                                // 0
    fiber(1, 'R', Fiber::State::Running);  // 1
    fiber(2, 'Y', Fiber::State::Ready);    // 2
    fiber(3, '\0', Fiber::State::Idle);    // 3
    blocked(4, 'S', "sleep", 0, 1s);       // 4
    blocked(5, 'W', "Event", 0x7f00, 1s);  // 5
    wait(6, 'A', 1);
    wait(7, 'B', 2);
    wait(8, 'C', 3);
    wait(9, 'D', 4);
    wait(10, 'E', 5);
    wait(11, 'F', 0);
    wait(12, 'G', weft::detail::inspect::kNone);
    snapshot.workers[0].id = -1;
  }

 private:
  void wait(uint32_t id, char task, uint32_t holder) {
    Fiber& fiber = blocked(id, task, "mutex", 0x100 + id, std::chrono::seconds(20 - id));
    fiber.owner = 0x1;
    fiber.holder = holder;
  }
};

// Returns: what a report says of one of WaitersForLocks.
std::string lineOfWaiter(uint32_t id, char task, const std::string& holder) {
  std::ostringstream line;
  line << "1 fiber waits for mutex 0x" << std::hex << 0x100 + id << std::dec << ", for " << 20 - id
       << " s: bound thread 4712, fiber " << id << ", task " << task << "; held by " << holder << '\n';
  return line.str();
}

TEST(ReportTest, SaysWhoHoldsALock) {
  const WaitersForLocks made;
  const std::string where = " on bound thread 4712, fiber ";
  EXPECT_EQ(groupsOf(made.snapshot),
            lineOfWaiter(6, 'A', "task R" + where + "1, which runs") +
                lineOfWaiter(7, 'B', "task Y" + where + "2, which may go on, and waits for its turn") +
                lineOfWaiter(8, 'C', "a task that has ended without unlocking it") +
                lineOfWaiter(9, 'D', "task S" + where + "4, which sleeps") +
                lineOfWaiter(10, 'E', "task W" + where + "5, which waits for Event 0x7f00 itself") +
                lineOfWaiter(11, 'F', "the code of bound thread 4712, which runs") +
                lineOfWaiter(12, 'G', "a thread or task that weft does not know") +
                "1 fiber sleeps, for 1 s: bound thread 4712, fiber 4, task S\n"
                "1 fiber waits for Event 0x7f00, for 1 s: bound thread 4712, fiber 5, task W\n"
                "1 fiber is ready to go on, and waits for its turn on bound thread 4712; task Y\n");
}

TEST(ReportTest, SaysWhoHoldsWhatAGroupWaitsFor) {
  OneWorker made;
  made.fiber(1, 'R', Fiber::State::Running);
  const auto wait = [&](char task, Address owner, uint32_t holder) {
    Fiber& fiber = made.blocked(2, task, "mutex", 0x100, 2s);
    fiber.owner = owner;
    fiber.holder = holder;
  };
  const uint32_t kUnknown = weft::detail::inspect::kNone;
  wait('A', 0x1, 0);
  wait('A', 0x1, 0);
  wait('B', 0x1, 0);
  wait('B', 0, kUnknown);
  wait('C', 0x1, kUnknown);  // two unknown ones
  wait('C', 0x2, kUnknown);
  wait('D', 0x1, 0);  // seen while it came
  wait('D', 0x1, kUnknown);
  EXPECT_EQ(
      groupsOf(made.snapshot),
      "2 fibers wait for mutex 0x100, for 2 s; task A; held by task R on worker 0, fiber 1, which runs\n"
      "2 fibers wait for mutex 0x100, for 2 s; task B\n"
      "2 fibers wait for mutex 0x100, for 2 s; task C\n"
      "2 fibers wait for mutex 0x100, for 2 s; task D\n");
}

TEST(ReportTest, NamesTheSchedulerIfThereAreSeveral) {
  HandMade made;
  made.scheduler(0x5000);
  made.worker(0, 4712);
  made.scheduler(0x6000);
  made.worker(0, 4713);
  made.blocked(1, 'A', "Event", 0x100, 1s);
  EXPECT_EQ(reportOf(made.snapshot),
            "weft: process 4711: 2 schedulers, 2 worker threads, 1 fiber in use, of which 1 waits\n"
            "scheduler 0x5000\n"
            "  worker 0, thread 4712: sleeps\n"
            "scheduler 0x6000\n"
            "  worker 0, thread 4713: sleeps; 1 fiber waits\n"
            "1 fiber waits for Event 0x100, for 1 s: worker 0 of scheduler 0x6000, fiber 1, task A\n");
}

TEST(ReportTest, ShowsEachEdgeOfADeadlock) {
  OneWorker made;
  made.blocked(3, 'A', "mutex", 0x2, 5s, {kAcquire, kServe, kRunTask}).holder = 1;
  made.blocked(5, 'B', "SharedMutex", 0x1, 4s, {kLambda}).holder = 0;
  EXPECT_EQ(
      deadlocksOf(made.snapshot),
      "deadlock: 2 fibers wait for locks of each other, and only a time limit or a stop could end that:\n"
      "  task A (worker 0, fiber 3) holds SharedMutex 0x1 and waits for mutex 0x2, for 5 s\n"
      "      weft::Semaphore::acquire()+0x2 (server+0x9100)\n"
      "      serve(Connection&)+0x2 (server+0x3412)\n"
      "  task B (worker 0, fiber 5) holds mutex 0x2 and waits for SharedMutex 0x1, for 4 s\n"
      "      main::{lambda()#2}::operator()+0x2 (server+0x4000)\n");
  EXPECT_EQ(groupsOf(made.snapshot), "");  // no fiber is told of twice
}

TEST(ReportTest, ShowsWhoWaitsForItsOwnLock) {
  HandMade made;
  made.scheduler(0x5000);
  made.worker(-1, 4711);
  Fiber& main = made.main();
  made.block(main, "mutex", 0x1, 5s);
  main.holder = 0;
  EXPECT_EQ(deadlocksOf(made.snapshot),
            "deadlock: a fiber waits for a lock that it holds itself, "
            "and only a time limit or a stop could end that:\n"
            "  the code of main thread 4711 holds mutex 0x1 and waits for mutex 0x1, for 5 s\n");
}

TEST(ReportTest, LimitsTheDeadlocksAndTheirFibers) {
  OneWorker made;
  for (uint32_t i = 0; i < 9; ++i) {
    made.blocked(i, 'A', "mutex", 0x100 + i, 1s).holder = i / 3 * 3 + (i + 1) % 3;
  }
  ReportOptions options;
  options.mostGroups = 0;
  options.mostCycles = 1;
  options.mostFibersOfCycle = 2;
  EXPECT_EQ(
      deadlocksOf(made.snapshot, options),
      "deadlock: 3 fibers wait for locks of each other, and only a time limit or a stop could end that:\n"
      "  task A (worker 0, fiber 0) holds mutex 0x102 and waits for mutex 0x100, for 1 s\n"
      "  task A (worker 0, fiber 1) holds mutex 0x100 and waits for mutex 0x101, for 1 s\n"
      "  and 1 more fiber\n"
      "2 more deadlocks, 6 fibers in all\n");
  EXPECT_EQ(groupsOf(made.snapshot, options), "1 more group, 9 fibers in all\n");
}

TEST(ReportTest, WritesOneCycleAlone) {
  OneWorker made;
  made.blocked(3, 'A', "mutex", 0x2, 5s).holder = 1;
  made.blocked(5, 'B', "mutex", 0x1, 4s).holder = 0;
  const auto cycles = findCycles(made.snapshot, std::pmr::get_default_resource());
  ASSERT_EQ(cycles.size(), 1u);
  FakeNames names;
  EXPECT_EQ(
      textOf([&](Text& out) { writeCycle(out, made.snapshot, cycles[0], names); }),
      "deadlock: 2 fibers wait for locks of each other, and only a time limit or a stop could end that:\n"
      "  task A (worker 0, fiber 3) holds mutex 0x1 and waits for mutex 0x2, for 5 s\n"
      "  task B (worker 0, fiber 5) holds mutex 0x2 and waits for mutex 0x1, for 4 s\n");
}

TEST(ReportTest, SaysThatSomethingIsMissing) {
  HandMade made;
  made.snapshot.isComplete = false;
  EXPECT_EQ(reportOf(made.snapshot),
            "weft: process 4711: 0 schedulers, 0 fibers in use, of which 0 wait\n"
            "Some of this could not be read, or changed while it was read, and is left out.\n");
}

TEST(ReportTest, GoesOnWithoutMemory) {
  ScarceMemory memory;
  OneWorker made(&memory);
  made.blocked(3, 'A', "mutex", 0x2, 5s).holder = 0;
  made.blocked(4, 'A', "Event", 0x3, 5s);
  int numRefused = 0;
  for (int numLeft = 0; numLeft < 20; ++numLeft) {
    memory.numLeft = numLeft;
    const std::string text = reportOf(made.snapshot);
    const auto has = [&text](const char* part) { return text.find(part) != std::string::npos; };
    const bool hasGroups = has("1 fiber waits for Event 0x3");
    const bool hasDeadlock = has("deadlock: a fiber waits");
    EXPECT_NE(hasGroups, has("There is no memory to list the fibers that wait.\n"));
    EXPECT_NE(hasDeadlock, has("There is no memory to look for deadlocks among locks.\n"));
    numRefused += !hasGroups || !hasDeadlock;
  }
  EXPECT_EQ(numRefused, 8);  // requests: five for the groups, three for the deadlocks
}

// What a server with very many connections looks like.
TEST(ReportTest, TellsOfAHundredThousandFibersInAFewLines) {
  HandMade made;
  made.scheduler(0x5000);
  for (int i = 0; i < 2; ++i) {
    made.worker(i, 4712 + i);
  }
  for (uint32_t i = 0; i < 100'000; ++i) {
    const uint32_t kind = i % 100 < 89 ? 0 : i % 100 - 88;
    const std::vector<Address> frames = {kSuspend, kBlock,   kAcquire,  kServe + kind,
                                         kLambda,  kRunTask, kFiberBase};
    made.blocked(i, 'A', "Event", 0x10000 + i % 1000 * 64, 3s + std::chrono::milliseconds(i), frames);
  }
  ReportOptions options;
  options.mostGroups = 2;
  EXPECT_EQ(
      reportOf(made.snapshot, options),
      "weft: process 4711: 1 scheduler, 2 worker threads, 100,000 fibers in use, of which 100,000 wait\n"
      "scheduler 0x5000\n"
      "  worker 0, thread 4712: sleeps\n"
      "  worker 1, thread 4713: sleeps; 100,000 fibers wait\n"
      "89,000 fibers wait for Event (890 different ones), for 3 to 102 s, "
      "in serve(Connection&)+0x2 (server+0x3412); task A\n"
      "    weft::Semaphore::acquire()+0x2 (server+0x9100)\n"
      "    serve(Connection&)+0x2 (server+0x3412)\n"
      "    main::{lambda()#2}::operator()+0x2 (server+0x4000)\n"
      "1,000 fibers wait for Event (10 different ones), for 3 to 102 s, in ??+0x2 (server+0x341d); task A\n"
      "    weft::Semaphore::acquire()+0x2 (server+0x9100)\n"
      "    ??+0x2 (server+0x341d)\n"
      "    main::{lambda()#2}::operator()+0x2 (server+0x4000)\n"
      "10 more groups, 10,000 fibers in all\n");
}

TEST(ReportTest, ListsReadyFibersInFewGroupsAfterThoseThatWait) {
  HandMade made;
  made.scheduler(0x5000);
  made.worker(0, 4712);
  made.fiber(1, 'A', Fiber::State::Ready);
  made.fiber(2, 'A', Fiber::State::Ready);
  made.worker(1, 4713);
  made.fiber(1, 'B', Fiber::State::Ready);
  made.fiber(2, 'B', Fiber::State::Ready);
  made.fiber(3, 'B', Fiber::State::Ready);
  made.snapshot.fibers[4].worker = 0;
  made.fiber(4, 'C', Fiber::State::Ready);
  made.blocked(5, 'D', "sleep", 0, 1s);
  for (const char task : {'E', 'F', 'G'}) {
    made.fiber(6, task, Fiber::State::Ready);
  }
  const std::string text = reportOf(made.snapshot);
  EXPECT_TRUE(
      text.ends_with("1 fiber sleeps, for 1 s: worker 1, fiber 5, task D\n"
                     "3 fibers are ready to go on, and wait for their turn on their workers; task B\n"
                     "2 fibers are ready to go on, and wait for their turn on worker 0; task A\n"
                     "1 fiber is ready to go on, and waits for its turn on worker 1; task C\n"
                     "1 fiber is ready to go on, and waits for its turn on worker 1; task E\n"
                     "2 more groups, 2 fibers in all\n"))
      << text;
}

}  // namespace
