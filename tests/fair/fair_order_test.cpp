// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/fair/task_scheduler.h>

#include "spin_until.h"
#include "with_fair_scheduler.h"
#include "with_scheduler.h"

// Which step comes next: after a step that posts its own task, when a deadline has come, and after a long
// step.
namespace weft::inline v0_1::fair {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using tests::awaitOnThread;

using FairOrderTest = tests::WithFairThreads;
WEFT_INSTANTIATE_WITH_FAIR_THREADS(FairOrderTest);

// The step of a task posts it, has another task run, in one of several ways, and waits until that has run. If
// its own next step came first, two of its steps would be in.
TEST_P(FairOrderTest, AStepThatHasPostedItsTaskKeepsItUntilItReturns) {
  TaskScheduler scheduler("keeps", numThreads(), config());
  using Way = std::function<void(Task & self, Task & other)>;
  const Way ways[] = {
      [&](Task& self, Task& other) {
        scheduler.post(&self);
        scheduler.post(&other);
      },
      [&](Task& self, Task& other) {
        scheduler.postWait(&other);
        scheduler.post(&self);
        scheduler.wakeup(&other);
      },
      [&](Task& self, Task& other) {
        scheduler.postWait(&other);
        scheduler.postDelay(&self, 0s);
        scheduler.signal(&other);
      },
      [&](Task& self, Task& other) { scheduler.postAll(std::array{&self, &other}); },
  };
  for (const Way& way : ways) {
    std::atomic<int> numInside{0}, numOthers{0};
    int numSteps = 0;
    std::vector<std::unique_ptr<Task>> others;
    Task task([&](Task* self) {
      EXPECT_EQ(numInside.fetch_add(1), 0) << "two steps of one task are in";
      const int step = numSteps++;
      if (step < 20) {
        others.push_back(std::make_unique<Task>([&] { ++numOthers; }));
        way(*self, *others.back());
        // A lone thread runs the other one afterwards.
        awaitOnThread([&] { return numThreads() == 1 || numOthers > step || numInside > 1; });
      }
      numInside.fetch_sub(1);
    });
    scheduler.post(&task);
    scheduler.waitEmpty();
    EXPECT_EQ(numSteps, 21);
    EXPECT_EQ(numOthers, 20);
  }
}

TEST_P(FairOrderTest, AStepThatHasPostedItsTaskElsewhereKeepsItUntilItReturns) {
  TaskScheduler here("here", numThreads(), config()), there("there", 1, config());
  std::atomic<int> numInside{0}, numSteps{0};
  Task task([&](Task* self) {
    EXPECT_EQ(numInside.fetch_add(1), 0) << "two steps of one task are in";
    if (numSteps < 20) {
      TaskScheduler& other = TaskScheduler::current() == &here ? there : here;
      other.post(self);
      std::atomic<bool> hasRun{false};
      other.postOneShot([&] { hasRun = true; });
      awaitOnThread([&] { return hasRun || numInside > 1; });
    }
    numInside.fetch_sub(1);
    ++numSteps;
  });
  here.post(&task);
  awaitOnThread([&] { return numSteps == 21; });
  here.waitEmpty();
  there.waitEmpty();
}

// What the step of a lone thread posts, in which order, and in which order it runs.
TEST(FairOwnPostTest, ComesAfterAllThatIsPostedUntilTheStepReturns) {
  TaskScheduler scheduler("own");
  std::string order;
  Task task, before([&] { order += 'b'; }), after([&] { order += 'a'; }), outside([&] { order += 'o'; }),
      woken([&] { order += 'w'; });
  scheduler.postWait(&woken);
  task.setCallback([&, step = 0](Task* self) mutable {
    order += 's';
    if (++step > 1) {
      return;
    }
    scheduler.post(&before);
    scheduler.post(self);
    scheduler.post(&after);
    std::thread([&] { scheduler.post(&outside); }).join();
    scheduler.wakeup(&woken);
  });
  scheduler.post(&task);
  scheduler.waitEmpty();
  EXPECT_EQ(order, "sbaows");
}

TEST(FairOwnPostTest, AmongOthersOfPostAllComesLast) {
  TaskScheduler scheduler("own");
  std::string order;
  Task first([&] { order += '1'; }), second([&] { order += '2'; }), task;
  task.setCallback([&, step = 0](Task* self) mutable {
    order += 's';
    if (++step == 1) {
      scheduler.postAll(std::array{&first, self, &second});
    }
  });
  scheduler.post(&task);
  scheduler.waitEmpty();
  EXPECT_EQ(order, "s12s");
}

// A task whose first step posts it to `there`, and goes on until mayEnd.
struct MovesOver {
  MovesOver() { here.post(&task); }

  std::atomic<int> numSteps{0};
  std::atomic<bool> mayEnd{false};
  TaskScheduler here{"here"};
  std::unique_ptr<TaskScheduler> there = std::make_unique<TaskScheduler>("there");
  Task task{[this](Task* self) {
    if (numSteps == 0) {
      there->post(self);
      ++numSteps;
      awaitOnThread([this] { return mayEnd.load(); });
    } else {
      ++numSteps;
    }
  }};
};

TEST(FairOwnPostTest, KeepsTheOtherSchedulerFromBeingEmpty) {
  MovesOver moves;
  awaitOnThread([&] { return moves.numSteps == 1; });
  EXPECT_FALSE(moves.there->isEmpty());
  EXPECT_FALSE(moves.there->waitEmpty(1ms));
  moves.mayEnd = true;
  moves.there->waitEmpty();
  EXPECT_EQ(moves.numSteps, 2);
  moves.here.waitEmpty();
}

TEST(FairOwnPostTest, IsTakenBackFromTheOtherSchedulerOnceTheStepHasReturned) {
  MovesOver moves;
  awaitOnThread([&] { return moves.numSteps == 1; });
  moves.there->stop();
  std::atomic<bool> isTakenBack{false};
  std::thread taker([&] {
    EXPECT_EQ(moves.there->takeBack(), std::vector<Task*>{&moves.task});
    isTakenBack = true;
  });
  EXPECT_FALSE(isTakenBack);
  moves.mayEnd = true;
  taker.join();
  EXPECT_EQ(moves.numSteps, 1);
  moves.here.waitEmpty();
}

TEST(FairOwnPostTest, KeepsTheOtherSchedulerFromEnding) {
  for (int i = 0; i < 100; ++i) {
    MovesOver moves;
    awaitOnThread([&] { return moves.numSteps == 1; });
    std::thread destroyer([&] { moves.there.reset(); });
    moves.mayEnd = true;
    destroyer.join();
    // Whether or not it has run there, the task belongs to the caller again.
    moves.here.post(&moves.task);
    moves.here.waitEmpty();
    EXPECT_GE(moves.numSteps, 2);
  }
}

// Runs a step that posts its own task to another scheduler and calls wrong(other).
template <class F>
void postAndCall(const F& wrong) {
  auto other = std::make_unique<TaskScheduler>("other");
  TaskScheduler scheduler("wrong");
  Task task([&](Task* self) {
    other->post(self);
    wrong(other);
  });
  scheduler.post(&task);
  scheduler.waitEmpty();
}

using FairOwnPostDeathTest = tests::DeathTest;

TEST_F(FairOwnPostDeathTest, TheStepWaitsForTheOtherScheduler) {
  using Other = std::unique_ptr<TaskScheduler>;
  constexpr const char* kMessage = "was called in a step that has posted its own task to \"other\"";
  EXPECT_DEATH(postAndCall([](Other& other) { other->waitEmpty(); }), kMessage);
  EXPECT_DEATH(postAndCall([](Other& other) { other.reset(); }), kMessage);
}

// Steps of 40 tasks are queued; three more have deadlines, the latest of which was posted first. The
// deadlines come while all threads are in a step, before anybody has looked at them. Then one of the threads
// goes on, so that the order is certain.
TEST_P(FairOrderTest, ADeadlineThatComesBeforeAnybodyLooksIsDue) {
  TaskScheduler scheduler("due", numThreads(), config());
  std::atomic<int> numBusy{0};
  std::atomic<bool> mayEnd{false}, mayAllEnd{false};
  for (int i = 0; i < numThreads(); ++i) {
    scheduler.postOneShot([&] {
      const bool isFirst = numBusy++ == 0;
      awaitOnThread([&] { return isFirst ? mayEnd.load() : mayAllEnd.load(); });
    });
  }
  awaitOnThread([&] { return numBusy == numThreads(); });
  int numStarted = 0;
  const auto start = [&] {
    mayAllEnd = numStarted == 42;
    return numStarted++;
  };
  for (int i = 0; i < 40; ++i) {
    scheduler.postOneShot(start);
  }
  int laterAt = -1, soonerAt = -1, wokenAt = -1;
  Task later([&] { laterAt = start(); }), sooner([&] { soonerAt = start(); }),
      woken([&] { wokenAt = start(); });
  const auto soon = Clock::now() + 1ms;
  scheduler.postDeadline(&later, soon + 1ms);
  scheduler.postDeadline(&sooner, soon);
  scheduler.wakeup(&woken);
  scheduler.postDeadline(&woken, soon);
  awaitOnThread([&] { return Clock::now() >= soon + 1ms; });
  mayEnd = true;
  scheduler.waitEmpty();
  // One of the others at most, before the first look.
  EXPECT_LT(soonerAt, laterAt);
  EXPECT_LE(std::max(laterAt, wokenAt), 3) << "a wakeup does not make it later";
}

// A thousand tasks are due at once, on a lone thread, and forty wait that are not: each has its turn after 16
// of the others.
TEST(FairDueTest, DueTasksLetOthersHaveTheirTurn) {
  TaskScheduler scheduler("turns");
  std::vector<std::unique_ptr<Task>> due;
  int numDue = 0, numDueInARow = 0, mostInARow = 0, numOrdinary = 0;
  bool areOrdinaryQueued = false;
  const auto soon = Clock::now() + 5ms;
  for (int i = 0; i < 1'000; ++i) {
    due.push_back(std::make_unique<Task>([&] {
      ++numDue;
      mostInARow = std::max(mostInARow, areOrdinaryQueued && numOrdinary < 40 ? ++numDueInARow : 0);
    }));
    scheduler.postDeadline(due.back().get(), soon);
  }
  scheduler.postOneShot([&] {
    for (int i = 0; i < 40; ++i) {
      scheduler.postOneShot([&] {
        ++numOrdinary;
        numDueInARow = 0;
      });
    }
    areOrdinaryQueued = true;
    awaitOnThread([&] { return Clock::now() >= soon; });
  });
  scheduler.waitEmpty();
  EXPECT_EQ(numDue, 1'000);
  EXPECT_EQ(numOrdinary, 40);
  EXPECT_LE(mostInARow, 16);
}

TEST(FairDueTest, TasksThatAreDueEachTimeLetOthersHaveTheirTurn) {
  TaskScheduler scheduler("turns");
  bool hasRun = false;
  int numSteps = 0;
  Task ordinary([&] { hasRun = true; });
  const auto again = [&](Task* self) {
    if (++numSteps == 2) {
      scheduler.post(&ordinary);
    }
    if (!hasRun && numSteps < 1'000) {
      scheduler.postDelay(self, 0s);
    }
  };
  Task first(again), second(again);
  scheduler.post(&first);
  scheduler.post(&second);
  scheduler.waitEmpty();
  EXPECT_LE(numSteps, 40);
}

// A lone thread runs short steps, then one that is so long that a deadline comes meanwhile: the next step is
// that of the deadline, wherever in the count of short steps the long one was, and whether the deadline was
// there before them or not.
TEST(FairDueTest, ALongStepAfterShortOnesIsFollowedByALook) {
  TaskScheduler scheduler("looks");
  for (int i = 0; i < 100; ++i) {
    const int numShort = 100 + i % 50;
    const bool isThereBefore = i < 50;
    Clock::time_point at = Clock::now() + 1ms;
    std::atomic<bool> hasFired{false};
    Task timer([&] { hasFired = true; });
    int numSteps = 0, numAfter = 0;
    Task load([&](Task* self) {
      if (++numSteps == numShort) {
        if (!isThereBefore) {
          at = Clock::now() + 10us;
          std::thread([&] { scheduler.postDeadline(&timer, at); }).join();
        }
        awaitOnThread([&] { return Clock::now() >= at; });
      }
      numAfter += numSteps > numShort ? 1 : 0;
      if (numSteps < numShort || !hasFired) {
        scheduler.post(self);
      }
    });
    if (isThereBefore) {
      scheduler.postDeadline(&timer, at);
    }
    scheduler.post(&load);
    scheduler.waitEmpty();
    ASSERT_LE(numAfter, 1) << "steps before the one that was due, after " << numShort << " short ones";
  }
}

// Keeps a thread of the scheduler in a step until isOver().
class LongStep {
 public:
  LongStep(TaskScheduler& scheduler, std::function<bool()> isOver)
      : task_([this, isOver = std::move(isOver)] {
          hasBegun_ = true;
          awaitOnThread(isOver);
        }) {
    scheduler.post(&task_);
    awaitOnThread([this] { return hasBegun_.load(); });
  }

 private:
  std::atomic<bool> hasBegun_{false};
  Task task_;
};

// Returns: when it was over.
Clock::time_point computeFor(std::chrono::microseconds time) {
  const auto end = Clock::now() + time;
  tests::spinUntil(end);
  return end;
}

// One of two threads is in a long step. The other runs steps of 5 us, each of which posts its own task to the
// front queue. It looks after each step, but takes the front queue over only each 20 us.
TEST(FairDispatchTest, LongStepsShareAnIntake) {
  constexpr uint64_t kTasks = 1'000, kRounds = 10;
  TaskScheduler scheduler("intakes", 2);
  std::atomic<uint64_t> numLeft{kTasks};
  LongStep other(scheduler, [&] { return numLeft == 0; });
  const auto begin = Clock::now();
  std::vector<Task> all(kTasks);
  for (Task& each : all) {
    each.setCallback([&, left = kRounds](Task* self) mutable {
      computeFor(5us);
      if (--left > 0) {
        scheduler.post(self);
      } else {
        --numLeft;
      }
    });
    scheduler.post(&each);
  }
  scheduler.waitEmpty();
  const auto numPauses = static_cast<uint64_t>((Clock::now() - begin) / 20us);
  uint64_t numDispatches = 0;
  for (const auto& thread : scheduler.stats()) {
    numDispatches += thread.numDispatches;
  }
  // 64 tasks are handed to the ready queue at once.
  EXPECT_LE(numDispatches, numPauses + kTasks * kRounds / 16);
}

// Each step posts a task whose deadline has come, unless that is queued: the step of that task comes next.
// Also where only one task is queued beside it, which no thread has to queue for others.
TEST(FairDispatchTest, ADeadlineOnItsWayEndsThePause) {
  for (const int numTasks : {10, 1}) {
    constexpr int kRounds = 100;
    TaskScheduler scheduler("on its way", 2);
    std::atomic<int> numLeft{numTasks};
    LongStep other(scheduler, [&] { return numLeft == 0; });
    // The steps run one after another, since they have one thread.
    bool isQueued = false;
    int numBefore = 0;
    Task timer([&] { isQueued = false; });
    std::vector<Task> all(static_cast<size_t>(numTasks));
    for (Task& each : all) {
      each.setCallback([&, left = kRounds](Task* self) mutable {
        numBefore += isQueued ? 1 : 0;
        const auto end = computeFor(5us);
        const bool isLast = --left == 0;
        if (!isLast) {
          scheduler.post(self);
        }
        if (!isQueued && numLeft == numTasks) {
          isQueued = true;
          scheduler.postDeadline(&timer, end);
        }
        numLeft -= isLast ? 1 : 0;
      });
    }
    for (Task& each : all) {
      scheduler.post(&each);
    }
    scheduler.waitEmpty();
    EXPECT_EQ(numBefore, 0) << "steps before the one that was due, of " << numTasks << " tasks";
  }
}

}  // namespace
}  // namespace weft::inline v0_1::fair
