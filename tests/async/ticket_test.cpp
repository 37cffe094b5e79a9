// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/ticket.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "count_mallocs.h"
#include "waiting.h"

namespace weft {
namespace {

using tests::Crew;
using tests::kindOf;
using tests::scaled;

class TicketTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(TicketTest);

std::vector<int> countedUpTo(int count) {
  std::vector<int> numbers(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    numbers[static_cast<size_t>(i)] = i;
  }
  return numbers;
}

TEST(UnboundTicketTest, TheFirstTicketIsCalledAtOnce) {
  Ticket::Queue queue;
  queue.take().wait();
}

TEST(UnboundTicketTest, ATicketIsCalledOnceAllBeforeItAreDone) {
  Ticket::Queue queue;
  const Ticket first = queue.take(), second = queue.take(), third = queue.take();
  std::atomic<bool> isFirstDone{false};
  std::thread waiter([&] {
    third.wait();
    EXPECT_TRUE(isFirstDone);
  });
  second.done();
  isFirstDone = true;
  first.done();
  waiter.join();
  second.wait();
}

TEST(UnboundTicketTest, OnlyTheFirstDoneOfATicketCounts) {
  Ticket::Queue queue;
  const Ticket first = queue.take();
  const Ticket copy = first;
  const Ticket second = queue.take();
  first.done();
  copy.done();
  second.wait();
  const Ticket third = queue.take(), fourth = queue.take();
  third.done();
  third.done();
  second.done();
  second.done();
  fourth.wait();
}

TEST(UnboundTicketTest, ATicketIsDoneWhenItsLastCopyIsGone) {
  Ticket::Queue queue;
  auto first = std::make_unique<Ticket>(queue.take());
  auto copy = std::make_unique<Ticket>(*first);
  const Ticket second = queue.take();
  std::atomic<bool> mayBeCalled{false};
  std::thread waiter([&] {
    second.wait();
    EXPECT_TRUE(mayBeCalled);
  });
  first.reset();
  mayBeCalled = true;
  copy.reset();
  waiter.join();
}

TEST(UnboundTicketTest, AnAssignmentDropsTheTicketThatWasThere) {
  Ticket::Queue queue;
  Ticket ticket = queue.take();
  ticket = queue.take();
  ticket.wait();
  const Ticket last = queue.take();
  ticket = Ticket();
  last.wait();
  Ticket moved = std::move(ticket);
  moved = last;
  moved.wait();
}

TEST(UnboundTicketTest, AnAssignmentMovesWhatMayBeMovedFrom) {
  Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(0));
  Scheduler::Binding bound(scheduler);
  Ticket::Queue queue;
  Ticket first = queue.take(), assigned;
  const Ticket second = queue.take(), third = queue.take();
  int numCalled = 0;
  second.onCall([&] { ++numCalled; });
  third.onCall([&] { ++numCalled; });
  assigned = std::move(first);
  assigned = std::move(second);  // which is const: a copy
  yield();
  EXPECT_EQ(numCalled, 1) << "a copy of the first ticket is left";
  assigned = Ticket();
  yield();
  EXPECT_EQ(numCalled, 1) << "the second ticket was moved from";
  second.done();
  yield();
  EXPECT_EQ(numCalled, 2);
}

TEST(UnboundTicketTest, TicketsOutliveTheirQueue) {
  Ticket first, second;
  {
    Ticket::Queue queue;
    first = queue.take();
    second = queue.take();
  }
  first.done();
  second.wait();
  second.done();
}

TEST(UnboundTicketTest, TakesManyInARow) {
  Ticket::Queue queue;
  std::vector<Ticket> tickets;
  tickets.push_back(queue.take());
  queue.take(0, [](Ticket&&) { FAIL() << "none was asked for"; });
  queue.take(5, [&](Ticket&& ticket) { tickets.push_back(std::move(ticket)); });
  tickets.push_back(queue.take());
  for (const Ticket& ticket : tickets) {
    ticket.wait();
    ticket.done();
  }
}

TEST(UnboundTicketTest, TicketsMayBeDroppedOrDoneAsTheyAreTaken) {
  Ticket::Queue queue;
  queue.take(3, [](Ticket&&) {});
  queue.take(3, [](Ticket&& ticket) { ticket.done(); });
  queue.take(3, [](Ticket&& ticket) { Ticket mine = std::move(ticket); });
  queue.take().wait();
}

TEST(UnboundTicketTest, AFunctionThatThrowsLosesNoTicket) {
  Ticket::Queue queue;
  int numCalls = 0;
  EXPECT_THROW(queue.take(5,
                          [&](Ticket&&) {
                            if (++numCalls == 3) {
                              throw std::runtime_error("no more");
                            }
                          }),
               std::runtime_error);
  queue.take().wait();
}

// Each of a million is done before it is called, so that the call runs along the whole row at once.
TEST(UnboundTicketTest, ALongRowOfTicketsThatAreDoneIsNoRecursion) {
  Ticket::Queue queue;
  Ticket first = queue.take();
  std::thread small([&] {
    queue.take(static_cast<size_t>(scaled(1'000'000, 100'000)), [](Ticket&& ticket) { ticket.done(); });
  });
  small.join();
  const Ticket last = queue.take();
  first.done();
  last.wait();
}

TEST_P(TicketTest, TasksGoOneAfterTheOtherInTheOrderOfTake) {
  const int numTasks = scaled(2'000, 300);
  Ticket::Queue queue;
  std::vector<int> order;
  for (int i = 0; i < numTasks; ++i) {
    schedule([&order, i, ticket = queue.take()] {
      ticket.wait();
      order.push_back(i);
      ticket.done();
    });
  }
  queue.take().wait();
  EXPECT_EQ(order, countedUpTo(numTasks));
}

TEST_P(TicketTest, WaitersOfEveryKindGoInOrder) {
  constexpr int kMembers = 30;
  Ticket::Queue queue;
  std::vector<Ticket> tickets;
  queue.take(kMembers, [&](Ticket&& ticket) { tickets.push_back(std::move(ticket)); });
  std::vector<int> order;
  Crew crew(scheduler());
  for (int i = kMembers - 1; i >= 0; --i) {
    crew.start(kindOf(i), [&order, i, ticket = std::move(tickets[static_cast<size_t>(i)])] {
      ticket.wait();
      order.push_back(i);
      ticket.done();
    });
  }
  tickets.clear();
  crew.join();
  EXPECT_EQ(order, countedUpTo(kMembers));
}

TEST_P(TicketTest, SeveralMayWaitForOneTicket) {
  Ticket::Queue queue;
  const Ticket first = queue.take(), second = queue.take();
  std::atomic<bool> isDone{false};
  Crew crew(scheduler());
  for (int i = 0; i < 30; ++i) {
    crew.start(kindOf(i), [&isDone, second] {
      second.wait();
      EXPECT_TRUE(isDone);
    });
  }
  isDone = true;
  first.done();
}

TEST_P(TicketTest, AnyThreadMayTakeTickets) {
  constexpr int kMembers = 12;
  const int perMember = scaled(500, 100);
  Ticket::Queue queue;
  std::vector<int> owners;
  {
    Crew crew(scheduler());
    for (int i = 0; i < kMembers; ++i) {
      crew.start(kindOf(i), [&, i] {
        for (int j = 0; j < perMember; ++j) {
          const Ticket ticket = queue.take();
          ticket.wait();
          owners.push_back(i);
        }
      });
    }
  }
  EXPECT_EQ(owners.size(), static_cast<size_t>(kMembers * perMember));
}

TEST_P(TicketTest, OnCallRunsItsFunctionOnceTheTicketIsCalled) {
  Ticket::Queue queue;
  const Ticket first = queue.take(), second = queue.take();
  std::atomic<bool> isDone{false};
  const Event ran;
  second.onCall([&isDone, ran, owned = std::make_unique<int>(7)] {
    EXPECT_TRUE(isDone);
    EXPECT_EQ(*owned, 7);
    ran.signal();
  });
  isDone = true;
  first.done();
  ran.wait();
}

TEST_P(TicketTest, OnCallOfACalledTicketSchedulesAtOnce) {
  Ticket::Queue queue;
  const Ticket ticket = queue.take();
  const Event ran;
  const Ticket::OnCall function = [=] { ran.signal(); };
  ticket.onCall(function);
  ran.wait();
}

TEST_P(TicketTest, SeveralFunctionsOfOneTicketRunInTheOrderInWhichTheyWereGiven) {
  Ticket::Queue queue;
  const Ticket first = queue.take(), second = queue.take();
  std::vector<int> order;
  const Event ran;
  for (int i = 0; i < 20; ++i) {
    second.onCall([&order, i] { order.push_back(i); });
  }
  second.onCall([=] { ran.signal(); });
  first.done();
  ran.wait();
  EXPECT_EQ(order, countedUpTo(20));
}

TEST_P(TicketTest, AFunctionRunsThoughItsTicketIsDropped) {
  Ticket::Queue queue;
  const Ticket first = queue.take();
  const Event ran;
  queue.take().onCall([=] { ran.signal(); });
  EXPECT_FALSE(ran.isSignalled());
  first.done();
  ran.wait();
}

// Nobody is ever done with the first, but by dropping it.
TEST_P(TicketTest, FunctionsMayHoldTheirOwnTickets) {
  Ticket::Queue queue;
  const WaitGroup ran(100);
  {
    const Ticket first = queue.take();
    queue.take(100, [&](Ticket&& ticket) { ticket.onCall([=] { ran.done(); }); });
  }
  ran.wait();
}

class TicketLaneTest : public tests::WithScheduler {
 protected:
  // A lane of continuations: each is called by the one before.
  static void runLane(int length) {
    Ticket::Queue queue;
    int numRun = 0;
    const Ticket first = queue.take();
    for (int i = 0; i < length; ++i) {
      const Ticket ticket = queue.take();
      ticket.onCall([&numRun, ticket] {
        ++numRun;
        ticket.done();
      });
    }
    const Ticket last = queue.take();
    first.done();
    last.wait();
    EXPECT_EQ(numRun, length);
  }

  uint64_t numFibers() {
    uint64_t count = 0;
    for (const auto& worker : scheduler().stats().workers) {
      count += worker.numFibers;
    }
    return count;
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, TicketLaneTest, ::testing::Values(0, 1, 2));

TEST_P(TicketLaneTest, AMillionContinuationsNeitherRecurseNorNeedManyFibers) {
  runLane(scaled(1'000'000, 50'000));
  EXPECT_LE(numFibers(), 10u);
}

TEST_P(TicketLaneTest, CallsNoMallocInTheSteadyState) {
  if (!tests::kCountsMallocs) {
    GTEST_SKIP() << "a sanitizer's allocator is not counted";
  }
  constexpr int kLength = 20'000;
  const auto runTasks = [] {
    Ticket::Queue queue;
    for (int i = 0; i < kLength; ++i) {
      schedule([ticket = queue.take()] {
        ticket.wait();
        ticket.done();
      });
    }
    queue.take().wait();
  };
  for (int i = 0; i < 3; ++i) {
    runLane(kLength);
    runTasks();
  }
  const uint64_t before = tests::numMallocs();
  runLane(kLength);
  runTasks();
  // The scheduler's injector may grow by some blocks of 64 tasks, where a worker falls behind; tickets and
  // calls need nothing.
  EXPECT_LT(tests::numMallocs() - before, uint64_t{kLength} / 32);
}

TEST_P(TicketLaneTest, AMillionTasksThatWaitForTheirTicketsNeedFewFibers) {
  const int numTasks = scaled(1'000'000, 20'000);
  WaitGroup done(1);
  int numRun = 0;
  schedule([&, done] {
    Ticket::Queue queue;
    for (int i = 0; i < numTasks; ++i) {
      schedule([&numRun, ticket = queue.take()] {
        ticket.wait();
        ++numRun;
        ticket.done();
      });
    }
    queue.take().wait();
    done.done();
  });
  done.wait();
  EXPECT_EQ(numRun, numTasks);
  if (numWorkers() < 2) {
    // At most what a worker opens while it changes to the oldest end of its tasks.
    EXPECT_LE(numFibers(), 5'000u);
  }
}

// A ticket that is destroyed, with all the others, as soon as a wait for it returns.
struct TicketGate {
  void wait() { second.wait(); }
  void wakeOne() { first.done(); }
  Ticket::Queue queue;
  Ticket first = queue.take();
  Ticket second = queue.take();
};

TEST_P(TicketTest, MayBeDestroyedAsSoonAsWaitReturns) {
  tests::destroyAtOnce<TicketGate>(scheduler(), numWorkers());
}

std::string shown;
const std::string& decode(const std::string& frame) { return frame; }
void show(const std::string& picture) { shown += picture; }

TEST_P(TicketTest, TheExampleOfTheHeaderShowsInOrder) {
  const std::vector<std::string> frames = {"a", "b", "c", "d"};
  shown.clear();

  weft::Ticket::Queue queue;
  for (const auto& frame : frames) {
    weft::schedule([&frame, ticket = queue.take()] {
      auto picture = decode(frame);  // at the same time as others
      ticket.wait();
      show(picture);  // one at a time, in the order of take()
      ticket.done();
    });
  }
  queue.take().wait();

  EXPECT_EQ(shown, "abcd");
}

class TicketDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(TicketDeathTest, NoTicket) {
  EXPECT_DEATH(Ticket().wait(), "Ticket::wait\\(\\) was called on no ticket.*Take one from a Ticket::Queue");
  EXPECT_DEATH(Ticket().done(), "Ticket::done\\(\\) was called on no ticket");
  EXPECT_DEATH(Ticket().onCall([] {}), "Ticket::onCall\\(\\) was called on no ticket");
}

TEST_F(TicketDeathTest, AFunctionWithoutASchedulerToRunIt) {
  EXPECT_DEATH(
      {
        Ticket::Queue queue;
        queue.take().onCall([] {});
      },
      "onCall\\(\\), was called on a thread to which no scheduler is bound");
}

}  // namespace
}  // namespace weft
