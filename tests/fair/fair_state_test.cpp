// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/fair/state.h>

#include <gtest/gtest.h>

// The table at the top of fair/state.h, cell by cell: a state is told apart by what the events do to it.
namespace weft::inline v0_1::detail {
namespace {

using State = FairState<>;

State& toPending(State& state) { return state; }
State& toWaiting(State& state) {
  EXPECT_TRUE(state.tryWait());
  return state;
}
State& toReady(State& state) {
  EXPECT_FALSE(state.wakeup());
  return state;
}
State& toDue(State& state) {
  EXPECT_TRUE(toWaiting(state).expire());
  return state;
}
State& toSignaled(State& state) {
  EXPECT_FALSE(state.signal());
  return state;
}

void expectPending(State& state) {
  EXPECT_FALSE(state.isSignaled());
  EXPECT_FALSE(state.expire());
  EXPECT_TRUE(state.tryWait());
}
void expectWaiting(State& state) {
  EXPECT_FALSE(state.isSignaled());
  EXPECT_FALSE(state.tryWait());
  EXPECT_TRUE(state.expire());
}
void expectReady(State& state) {
  EXPECT_FALSE(state.isSignaled());
  EXPECT_FALSE(state.tryWait());
  EXPECT_FALSE(state.expire());
  EXPECT_FALSE(state.start());
  expectPending(state);
}
void expectDue(State& state) {
  EXPECT_FALSE(state.isSignaled());
  EXPECT_FALSE(state.tryWait());
  EXPECT_FALSE(state.expire());
  EXPECT_TRUE(state.start());
  expectPending(state);
}
// Signaled, and nothing else.
void expectSignaled(State& state) {
  EXPECT_TRUE(state.isSignaled());
  EXPECT_FALSE(state.tryWait());
  EXPECT_FALSE(state.expire());
  EXPECT_TRUE(state.receiveSignal());
  expectPending(state);
}

TEST(FairStateTest, Wakeup) {
  State pending, waiting, ready, due, signaled;
  EXPECT_FALSE(toPending(pending).wakeup());
  expectReady(pending);
  EXPECT_TRUE(toWaiting(waiting).wakeup()) << "a wakeup of a waiting task claims it";
  EXPECT_FALSE(waiting.wakeup()) << "only one claims it";
  EXPECT_FALSE(waiting.signal());
  EXPECT_TRUE(waiting.receiveSignal());
  expectReady(waiting);
  EXPECT_FALSE(toReady(ready).wakeup());
  expectReady(ready);
  EXPECT_FALSE(toDue(due).wakeup());
  expectDue(due);
  EXPECT_FALSE(toSignaled(signaled).wakeup());
  EXPECT_FALSE(signaled.start());
  expectSignaled(signaled);
}

TEST(FairStateTest, Signal) {
  State pending, waiting, ready, due, signaled;
  EXPECT_FALSE(toPending(pending).signal());
  expectSignaled(pending);
  EXPECT_TRUE(toWaiting(waiting).signal()) << "a signal to a waiting task claims it";
  EXPECT_FALSE(waiting.signal()) << "only one claims it";
  EXPECT_FALSE(waiting.wakeup());
  EXPECT_FALSE(waiting.expire());
  EXPECT_FALSE(waiting.start());
  expectSignaled(waiting);
  EXPECT_FALSE(toReady(ready).signal());
  EXPECT_FALSE(ready.start());
  expectSignaled(ready);
  EXPECT_FALSE(toDue(due).signal());
  EXPECT_TRUE(due.start()) << "it was the deadline that made it run";
  expectSignaled(due);
  EXPECT_FALSE(toSignaled(signaled).signal());
  expectSignaled(signaled);
}

TEST(FairStateTest, LookAtATaskWithoutDeadlineOrWithOneAhead) {
  State pending, ready, due, signaled;
  EXPECT_TRUE(toPending(pending).tryWait());
  expectWaiting(pending);
  EXPECT_FALSE(toReady(ready).tryWait()) << "a wakeup takes effect at the next dispatch";
  expectReady(ready);
  EXPECT_FALSE(toDue(due).tryWait());
  expectDue(due);
  EXPECT_FALSE(toSignaled(signaled).tryWait()) << "a task with a signal runs at once";
  expectSignaled(signaled);
}

TEST(FairStateTest, Expire) {
  State waiting, woken, signaled;
  EXPECT_TRUE(toWaiting(waiting).expire());
  expectDue(waiting);
  EXPECT_TRUE(toWaiting(woken).wakeup());
  EXPECT_FALSE(woken.expire()) << "the waker's push will come";
  expectReady(woken);
  EXPECT_TRUE(toWaiting(signaled).signal());
  EXPECT_FALSE(signaled.expire());
  EXPECT_FALSE(signaled.start());
  expectSignaled(signaled);
}

TEST(FairStateTest, Start) {
  State pending, waiting, ready, due, signaled;
  EXPECT_FALSE(toPending(pending).start());
  expectPending(pending);
  EXPECT_TRUE(toWaiting(waiting).wakeup());
  EXPECT_FALSE(waiting.start());
  expectPending(waiting);
  EXPECT_FALSE(toReady(ready).start());
  expectPending(ready);
  EXPECT_TRUE(toDue(due).start());
  expectPending(due);
  EXPECT_FALSE(toSignaled(signaled).start()) << "it stays until it is received";
  expectSignaled(signaled);
}

TEST(FairStateTest, ReceiveSignal) {
  State pending, signaled, both;
  EXPECT_FALSE(toPending(pending).receiveSignal());
  expectPending(pending);
  EXPECT_TRUE(toSignaled(signaled).receiveSignal());
  EXPECT_FALSE(signaled.receiveSignal()) << "signals do not count";
  expectPending(signaled);
  toSignaled(both).wakeup();
  EXPECT_TRUE(both.receiveSignal());
  expectReady(both);
}

TEST(FairStateTest, ForgetDeadline) {
  State due, both;
  toDue(due).forgetDeadline();
  expectPending(due);
  toDue(both);
  EXPECT_FALSE(both.wakeup());
  both.forgetDeadline();
  expectReady(both);
}

TEST(FairStateTest, CancelWait) {
  State waiting, claimed;
  EXPECT_TRUE(toWaiting(waiting).cancelWait());
  expectPending(waiting);
  EXPECT_TRUE(toWaiting(claimed).wakeup());
  EXPECT_FALSE(claimed.cancelWait()) << "the waker's push will come";
}

}  // namespace
}  // namespace weft::inline v0_1::detail
