// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/folded_stacks.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "../inspect/hand_made.h"

namespace folded_stacks_test {

using weft::detail::inspect::Address;
using weft::detail::inspect::Fiber;
using weft::detail::tools::FoldedStacks;
using namespace weft::tests;
using namespace std::chrono_literals;
using State = FoldedStacks::State;

struct FoldedStacksTest : testing::Test {
  FoldedStacksTest() {
    program.scheduler(0x10);
    program.worker(0, 5000);
  }

  // A fiber with these calls, the innermost first.
  Fiber fiber(Address task, const std::vector<Address>& frames, const char* what = nullptr) {
    Fiber fiber;
    fiber.worker = 0;
    fiber.task = task;
    fiber.firstFrame = static_cast<uint32_t>(program.snapshot.frames.size());
    fiber.numFrames = static_cast<uint32_t>(frames.size());
    program.snapshot.frames.insert(program.snapshot.frames.end(), frames.begin(), frames.end());
    if (what != nullptr) {
      fiber.what = static_cast<uint32_t>(program.snapshot.names.size());
      program.snapshot.names.emplace_back(what);
    }
    return fiber;
  }
  void add(State state, const Fiber& each, std::chrono::duration<double> time) {
    stacks.add(state, program.snapshot, each, time);
  }

  HandMade program;
  FakeNames names;
  FoldedStacks stacks{names};
};

TEST_F(FoldedStacksTest, BeginWithTheStateAndTheTask) {
  add(State::Computes, fiber('A', {kServe, kLambda, kRunTask, kFiberBase}), 1ms);
  EXPECT_EQ(stacks.text(), "computes;A;main::{lambda()#2}::operator();serve(Connection&) 1000\n");
}

// A library that is loaded in the place of another one has other names at the same addresses.
TEST_F(FoldedStacksTest, KeepTheNamesThatAddressesHad) {
  add(State::Computes, fiber('A', {kServe}), 1ms);
  stacks.setNames(nullptr);
  FakeNames others;
  others.isStripped = true;
  stacks.setNames(&others);
  add(State::Computes, fiber('A', {kServe}), 2ms);
  EXPECT_EQ(stacks.text(), "computes;A;?? 2000\ncomputes;A;serve(Connection&) 1000\n");
}

TEST_F(FoldedStacksTest, TellOnceThatAFunctionCallsItself) {
  add(State::Computes, fiber('A', {kMain, kServe, kServe, kServe, kMain}), 1us);
  EXPECT_EQ(stacks.text(), "computes;A;main;serve(Connection&);main 1\n");
}

TEST_F(FoldedStacksTest, EndWithWhatIsAwaited) {
  add(State::Waits, fiber('A', {kSuspend, kBlock, kAcquire, kServe, kRunTask}, "Semaphore"), 2s);
  add(State::Waits, fiber('A', {kServe}, "Event"), 1us);
  add(State::Waits, fiber('A', {}, "Event"), 1us);
  add(State::Ready, fiber('A', {kAcquire, kServe}, "Event"), 1us);
  add(State::Ready, fiber('A', {kAcquire, kServe}), 1us);
  EXPECT_EQ(stacks.text(),
            "ready;A;serve(Connection&);Event 1\nready;A;serve(Connection&);weft::Semaphore::acquire() 1\n"
            "waits;A;Event 1\nwaits;A;serve(Connection&);Event 1\n"
            "waits;A;serve(Connection&);Semaphore 2000000\n");
}

TEST_F(FoldedStacksTest, AddUpWhatIsAlike) {
  add(State::Computes, fiber('A', {kServe}), 1us);
  add(State::Computes, fiber('A', {kServe}), 2us);
  add(State::Computes, fiber('B', {kServe}), 4us);
  add(State::Waits, fiber('A', {kServe, kAcquire}), 8us);
  EXPECT_EQ(stacks.text(),
            "computes;A;serve(Connection&) 3\ncomputes;B;serve(Connection&) 4\n"
            "waits;A;serve(Connection&) 8\n");
  EXPECT_DOUBLE_EQ(stacks.total(State::Computes).count(), 7e-6);
  EXPECT_DOUBLE_EQ(stacks.total(State::Waits).count(), 8e-6);
  EXPECT_EQ(stacks.total(State::InCall).count(), 0);
}

TEST_F(FoldedStacksTest, TellThatTheOutermostCallsAreMissing) {
  Fiber cut = fiber('A', {kServe});
  cut.hasMoreFrames = true;
  add(State::InCall, cut, 1us);
  EXPECT_EQ(stacks.text(), "blocks its thread;A;...;serve(Connection&) 1\n");
}

TEST_F(FoldedStacksTest, NameTheKindOfThreadWhereThereIsNoTask) {
  program.snapshot.processId = 4711;
  for (const int thread : {4711, 4712, 4713}) {
    program.worker(-1, thread);
    Fiber own = fiber(0, {kMain});
    own.worker = static_cast<uint32_t>(program.snapshot.workers.size() - 1);
    add(State::OwnCall, own, 1us);
  }
  add(State::Waits, fiber(0, {}), 1us);
  EXPECT_EQ(
      stacks.text(),
      "outside of tasks, in a call;bound threads;main 2\noutside of tasks, in a call;main thread;main 1\n"
      "waits;worker 1\n");
}

}  // namespace folded_stacks_test
