// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/fiber_list.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "hand_made.h"

namespace {
namespace fiber_list_test {

using namespace std::chrono_literals;

using weft::detail::inspect::Address;
using weft::detail::inspect::Fiber;
using weft::detail::inspect::ObjectState;
using weft::detail::inspect::Text;
using weft::tests::FakeNames;
using weft::tests::HandMade;
using weft::tests::kAcquire;
using weft::tests::kRunTask;
using weft::tests::kServe;
using weft::tests::textOf;

std::string backtraceOf(const HandMade& made, uint32_t index) {
  FakeNames names;
  return textOf([&](Text& out) { writeBacktrace(out, made.snapshot, index, names); });
}

std::string tableOf(const HandMade& made) {
  FakeNames names;
  return textOf([&](Text& out) { writeFibers(out, made.snapshot, names); });
}

TEST(FiberListTest, HasALineForEachFiberThatIsInUse) {
  HandMade made;
  made.scheduler(0x5000);
  made.worker(0, 4712);
  made.main();
  made.fiber(1, 'A', Fiber::State::Running);
  made.fiber(2, '\0', Fiber::State::Idle);
  made.fiber(3, 'B', Fiber::State::Ready);
  made.worker(12, 4713);
  made.block(made.main(), "Event", 0x7f00, 40us);
  made.blocked(1, 'C', "io::readAll", 7, 3200ms);
  made.blocked(2, 'D', "ConditionVariable", 0x7ffc123456789, 26h);
  made.blocked(3, 'E', "mutex", 0x10, 2min).holder = 1;
  made.worker(-1, 4711);
  made.main();
  EXPECT_EQ(tableOf(made),
            "WORKER              FIBER   STATE  SINCE     WAITS FOR                          TASK\n"
            "worker 0            1       runs   -         -                                  A\n"
            "worker 0            3       ready  -         -                                  B\n"
            "worker 12           0       waits  40 us     Event 0x7f00                       (own code)\n"
            "worker 12           1       waits  3.2 s     io::readAll, fd 7                  C\n"
            "worker 12           2       waits  26 h      ConditionVariable 0x7ffc123456789  D\n"
            "worker 12           3       waits  2 min     mutex 0x10                         E; "
            "held by task A on worker 0, fiber 1, which runs\n"
            "main thread 4711    0       runs   -         -                                  (own code)\n"
            "1 more fiber has no task, and is kept for the next one\n");
}

TEST(FiberListTest, TellsTheStatesOfObjectsInAColumnThatFitsThem) {
  HandMade made;
  made.scheduler(0x5000);
  made.worker(0, 4712);
  made.blocked(1, 'A', "WaitGroup", 0x7f3e0c0010a0, 1s).objectState = {.kind = ObjectState::Kind::Count,
                                                                       .count = 3};
  made.blocked(2, 'B', "mutex", 0x10, 1s);
  Fiber& sender = made.blocked(3, 'C', "Channel::send", 0x7f3e0c0010b0, 1s);
  sender.objectState = {.kind = ObjectState::Kind::Values, .count = 1'000'000, .capacity = 1'000'000};
  sender.numWaiters = 1;
  EXPECT_EQ(tableOf(made),
            "WORKER              FIBER   STATE  SINCE     WAITS FOR                           TASK\n"
            "worker 0            1       waits  1 s       WaitGroup 0x7f3e0c0010a0 (count 3)  A\n"
            "worker 0            2       waits  1 s       mutex 0x10                          B\n"
            "worker 0            3       waits  1 s       Channel::send 0x7f3e0c0010b0 (1,000,000 of "
            "1,000,000 values; no fiber waits to receive)  C\n");
}

TEST(FiberListTest, TellsDeadlocksFirst) {
  HandMade made;
  made.scheduler(0x5000);
  made.worker(0, 4712);
  made.blocked(1, 'A', "mutex", 0x10, 1s, {kServe}).holder = 1;
  made.blocked(2, 'B', "mutex", 0x20, 1s).holder = 0;
  EXPECT_EQ(tableOf(made),
            "deadlock: 2 fibers wait for locks of each other, and only a time limit or a stop "
            "could end that:\n"
            "  task A (worker 0, fiber 1) holds mutex 0x20 and waits for mutex 0x10, for 1 s\n"
            "      serve(Connection&)+0x2 (server+0x3412)\n"
            "  task B (worker 0, fiber 2) holds mutex 0x10 and waits for mutex 0x20, for 1 s\n"
            "WORKER              FIBER   STATE  SINCE     WAITS FOR                         TASK\n"
            "worker 0            1       waits  1 s       mutex 0x10                        A; "
            "held by task B on worker 0, fiber 2, which waits for mutex 0x20 itself\n"
            "worker 0            2       waits  1 s       mutex 0x20                        B; "
            "held by task A on worker 0, fiber 1, which waits for mutex 0x10 itself\n");
}

TEST(FiberListTest, CountsIdleFibers) {
  HandMade made;
  made.scheduler(0x5000);
  made.worker(0, 4712);
  made.fiber(1, '\0', Fiber::State::Idle);
  made.fiber(2, '\0', Fiber::State::Idle);
  made.fiber(0, '\0', Fiber::State::Idle).isMain = true;  // runs no tasks
  EXPECT_EQ(tableOf(made),
            "WORKER              FIBER   STATE  SINCE     WAITS FOR                         TASK\n"
            "2 more fibers have no task, and are kept for the next ones\n");
}

TEST(FiberListTest, ShowsAWholeBacktrace) {
  HandMade made;
  made.scheduler(0x5000);
  made.worker(0, 4712);
  std::vector<Address> frames = {kAcquire};
  frames.insert(frames.end(), 9, kServe);
  frames.push_back(kRunTask);
  made.blocked(3, 'A', "mutex", 0x1, 5s, frames).owner = 0x1;
  const std::string expected =
      "task A (worker 0, fiber 3) waits for mutex 0x1, for 5 s; "
      "held by a thread or task that weft does not know\n"
      "  #0  weft::Semaphore::acquire()+0x2 (server+0x9100)\n"
      "  #1  serve(Connection&)+0x2 (server+0x3412), 9 times\n"
      "  #10 weft_run_task+0x2 (server+0x9400)\n";
  EXPECT_EQ(backtraceOf(made, 0), expected);
  made.snapshot.fibers[0].hasMoreFrames = true;
  EXPECT_EQ(backtraceOf(made, 0), expected + "  ... and more: a debugger shows them\n");
}

TEST(FiberListTest, SaysWhyThereIsNoBacktrace) {
  HandMade made;
  made.scheduler(0x5000);
  made.worker(-1, 4711);
  made.main();
  made.fiber(1, 'A', Fiber::State::Ready);
  made.fiber(2, '\0', Fiber::State::Idle);
  made.blocked(3, 'B', "sleep", 0, 1s);
  EXPECT_EQ(backtraceOf(made, 0),
            "the code of main thread 4711 runs\n"
            "  no backtrace, because its stack changes\n");
  EXPECT_EQ(backtraceOf(made, 1),
            "task A (main thread 4711, fiber 1) may go on, and waits for its turn\n"
            "  no backtrace could be read\n");
  EXPECT_EQ(backtraceOf(made, 2), "main thread 4711, fiber 2, has no task\n");
  EXPECT_EQ(backtraceOf(made, 3),
            "task B (main thread 4711, fiber 3) sleeps, for 1 s\n"
            "  no backtrace could be read\n");
  made.snapshot.fibers[3].isSwitchedByUcontext = true;
  EXPECT_EQ(backtraceOf(made, 3),
            "task B (main thread 4711, fiber 3) sleeps, for 1 s\n"
            "  no backtrace: this build uses ucontext (WEFT_UCONTEXT)\n");
}

}  // namespace fiber_list_test
}  // namespace
